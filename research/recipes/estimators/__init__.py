"""The trainers of the shipped estimators."""
