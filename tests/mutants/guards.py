"""Which tests guard which modules, for `run.py`: fast ones without compilation, what they miss with it."""

from __future__ import annotations

GUARDS: dict[str, str] = {
    "gin_env/engine.py": (
        "golden_transcript rules games hands_and_games views fixed_deals oracle_games aec_errors "
        "streams shuffling"
    ),
    "gin_env/melds.py": "golden_transcript rules melds observation",
    "gin_env/cards.py": "golden_transcript cards melds",
    "gin_env/streams.py": "streams shuffling views",
    "gin_env/deals.py": "fixed_deals aec_errors hands_and_games",
    "gin_env/state.py": "status",
    "gin_env/observation.py": "golden_transcript observation views",
    "gin_env/compact_observation.py": "compact_observation boundaries",
    "gin_env/views.py": "golden_transcript views told_hands aec_errors candidates boundaries",
    "gin_env/words.py": "words",
    "gin_env/protocol.py": "protocol",
    "gin_env/play/serving.py": "protocol",
    "gin_env/agents/process.py": "protocol",
    "gin_env/wrappers/text.py": "words",
    "gin_env/match_odds.py": "match_odds",
    "gin_env/play/human_game.py": "human_game",
    "gin_env/play/hints.py": "human_game",
    "gin_env/show/seat.py": "seat",
    "gin_env/batch.py": (
        "golden_transcript games hands_and_games views fixed_deals aec_errors candidates boundaries "
        "how_hands_end"
    ),
    "gin_env/candidates.py": "candidates",
    "gin_env/gin_rummy_v0.py": (
        "golden_transcript aec_errors fixed_deals how_hands_end hands_and_games render aec"
    ),
    "gin_env/compat/gin_rummy_v4.py": "gin_rummy_v4",
    "gin_env/gymnasium_env.py": "vector_environments how_hands_end candidate_faces gymnasium learner_seat",
    "gin_env/wrappers/sb3.py": "vector_environments how_hands_end learner_seat policy_files",
    "gin_env/play/learner_seat.py": "vector_environments how_hands_end fixed_deals gymnasium learner_seat",
    "gin_env/play/turns.py": "turns match_sums matches boundaries",
    "gin_env/history.py": "golden_transcript views estimator_values tonic_bot",
    "gin_env/knowledge.py": "golden_transcript observation",
    "gin_env/play/matches.py": "match_sums matches",
    "gin_env/play/match_parts.py": "match_sums workers matches",
    "gin_env/play/intervals.py": "intervals",
    "gin_env/play/differences.py": "differences",
    "gin_env/play/claims.py": "claims",
    "gin_env/play/match_log.py": "tournament_output",
    "gin_env/play/ratings.py": "tournament_output",
    "gin_env/play/tournaments.py": "tournament_output",
    "gin_env/play/records/games.py": "record_lines records",
    "gin_env/play/records/lines.py": "record_lines",
    "gin_env/play/records/files.py": "records",
    "gin_env/play/records/tables.py": "records",
    "gin_env/play/records/match_recording.py": "records",
    "gin_env/play/records/reference_logs.py": "record_lines",
    "gin_env/play/opinions.py": "replay_and_explain records",
    "gin_env/play/explanations.py": "replay_and_explain",
    "gin_env/show/explanation_text.py": "replay_and_explain",
    "gin_env/show/replay_text.py": "replay_and_explain",
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
    "gin_env/agents/ties.py": "generation_steps",
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
    "gin_env/compact_observation.py": "information",
    "gin_env/batch.py": "aec gymnasium turns compact_observation",
    "gin_env/gin_rummy_v0.py": "aec render replays faces candidate_faces",
    "gin_env/gymnasium_env.py": "gymnasium replays faces candidate_faces",
    "gin_env/wrappers/sb3.py": "sb3 replays faces candidate_faces candidate_policy",
    "gin_env/play/learner_seat.py": "gymnasium sb3 replays faces candidate_faces",
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

EQUIVALENT: dict[str, dict[tuple[str, str], str]] = {
    "gin_env/batch.py": {
        (line, line.replace("-1", "-(2)")): "any negative number means the player to move"
        for line in (
            "_write_compact(self.state, games, -1 if player is None else _seat(player), records)",
            "return self._views(self._checked(games), -1 if player is None else _seat(player))",
        )
    },
    "gin_env/streams.py": {
        (
            "return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])",
            "return int(np.random.SeedSequence().generate_state(1, np.uint64)[(-1)])",
        ): "one number is drawn: the first is the last",
    },
    "gin_env/melds.py": {
        (
            "best, least = np.int64(0), np.int64(1 << 30)",
            f"best, least = np.int64(0), np.int64({large})",
        ): "any number above all deadwood to begin with"
        for large in ("(2) << 30", "1 << (31)", "1 << (29)")
    }
    | {
        (
            "best, least = np.int64(0), np.int64(1 << 30)",
            "best, least = np.int64((-1)), np.int64(1 << 30)",
        ): "the first discard leaves less and takes its place; there is one, since hands are larger than sets"
    }
    | {
        ("least = np.int64(127)", f"least = np.int64(({number}))"): "any number above all deadwood"
        for number in (126, 128)
    }
    | {("if fewest < 0:", "if fewest <= 0:"): "a count of 0 is counted again, and is 0 again"},
    "gin_env/candidates.py": {
        ("least = np.int64(127)", f"least = np.int64(({number}))"): "any number above all deadwood"
        for number in (126, 128)
    },
    "gin_env/gin_rummy_v0.py": {
        ("observation |= zip(ENTRIES, (rows[0], actions[0], table[0]), strict=True)", became): "one view"
        for became in (
            "observation |= zip(ENTRIES, (rows[(-1)], actions[0], table[0]), strict=True)",
            "observation |= zip(ENTRIES, (rows[0], actions[(-1)], table[0]), strict=True)",
            "observation |= zip(ENTRIES, (rows[0], actions[0], table[(-1)]), strict=True)",
            "observation |= zip(ENTRIES, (rows[0], actions[0], table[0]), strict=False)",
        )
    }
    | {
        (line, line.replace("[0]", "[(-1)]")): "the batch has one game: its first is its last"
        for line in (
            '"observation": self._estimates.observe(self.games, self._index, player)[0],',
            'if games.results["ended"][0]:',
            "if games.done[0]:",
            "self._pass_turn(games.to_move()[0])",
            "self._pass_turn(1 - games.to_move()[0])  # the turn passes at the end too, as in classic games",
            "reward = round(float(games.rewards[0]), 2)",
            "games.rewards[0] = 0",
            "self._last_hand = games.results[0].copy()",
            "self._mask = mask = self.games.masks(self._index)[0]",
            "self._action[0] = check_action(action)",
            "return self._screen.render(self.games.state[0], self._last_hand)",
        )
    },
    "gin_env/gymnasium_env.py": {
        (line, line.replace("[0]", "[(-1)]")): "the batch has one game: its first is its last"
        for line in (
            "if self.seat.done[0]:",
            "over = bool(self.seat.done[0])",
            "return observation, float(self.seat.rewards[0]), over, False, info",
            "return self.seat.masks()[0]",
            "return self._screen.render(self.seat.games.state[0])",
            "super().reset(seed=seeds[0])",
            "vector = self.seat.observations()[0]",
            "info |= {name: values[0].item() for name, values in "
            "hand_results(self.seat.games.results).items()}",
        )
    },
    "gin_env/play/learner_seat.py": {
        (line, line.replace(" or ", " and ")): "a shortcut: one bot, or no game, needs no number"
        for line in ("if len(self._bots) == 1 or not len(games):",)
    },
    "gin_env/play/turns.py": {
        (
            "return array.astype(np.int64, copy=False)",
            "return array.astype(np.int64, copy=True)",
        ): "a copy costs time and changes nothing",
    },
    "gin_env/play/match_parts.py": {
        (line, line.replace("-1", "-(2)")): "any number that is neither bot's means nobody"
        for line in (
            'winner = np.where(outcome == VOID, -1, results["winner"] ^ seat_of_a)  # now 0 is bot a',
            'knocker = np.where(outcome == VOID, -1, results["knocker"] ^ seat_of_a)',
        )
    },
    "gin_env/wrappers/sb3.py": {
        (
            "inputs = torch.rand(64, NUM_ACTIONS + OBSERVATION_SIZE, "
            "generator=torch.Generator().manual_seed(0))",
            f"inputs = torch.rand({number}, NUM_ACTIONS + OBSERVATION_SIZE, "
            f"generator=torch.Generator().manual_seed({seed}))",
        ): "any observations will do, and about that many"
        for number, seed in (("(65)", 0), ("(63)", 0), (64, "(1)"), (64, "(-1)"))
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
            "return illegality(views[0].public, views[0].private, action)",
            "return illegality(views[0].public, views[(-1)].private, action)",
        ): "the array has one record: its first is its last",
        (
            'public, hand = views["public"][0], int(views["private"]["hand"][0])',
            'public, hand = views["public"][(-1)], int(views["private"]["hand"][0])',
        ): "the array has one record: its first is its last",
        (
            'public, hand = views["public"][0], int(views["private"]["hand"][0])',
            'public, hand = views["public"][0], int(views["private"]["hand"][(-1)])',
        ): "likewise",
        (
            "return PlayerView._of(records.reshape(-1))",
            "return PlayerView._of(records.reshape(-(2)))",
        ): "numpy takes any negative number for the rest",
    },
}
"""Module -> {(line, mutated line): why no test can tell them apart}; lines without their indentation."""
