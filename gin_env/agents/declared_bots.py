"""The declarations of the bots: one entry each, from which every list of bots is derived."""

from __future__ import annotations

import os
from pathlib import Path

from gin_env.agents.paper import PAPER_BOTS
from gin_env.support.registry import Declaration, Registry
from gin_env.support.tensor_files import NetworkFormat

_HAND_STRENGTH_NETWORK = {"network": "hand_strength/data/{}.safetensors"}

_DECLARATIONS = {
    "random": Declaration("random_bots:RandomBot", "Uniformly random legal actions"),
    "simple": Declaration("simple:SimpleBot", "The challenge's Simple player, the standard opponent"),
    "random-discard": Declaration(
        "random_discard:RandomDiscardBot", "Simple with random discards (Truong and Neller 2021)"
    ),
    "medium": Declaration(
        "medium:MediumBot", "Keeps cards that may still be melded (Gallucci et al. 2021, medium)"
    ),
    "tonic": Declaration(
        "tonic:TonicBot", "Heuristics: pairs, safe discards, a tuned knock (Larkin et al. 2021)"
    ),
    "utility": Declaration(
        "utility:UtilityBot", "The utility scores of a game programmer's report (Keats 2017)", held_out=True
    ),
    "late-knock": Declaration("late_knock:LateKnockBot", "Simple that knocks later (Truong and Neller 2021)"),
    "marjj": Declaration(
        "marjj:MarjjBot", "A reading of the 2021 champion: heuristics with lines of play", held_out=True
    ),
    "gold-standard": Declaration(
        "gold_standard:GoldStandardBot", "The heuristics of the challenge's gold standard", held_out=True
    ),
    "safe-discard": Declaration(
        "safe_discard:SafeDiscardBot", "Discards what an estimator believes is safe (Francis et al. 2021)"
    ),
    "heuristics": Declaration(
        "fitness:HeuristicsBot", "The discard heuristics of Gallucci et al. 2021, voting without a table"
    ),
    "fitness-cfr": Declaration(
        "fitness:FitnessCfrBot", "A CFR table that discards by card fitness (Gallucci et al. 2021)"
    ),
    "cfr": Declaration("cfr.bot:CfrBot", "The table of fitness-cfr alone"),
    "cfr-plus": Declaration("cfr.bot:CfrPlusBot", "A larger CFR+ table of our own", held_out=True),
    "offensive": Declaration(
        "hand_strength.bots:OffensiveBot",
        "Hand-strength network: discards for its own hand (Truong and Neller 2021)",
        needs_torch=True,
        files_by_parameter=_HAND_STRENGTH_NETWORK,
    ),
    "defensive": Declaration(
        "hand_strength.bots:DefensiveBot",
        "Discards against the opponent's hand, by equation 5 (Truong and Neller 2021)",
    ),
    "balanced": Declaration(
        "hand_strength.bots:BalancedBot",
        "Offensive and defensive scores weighed against each other (Truong and Neller 2021)",
        needs_torch=True,
        files_by_parameter=_HAND_STRENGTH_NETWORK,
    ),
    "generation": Declaration(
        "generations.bot:GenerationBot.load", "A value network of the retraining loop", needs_torch=True
    ),
    "policy": Declaration(
        "policies.improved_policy:ImprovedPolicyBot",
        "Masked PPO and a second network for discards; the strongest that does not look ahead",
        needs_torch=True,
    ),
    "policy-1": Declaration(
        "policies.candidate_policy:CandidatePolicyBot.shipped_first",
        "An earlier policy, trained by PPO alone",
        needs_torch=True,
        only_by_name=True,
    ),
    "policy-memory": Declaration(
        "policies.improved_policy:ImprovedPolicyBot.with_memory",
        "policy that remembers earlier hands of the game",
        needs_torch=True,
        only_by_name=True,
    ),
    "search": Declaration(
        "search.bot:SearchBot",
        "Looks ahead in worlds that fit what it has seen; the strongest, milliseconds a decision",
        needs_torch=True,
        slow=True,
    ),
}
BOTS = Registry("gin_env.agents", _DECLARATIONS)

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
