"""Experiments on our own questions, and those on several papers."""
