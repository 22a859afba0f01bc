"""Speed measurements of the engine and the bots."""
