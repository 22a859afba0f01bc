"""Checkpoints of CFR."""

from __future__ import annotations

import pytest

from gin_env.support.array_files import ArrayFileError
from research.recipes.cfr.trainer import CHECKPOINT, CFRSettings, CFRTrainer


def test_checkpoint_with_impossible_settings_is_refused(tmp_path):
    path = tmp_path / "checkpoint.npz"
    trainer = CFRTrainer(CFRSettings("plus"))
    trainer.save(path)
    arrays, metadata = CHECKPOINT.read(path)
    for wrong in ({"abstraction": "cards"}, {"seed": -1}, {"exploration": 2.0}, {"abstraction": "paper"}):
        CHECKPOINT.write(path, arrays, metadata | wrong)
        with pytest.raises(ArrayFileError, match=r"checkpoint\.npz is a checkpoint"):
            CFRTrainer.resume(path)
