"""Everything that learns, tunes, generates data or evaluates; nothing in play needs it."""
