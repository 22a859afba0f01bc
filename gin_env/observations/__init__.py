"""A player's knowledge: views, observations and candidates."""
