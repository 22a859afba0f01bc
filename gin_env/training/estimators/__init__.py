"""Estimators: positions with the true hands, training, and how they are measured."""
