"""Trained policies as bots."""
