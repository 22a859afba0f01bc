"""Matches and tournaments, their statistics and provenance."""
