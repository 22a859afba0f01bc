"""Estimators: positions with the truth beside them, training, and how they are measured."""
