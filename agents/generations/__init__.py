"""Generational retraining (paper 002, past its end): bots that learn from what their own decisions led to.

One generation (`loop`) is: play against a pool and stop at some positions, try several decisions in each and
play every one of them to the end of the hand (`rollouts`, `experience`), fit a network that values all
decisions alike (`candidates`, `network`, `training`), and keep it if it beats the generation before. `bot`
plays with such a network.
"""
