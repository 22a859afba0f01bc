"""Displays of a game: text, pictures, windows and terminal screens."""
