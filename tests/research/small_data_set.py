"""A small data set of hand strengths that a network can learn."""

import numpy as np

from gin_env import cards
from gin_env.agents.hand_strength.features import hand_features
from research.recipes.hand_strength.data_sets import DataSet


def random_hands(count: int, size: int = 10) -> np.ndarray:
    rng = np.random.default_rng(5)
    return np.array([cards.mask_of(rng.permutation(52)[:size].tolist()) for _ in range(count)], np.uint64)


def tiny_data(count: int = 64) -> DataSet:
    """Return random hands with scores that a network can learn: the negative deadwood."""
    hands = random_hands(count)
    estimates = np.random.default_rng(6).integers(0, 120, (count, 52), dtype=np.uint8)
    deadwood = hand_features(hands)[1][:, 0]
    scores = 30 - deadwood
    metadata = {
        "name": "tiny",
        "observations": count,
        "estimator": "uniform",
        "seed": 0,
        "simulated_actions": 0,
    }
    return DataSet(hands, estimates, deadwood.astype(np.uint8), scores, np.ones(count, np.uint32), metadata)
