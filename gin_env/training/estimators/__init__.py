"""Training and evaluation of estimators, on positions with the true hands."""
