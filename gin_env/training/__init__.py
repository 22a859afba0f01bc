"""Training, tuning, data generation and evaluation; playing needs nothing from here."""
