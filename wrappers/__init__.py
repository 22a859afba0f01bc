"""Adapters to RL frameworks. Import the module that you need; each requires its framework."""
