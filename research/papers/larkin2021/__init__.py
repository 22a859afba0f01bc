"""Larkin et al., Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent (2021)."""
