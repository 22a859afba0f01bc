"""Gin Rummy itself: cards, melds, rules, state, engine and random streams."""
