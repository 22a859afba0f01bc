"""The declarations of the bots: one entry each, from which every list of bots is derived."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gin_env.agents.paper import PAPER_BOTS
from gin_env.support.registry import Declaration, Registry
from gin_env.support.tensor_files import NetworkFormat

_CFR_TABLE = {"table": "cfr/data/cfr_paper.npz"}
_HAND_STRENGTH_NETWORK = {"network": "hand_strength/data/{}.safetensors"}

BOTS: Registry[Any] = Registry(
    "gin_env.agents",
    {
        "random": Declaration("random_bots:RandomBot"),
        "simple": Declaration("simple:SimpleBot"),
        "random-discard": Declaration("random_discard:RandomDiscardBot"),
        "medium": Declaration("medium:MediumBot"),
        "tonic": Declaration("tonic:TonicBot"),
        "utility": Declaration("utility:UtilityBot", held_out=True),
        "late-knock": Declaration("late_knock:LateKnockBot"),
        "marjj": Declaration("marjj:MarjjBot", held_out=True),
        "gold-standard": Declaration("gold_standard:GoldStandardBot", held_out=True),
        "safe-discard": Declaration("safe_discard:SafeDiscardBot"),
        "heuristics": Declaration("fitness:HeuristicsBot", files_by_parameter=_CFR_TABLE),
        "fitness-cfr": Declaration("fitness:FitnessCfrBot", files_by_parameter=_CFR_TABLE),
        "cfr": Declaration("cfr.bot:CfrBot", files_by_parameter=_CFR_TABLE),
        "cfr-plus": Declaration(
            "cfr.bot:CfrPlusBot", held_out=True, files_by_parameter={"table": "cfr/data/cfr_plus.npz"}
        ),
        "offensive": Declaration(
            "hand_strength.bots:OffensiveBot", needs_torch=True, files_by_parameter=_HAND_STRENGTH_NETWORK
        ),
        "defensive": Declaration("hand_strength.bots:DefensiveBot"),
        "balanced": Declaration(
            "hand_strength.bots:BalancedBot", needs_torch=True, files_by_parameter=_HAND_STRENGTH_NETWORK
        ),
        "generation": Declaration(
            "generations.bot:GenerationBot.load",
            needs_torch=True,
            files_by_parameter={"weights": "generations/data/generation.safetensors"},
        ),
        "policy": Declaration(
            "policies.improved_policy:ImprovedPolicyBot",
            needs_torch=True,
            files_by_parameter={"weights": "data/{}.safetensors", "gains": "data/policy-gains.safetensors"},
        ),
        "policy-1": Declaration(
            "policies.candidate_policy:CandidatePolicyBot.shipped_first",
            needs_torch=True,
            only_by_name=True,
            files=("data/policy-1.safetensors",),
        ),
        "policy-memory": Declaration(
            "policies.improved_policy:ImprovedPolicyBot.with_memory",
            needs_torch=True,
            only_by_name=True,
            files=("data/policy-memory.safetensors", "data/policy-gains.safetensors"),
        ),
        "search": Declaration("search.bot:SearchBot", needs_torch=True, slow=True),
    },
)

POLICY_FILES = {
    "policy": "policies.policy:PolicyBot.load",
    "candidate policy": "policies.candidate_policy:CandidatePolicyBot.load",
    "generation network": "generations.bot:GenerationBot.load_file",
}
"""What plays a ``.safetensors`` file, by the kind that the file names."""
OWN_NETWORK = NetworkFormat("network of your own", "1", "gin_env.agents.save_network")
"""The files that `gin_env.agents.save_network` writes."""


def name_of_file(path: str | Path) -> str:
    """Return the name of the bot that plays a file.

    That is the file's name without its ending, but for ``policy.safetensors``, which every training writes,
    the folder's: ``runs/ppo/policy.safetensors`` is ``ppo``. If that is the name of another bot, the folder
    before it is added: ``exploit/simple``.
    """
    path = Path(os.path.abspath(path))
    named = path.parent if path.stem == "policy" and path.parent.name else path.with_suffix("")
    taken = named.name in BOTS.declarations or named.name in PAPER_BOTS
    return f"{named.parent.name}/{named.name}" if taken and named.parent.name else named.name
