"""`replay`: repeat the calls printed by a state machine of test_faces.py."""

from __future__ import annotations

from typing import Any

from aec_checks import Aec, Wrapped
from environment_checks import Call, Face
from learner_checks import Sb3, Single, Vector

FACES: dict[str, type[Face]] = {face.kind: face for face in (Aec, Wrapped, Single, Vector, Sb3)}


def replay(kind: str, options: dict[str, Any], *calls: Call) -> Face:
    """Make the calls on an environment and on the reference; raises DifferenceError if they differ.

    `kind` is one of `FACES`, `options` those of the environment (opponents by the names of `POLICIES`), and
    a call is the name of a method of the `Face` with its arguments.
    """
    face = FACES[kind](**options)
    for call in calls:
        face.call(*call)
    return face
