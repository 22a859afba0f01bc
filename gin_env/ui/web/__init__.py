"""The table and the replay as pages for a browser: `server` serves them, `page` says what they show."""
