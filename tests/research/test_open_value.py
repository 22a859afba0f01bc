"""Training of the network of what a hand is worth with all cards open."""

import numpy as np
import pytest

pytest.importorskip("torch")

from research.recipes.open_value import classes_of


def test_classes_of_results():
    assert classes_of(np.array([-70, -4, 0, 4, 5, 60])).tolist() == [0, 10, 11, 12, 13, 22]
