"""Which tests guard which modules, for `run.py`: fast ones without compilation, what they miss with it."""

from __future__ import annotations

GUARDS: dict[str, str] = {
    "gin_env/engine.py": "rules how_hands_end hands_and_games views fixed_deals aec_errors shuffling",
    "gin_env/melds.py": "melds rules how_hands_end",
    "gin_env/cards.py": "cards melds",
    "gin_env/streams.py": "streams shuffling views",
    "gin_env/deals.py": "fixed_deals aec_errors hands_and_games",
    "gin_env/state.py": "status",
    "gin_env/observation.py": "observation views",
    "gin_env/views.py": "views aec_errors status",
    "gin_env/batch.py": "how_hands_end fixed_deals hands_and_games views aec_errors",
    "gin_env/gin_rummy_v0.py": "how_hands_end fixed_deals aec_errors hands_and_games",
    "gin_env/gymnasium_env.py": "how_hands_end learner_seat",
    "gin_env/wrappers/sb3.py": "learner_seat how_hands_end",
    "gin_env/play/learner_seat.py": "how_hands_end learner_seat fixed_deals",
    "gin_env/history.py": "views estimator_values tonic_bot",
    "gin_env/play/matches.py": "match_sums",
    "gin_env/play/intervals.py": "intervals",
    "gin_env/play/differences.py": "differences",
    "gin_env/play/claims.py": "claims",
    "gin_env/play/tournaments.py": "tournament_output",
    "gin_env/estimators/bayes.py": "estimator_values",
    "gin_env/estimators/logistic.py": "estimator_values tonic_bot",
    "gin_env/agents/tonic.py": "tonic_bot bots_by_turn",
    "gin_env/agents/simple.py": "simple_bot bots_by_turn",
    "gin_env/hands.py": "tonic_bot bots_by_turn",
    "gin_env/training/cfr/kernels.py": "cfr_kernels",
    "gin_env/training/generations/rollouts.py": "rollouts",
}
"""Module -> names of test files (without test_ and .py), the quickest to find something first."""

ALSO_COMPILED: dict[str, str] = {
    "gin_env/engine.py": "properties information",
    "gin_env/observation.py": "information compact_observation",
    "gin_env/batch.py": "aec gymnasium turns compact_observation",
    "gin_env/gin_rummy_v0.py": "aec render",
    "gin_env/gymnasium_env.py": "gymnasium",
    "gin_env/wrappers/sb3.py": "sb3",
    "gin_env/play/learner_seat.py": "gymnasium sb3",
    "gin_env/play/matches.py": "matches tournaments",
    "gin_env/play/tournaments.py": "tournaments",
    "gin_env/estimators/bayes.py": "estimators",
    "gin_env/estimators/logistic.py": "estimators",
    "gin_env/agents/simple.py": "paper_bots turns",
    "gin_env/hands.py": "cfr_bots paper_bots safe_discard",
    "gin_env/training/cfr/kernels.py": "cfr_bots",
    "gin_env/training/generations/rollouts.py": "generations",
}
"""Further test files that play too much for uncompiled kernels: for what survives the others."""

DESELECTED = "brute_force or whole or checker or TestPettingZoo"
"""Tests that take too long for a run without compilation."""

EQUIVALENT: dict[str, dict[tuple[str, str], str]] = {
    "gin_env/batch.py": {
        (
            f"{kernel}(self.state, games, -1 if player is None else player, records)",
            f"{kernel}(self.state, games, -(2) if player is None else player, records)",
        ): "any negative number means the player to move"
        for kernel in ("_write_views", "_write_compact")
    },
    "gin_env/views.py": {
        (
            'public, hand = views["public"][0], int(views["private"]["hand"][0])',
            'public, hand = views["public"][(-1)], int(views["private"]["hand"][0])',
        ): "the array has one record: its first is its last",
    },
}
"""Module -> {(line, mutated line): why no test can tell them apart}; lines without their indentation."""
