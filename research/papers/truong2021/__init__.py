"""Truong and Neller, A Data-Driven Approach for Gin Rummy Hand Evaluation (2021)."""
