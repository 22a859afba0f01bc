"""Bots at tables: matches, tournaments with ratings, and the seat of a learner."""
