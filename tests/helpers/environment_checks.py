"""The environments against the slow reference rules: random episodes, compared after every step."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from brute_force import Meld
from hands_in_words import ids
from reference_rules import KNOCK, NUM_ACTIONS, OVER, PASS, STOCK, Arrangement, Game, cards_in_deck

from gin_env import gin_rummy_v0, melds
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.cards import cards_of, mask_of
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES, PHASE_NAMES
from gin_env.game.streams import (
    DEALER,
    DEALS,
    DECK,
    OPPONENT,
    below,
    episode_key,
    mix,
    shuffle_cards,
    stream,
    unit,
)
from gin_env.observations.observation import LAYOUT, OBSERVATION_SIZE
from gin_env.observations.views import PlayerView

GAMES = 3


# --- What a seed deals, and what the rules leave open ---------------------------------------------------


def random_number(seed: int, episode: int, hand: int, purpose: int) -> np.uint64:
    """Return the key of one hand for this purpose (docs/rules.md, "Randomness")."""
    key = np.uint64(episode_key(np.uint64(seed), np.uint64(episode), DEALS))
    return np.uint64(stream(key, np.uint64(hand), purpose))


def reference_game(rules: Rules, seed: int, episode: int, **options: Any) -> Game:
    def deck_of(hand: int) -> list[int]:
        deck = np.array(cards_in_deck(rules), np.int8)
        shuffle_cards(deck, len(deck), random_number(seed, episode, hand, DECK))
        return deck.tolist()

    dealer = int(below(np.uint64(mix(random_number(seed, episode, 0, DEALER), np.uint64(0))), 2))
    return Game(rules, deck_of, dealer, lay=as_the_package_lays, **options)


def as_the_package_lays(hand: Meld, arrangements: list[Arrangement]) -> Arrangement:
    """Return the arrangement that the package documents among equal ones."""
    if len(arrangements) == 1:
        return arrangements[0]
    laid = {frozenset(ids(" ".join(meld))) for meld in melds.best_melds(mask_of(hand))}
    return next(one for one in arrangements if set(one) == laid)


# --- Comparing ------------------------------------------------------------------------------------------


def mask_of_actions(legal: list[int]) -> list[int]:
    return np.isin(range(NUM_ACTIONS), legal).astype(int).tolist()


def vector_of(parts: dict[str, Any]) -> np.ndarray:
    """Return the parts of a reference observation as one vector."""
    vector = np.zeros(OBSERVATION_SIZE)
    assert list(LAYOUT) == list(parts)
    for name, value in parts.items():
        where = LAYOUT[name].slice
        if isinstance(value, dict):
            vector[[where.start + card for card in value]] = list(value.values())
        else:
            vector[where] = value
    return vector


def compare_observation(found: dict[str, np.ndarray], game: Game, player: int, legal: list[int]) -> None:
    assert found["observation"].dtype == np.float32
    expected = vector_of(game.observation(player))
    for name, part in LAYOUT.items():
        difference = np.abs(found["observation"][part.slice] - expected[part.slice]).max()
        assert difference < 1e-6, (name, player)
    assert found["action_mask"].tolist() == mask_of_actions(legal)


def compare_state(record: np.void, game: Game) -> None:
    """Compare the record of a game (`gin_env.game.state`) with the reference."""
    public, private = record["public"], record["private"]
    assert [cards_of(int(hand)) for hand in private["hand"]] == [sorted(hand) for hand in game.hands]
    size = len(game.deck)
    assert record["hidden"]["deck"][size - public["stock_left"] : size].tolist() == game.stock
    assert public["history"][: public["history_length"]].tolist() == [event[1] for event in game.history]
    assert (public["hand_number"], public["dealer"], public["to_move"]) == (
        game.hand_number,
        game.dealer,
        game.to_move,
    )
    assert (PHASE_NAMES[public["phase"]], public["scores"].tolist()) == (game.phase, game.scores)
    if game.phase == OVER and game.last_result is not None:
        result = game.last_result
        winner = -1 if result.winner is None else result.winner
        assert (OUTCOME_NAMES[public["outcome"]], public["winner"]) == (result.outcome, winner)
        if result.deadwood:
            assert (public["knocker"], *public["deadwood"].tolist()) == (result.knocker, *result.deadwood)


# --- The PettingZoo environment -------------------------------------------------------------------------


def compare_aec(rules: Rules, episode: str, reward: str, seed: int, steps: int = 150) -> Counter[str]:
    """Play the AEC environment by random policies; count how hands ended."""
    rng, outcomes = random.Random(seed), Counter[str]()
    options: dict[str, Any] = {"whole_game": episode == "game", "pays_wins": reward == "win"}
    env = gin_rummy_v0.raw_env(rules=rules, episode=episode, reward=reward)
    env.reset(seed=seed)
    number, game, unpaid = 0, reference_game(rules, seed, 0, **options), [0.0, 0.0]
    for _ in range(steps):
        if game.over:
            env.reset()
            number += 1
            game, unpaid = reference_game(rules, seed, number, **options), [0.0, 0.0]
        mover = game.to_move
        assert env.agent_selection == f"player_{mover}"
        assert env.last()[1] == unpaid[mover]
        unpaid[mover] = 0.0
        action = choose(rng, game.legal())
        env.step(action)
        game.play(action)
        outcomes.update([game.ended.outcome] if game.ended else [])
        unpaid = [unpaid[0] + game.paid, unpaid[1] - game.paid]
        compare_state(env.games.state[0], game)
        for player, agent in enumerate(env.possible_agents):
            legal = game.legal() if game.to_move == player else []
            compare_observation(env.observe(agent), game, player, legal)
            assert env.infos[agent]["action_mask"].tolist() == mask_of_actions(legal)
            assert env.rewards[agent] == (-game.paid if player else game.paid)
            assert (env.terminations[agent], env.truncations[agent]) == (game.over, False)
    return outcomes


# --- A learner against bots -----------------------------------------------------------------------------


def keen(legal: list[int]) -> int:
    """Pass, draw from the stock, knock as soon as possible, discard the highest rank."""
    for first in (PASS, STOCK):
        if first in legal:
            return first
    return max(legal, key=lambda number: (number >= KNOCK, number % 13))


POLICIES: dict[str, Callable[[list[int]], int]] = {"lowest": min, "highest": max, "keen": keen}
"""How opponents choose one of their legal actions (in ascending order)."""


def choose(rng: random.Random, legal: list[int]) -> int:
    return rng.choice([*POLICIES.values(), rng.choice])(legal)


class Chooser:
    """A bot that follows one of the `POLICIES`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, view: PlayerView) -> np.ndarray:
        return np.array([POLICIES[self.name](np.flatnonzero(mask).tolist()) for mask in view.masks()])


class Table:
    """The reference for one game of the learner, who is player 0; opponents are sampled by `weights`."""

    def __init__(self, rules: Rules, seed: int, weights: list[float], **options: Any) -> None:
        self.rules, self.seed, self.weights, self.options = rules, seed, weights, options
        self.episode = -1
        self.outcomes: Counter[str] = Counter()
        self.begin()

    @property
    def over(self) -> bool:
        return self.lost or self.game.over

    def legal(self) -> list[int]:
        return [] if self.lost or self.game.to_move else self.game.legal()

    def begin(self) -> None:
        """Begin the next episode in which the learner has a turn."""
        self.lost = True
        while self.over:
            self.episode += 1
            self.game = reference_game(self.rules, self.seed, self.episode, **self.options)
            self.lost, self.earned = False, 0.0
            self._seat()
            self._play_opponent()

    def step(self, number: int) -> float:
        """Play the learner's action and the replies; return its reward. An illegal action loses."""
        if number in self.legal():
            self._play(number)
            self._play_opponent()
        else:
            self.lost, self.earned = True, -1.0
        paid, self.earned = self.earned, 0.0
        return paid

    def _play(self, number: int) -> None:
        self.game.play(number)
        self.earned += self.game.paid
        if self.game.ended:
            self.outcomes[self.game.ended.outcome] += 1
            if not self.game.over:
                self._seat()

    def _play_opponent(self) -> None:
        while not self.game.over and self.game.to_move == 1:
            self._play(POLICIES[self.opponent](self.game.legal()))

    def _seat(self) -> None:
        """Choose the opponent by the random number of the hand."""
        key = random_number(self.seed, self.episode, self.game.hand_number, OPPONENT)
        chance = unit(np.uint64(mix(key, np.uint64(0))))
        shares = np.cumsum(self.weights)[:-1] / sum(self.weights)
        self.opponent = list(POLICIES)[int((chance >= shares).sum())]

    def result(self) -> dict[str, Any]:
        """Return the ending of the last hand, for the infos of a finished episode."""
        result = self.game.last_result
        if self.lost or result is None:
            return {"outcome": "illegal", "won": False, "points": 0, "turns": 0}
        won = result.winner == 0
        return {"outcome": result.outcome, "won": won, "points": result.points, "turns": result.turns}


def compare_learners(rules: Rules, episode: str, reward: str, seed: int, steps: int = 50) -> Counter[str]:
    """Play the vector environment and the single one by random policies; count how hands ended.

    Some actions are illegal, which loses the episode. Halfway other opponents are sampled.
    """
    rng = random.Random(seed)
    options: dict[str, Any] = {"rules": rules, "episode": episode, "reward": reward, "illegal_action": "lose"}
    bots = [Chooser(name) for name in POLICIES]
    vector = GinRummyVectorEnv(GAMES, bots, **options)
    singles = [GinRummyEnv(bots, **options) for _ in range(GAMES)]
    expected: dict[str, Any] = {"whole_game": episode == "game", "pays_wins": reward == "win"}
    tables = [Table(rules, seed + game, [1, 1, 1], **expected) for game in range(GAMES)]
    observations, infos = vector.reset(seed=seed)
    for game, env in enumerate(singles):
        compare_observation(env.reset(seed=seed + game)[0], tables[game].game, 0, tables[game].legal())
    for step in range(steps):
        for game, table in enumerate(tables):
            found = {name: values[game] for name, values in observations.items()}
            compare_observation(found, table.game, 0, table.legal())
            compare_state(vector.seat.games.state[game], table.game)
        assert np.array_equal(infos["action_mask"], observations["action_mask"])
        if step == steps // 2:
            for env in (vector, *(env.seat for env in singles)):
                env.set_opponents(bots, [3, 0, 1])
            for table in tables:
                table.weights = [3, 0, 1]
        actions = [choose(rng, table.legal()) for table in tables]
        actions[0] = rng.randrange(NUM_ACTIONS) if rng.random() < 0.05 else actions[0]
        paid = [table.step(action) for table, action in zip(tables, actions, strict=True)]
        observations, rewards, over, truncated, infos = vector.step(np.array(actions))
        assert np.allclose(rewards, paid, atol=1e-6)
        assert over.tolist() == [table.over for table in tables]
        assert not truncated.any()
        assert ("final_obs" in infos) == over.any()
        for game, (table, env) in enumerate(zip(tables, singles, strict=True)):
            alone, earned, ended, _, info = env.step(actions[game])
            assert (earned, ended) == (rewards[game], over[game])
            compare_observation(alone, table.game, 0, table.legal())
            assert info.pop("action_mask").tolist() == mask_of_actions(table.legal())
            given = infos["final_info"] if ended else infos
            assert {name: given[name][game].item() for name in info} == info
            assert info.pop("opponent") in [bot.name for bot in bots]
            if ended:
                compare_observation(infos["final_obs"][game], table.game, 0, [])
                assert info == table.result()
                table.outcomes["illegal"] += table.lost
                table.begin()
                compare_observation(env.reset()[0], table.game, 0, table.legal())
            else:
                assert info == {"outcome": "undecided", "won": False, "points": 0, "turns": 0}
    return sum((table.outcomes for table in tables), Counter())
