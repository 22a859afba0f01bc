"""Showing a game: as text, as a picture, in a window."""
