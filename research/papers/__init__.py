"""The experiments about each paper, a folder for each."""
