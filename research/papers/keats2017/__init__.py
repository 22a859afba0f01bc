"""Keats, Artificial Opponents - Gin Rummy - Code Report (2017)."""
