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
    "gin_env/play/match_log.py": "tournament_output",
    "gin_env/play/ratings.py": "tournament_output",
    "gin_env/play/tournaments.py": "tournament_output",
    "gin_env/estimators/bayes.py": "estimator_values estimator_turns bot_decisions",
    "gin_env/estimators/bayes_isru.py": "estimator_turns bot_decisions",
    "gin_env/estimators/frequencies.py": "estimator_turns",
    "gin_env/estimators/logistic.py": "estimator_values tonic_bot",
    "gin_env/estimators/odds_to_probabilities.py": "estimator_turns",
    "gin_env/estimators/public_history.py": "estimator_turns",
    "gin_env/estimators/risk.py": "estimator_turns",
    "gin_env/estimators/shankar.py": "shankar",
    "gin_env/estimators/turn_buckets.py": "estimator_turns",
    "gin_env/estimators/turn_inputs.py": "estimator_turns",
    "gin_env/estimators/uniform.py": "estimator_turns",
    "gin_env/agents/tonic.py": "tonic_bot bots_by_turn paper_bots bot_decisions",
    "gin_env/agents/simple.py": "bot_decisions simple_bot bots_by_turn paper_bots",
    "gin_env/agents/late_knock.py": "paper_bots bot_decisions",
    "gin_env/agents/medium.py": "paper_bots bot_decisions",
    "gin_env/agents/random_discard.py": "paper_bots bot_decisions",
    "gin_env/agents/utility.py": "paper_bots bot_decisions",
    "gin_env/hands.py": "hands paper_bots bots_by_turn",
    "gin_env/agents/fitness.py": "bot_decisions cfr_bots",
    "gin_env/agents/safe_discard.py": "safe_discard",
    "gin_env/agents/cfr/abstractions.py": "cfr_sets",
    "gin_env/agents/cfr/bot.py": "cfr_sets cfr_bots",
    "gin_env/agents/cfr/paper_sets.py": "cfr_sets",
    "gin_env/agents/cfr/plus_sets.py": "cfr_sets",
    "gin_env/agents/cfr/stages.py": "cfr_bots",
    "gin_env/agents/cfr/strategy.py": "cfr_sets",
    "gin_env/agents/cfr/table.py": "cfr_sets cfr_bots",
    "gin_env/solvers/best_response.py": "cfr cfr_protocol",
    "gin_env/solvers/cfr.py": "cfr cfr_protocol",
    "gin_env/solvers/tree.py": "cfr_protocol cfr",
    "gin_env/training/cfr/kernels.py": "cfr_kernels",
    "gin_env/training/cfr/trainer.py": "cfr_trainer",
    "gin_env/training/estimators/counting.py": "counting",
    "gin_env/training/estimators/metrics.py": "estimator_metrics",
    "gin_env/training/hand_strength/simulation.py": "simulation",
    "gin_env/agents/generations/bot.py": "generation_steps",
    "gin_env/agents/hand_strength/features.py": "hands",
    "gin_env/training/generations/experience.py": "generation_steps",
    "gin_env/training/generations/fit.py": "generation_steps",
    "gin_env/training/generations/loop.py": "generation_steps",
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

DESELECTED = (
    "brute_force or whole or checker or TestPettingZoo or win_rates or hidden_cards or over_many_hands"
    " or equally_often or hard_stages or shuffled or seeing_all_cards or without_caution or nobody_is_told"
    " or training_is_deterministic or command_line or has_to_mix or equals_are_ordered or wrong_shape"
    " or uniform_and_omniscient or batched or small_gin"
)
"""Tests that take too long for a run without compilation."""

EQUIVALENT: dict[str, dict[tuple[str, str], str]] = {
    "gin_env/batch.py": {
        (
            f"{kernel}(self.state, games, -1 if player is None else player, records)",
            f"{kernel}(self.state, games, -(2) if player is None else player, records)",
        ): "any negative number means the player to move"
        for kernel in ("_write_views", "_write_compact")
    },
    "gin_env/agents/safe_discard.py": {
        ("best = np.int64(0)", "best = np.int64((-1))"): "any card costs less than infinity and replaces it",
    },
    "gin_env/agents/simple.py": {
        ("return -1", "return -(2)"): "any negative number means that all was played",
    },
    "gin_env/estimators/odds_to_probabilities.py": {
        (
            "if total - reached < _PRECISION * total:",
            "if total - reached <= _PRECISION * total:",
        ): "both stop within the precision; they differ where the two sides are equal to the last bit",
    },
    "gin_env/estimators/turn_buckets.py": {
        (
            "if before >= 0 and is_discard(public.history[before]):",
            "if before >= (1) and is_discard(public.history[before]):",
        ): "a hand begins with a draw or a pass: its first entry is no discard",
        (
            "key = mix(np.uint64(public.first_upcard), np.uint64(2 * public.dealer + player))",
            "key = mix(np.uint64(public.first_upcard), np.uint64((3) * public.dealer + player))",
        ): "a hash of dealer and player: 0, 1, 3 and 4 tell them apart as 0 to 3 do",
    },
    "gin_env/estimators/turn_inputs.py": {
        (
            'missing = view.records["public"]["rules"]["hand_size"][0] - held.sum(axis=1, keepdims=True)',
            'missing = view.records["public"]["rules"]["hand_size"][(-1)] - held.sum(axis=1, keepdims=True)',
        ): "all views of a batch are under the same rules",
    },
    "gin_env/training/generations/experience.py": {
        (
            "for name, experience in zip(_PARTS, experiences, strict=True):",
            "for name, experience in zip(_PARTS, experiences, strict=False):",
        ): "both are pairs",
    },
    "gin_env/training/generations/fit.py": {
        (
            "for experience, chosen in zip(experiences, held, strict=True):",
            "for experience, chosen in zip(experiences, held, strict=False):",
        ): "both are pairs",
    },
    "gin_env/training/generations/loop.py": {
        ("Progress = Callable[[str, int, int], object]", "pass"): "a name for type checkers, who read it",
    },
    "gin_env/training/estimators/counting.py": {
        (
            "rng = np.random.default_rng([seed, 1])",
            "rng = np.random.default_rng([seed, (2)])",
        ): "another independent stream, of which nothing but independence is promised",
    },
    "gin_env/views.py": {
        (
            'public, hand = views["public"][0], int(views["private"]["hand"][0])',
            'public, hand = views["public"][(-1)], int(views["private"]["hand"][0])',
        ): "the array has one record: its first is its last",
    },
}
"""Module -> {(line, mutated line): why no test can tell them apart}; lines without their indentation."""
