"""The published experiments, one file for each subject."""
