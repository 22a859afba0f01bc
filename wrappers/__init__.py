"""Adapters to RL frameworks. Each is imported where it is used, since each needs its framework."""
