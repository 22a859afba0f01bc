"""Expert iteration: the policy's network learns from `search` and plays as fast as before.

Positions come from games of the policy against itself. In each position, `search` tries the policy's most
probable actions in sampled worlds. A copy of the network learns from the result by one of two lessons:

- to choose as `search` chooses (Anthony, Tian and Barber, "Thinking Fast and Slow with Deep Learning and Tree
  Search", NIPS 2017);
- to move towards the actions that gained, in proportion to their gain.

With the first lesson the network also learns the choices that were decided by chance. With the second, chance
cancels over the positions.

The positions are divided into three parts: for learning, for choosing the settings, and for measuring. In the
last part a network's choices are judged in worlds that it was not trained on, and with the true hands.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.search.bot import SearchBot, mean_and_error
from gin_env.batch import Games
from gin_env.game.state import STATE
from gin_env.observations.candidates import NO_ACTION
from gin_env.reproduce.experiment import Row, Run, interval, markdown, match_row, percent
from gin_env.reproduce.experiments.one_step import positions, shuffle_stock, view_of
from gin_env.reproduce.labels import shown
from gin_env.support.array_files import ArrayFormat

WORLDS = 64
FUTURES, TO_THE_END = 16, 100
"""For judging: orders of the stock with the true hands, and more turns than any hand has."""
GAMES, SHARE = 250, 0.1
"""Games of a block, and the share of their decisions that become positions (about 2,000)."""
LEARNED, CHOOSING, MEASURING = 160, 20, 20
"""Number of blocks for learning, for choosing the settings, and for measuring."""
EPOCHS, BATCH_SIZE, LEARNING_RATE = 8, 1024, 5e-4
CHOICES, GAINS = "to choose as search does", "to move towards what gained"
SCALES = {CHOICES: (0.0,), GAINS: (0.01, 0.003, 0.001)}
"""Scales of each lesson. In the second lesson, an action that raises the probability of winning by the scale
should become e times as probable."""
PARTS = (0.25, 0.5)
"""Shares of the learning blocks on which the best setting of a lesson is also trained."""
MATCH_GAMES = 40_000

FORMAT = ArrayFormat(
    "block of searched positions",
    1,
    {
        "states": (np.uint8, ("positions", STATE.itemsize)),
        "tried": (np.int64, ("positions", "tried")),
        "gains": (np.float64, ("positions", "tried")),
        "errors": (np.float64, ("positions", "tried")),
    },
    "gin-rummy reproduce search/expert-iteration",
)


class Searched(NamedTuple):
    """Positions and the results of `search` in them."""

    states: np.ndarray
    """`STATE` records (n,); player 0 is to move."""
    tried: np.ndarray
    """The policy's choice and the next most probable actions, padded with `NO_ACTION`; int64 (n, k)."""
    gains: np.ndarray
    """Mean increase of the probability of winning over the policy's choice; float64 (n, k)."""
    errors: np.ndarray
    """Standard errors of the gains; float64 (n, k)."""

    def games(self) -> Games:
        """Return the positions as games, to read their views and candidates."""
        games = Games(len(self.states), episode="game")
        games.state[:] = self.states
        return games


# --- Searching ----------------------------------------------------------------------------------------


class Expert:
    """Blocks of positions searched by `search` and stored in the folder of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.searcher = SearchBot(samples=WORLDS)
        self.judge = SearchBot(samples=FUTURES, turns=TO_THE_END)

    def block(self, number: int) -> Searched:
        """Return a block of searched positions."""

        def search() -> Searched:
            policy, games = self.searcher.policy, self.run.size(GAMES, 2)
            all_of_them = 1000 * games  # more decisions than any game has
            states = positions(policy, policy, all_of_them, self.run.seed + number, SHARE, games)
            return search_positions(self.searcher, states, [self.run.seed, number, 0])

        return self._kept(f"block {number}", search)

    def in_other_worlds(self, number: int, block: Searched) -> Searched:
        """Return the block of this number, searched again in other worlds."""
        seed = [self.run.seed, number, 1]
        return self._kept(
            f"block {number} again", lambda: search_positions(self.searcher, block.states, seed)
        )

    def by_true_hands(self, number: int, block: Searched) -> Searched:
        """Return the same block with the gains for the true hands, over shuffled orders of the stock."""
        random = np.random.default_rng([self.run.seed, number, 2])
        return self._kept(f"block {number} true", lambda: true_gains(self.judge, block, random))

    def _kept(self, name: str, make: Callable[[], Searched]) -> Searched:
        path = self.run.folder / f"{name.replace(' ', '-')}.npz"
        if not path.exists():
            self.run.say(name)
            found = make()
            states = found.states.view(np.uint8).reshape(-1, STATE.itemsize)
            FORMAT.write(path, found._asdict() | {"states": states}, {})
        arrays, _ = FORMAT.read(path)
        return Searched(**arrays | {"states": arrays["states"].view(STATE)[:, 0]})


def search_positions(searcher: SearchBot, states: np.ndarray, seed: Sequence[int]) -> Searched:
    """Try the policy's most probable actions in `STATE` records (n,) with player 0 to move.

    All actions are tried in the same number of worlds. If the policy has only one action, it is recorded with
    a gain of 0.
    """
    tried = np.full((len(states), searcher.tried), NO_ACTION)
    gains, errors = np.zeros((2, *tried.shape))
    for number, state in enumerate(states):
        view = view_of(state)
        actions = searcher.likeliest(view)
        tried[number, : len(actions)] = actions
        if len(actions) > 1:
            worlds = searcher.belief.worlds(view, searcher.samples, np.random.default_rng([*seed, number]))
            mean, error = mean_and_error(searcher.gains(view, worlds, actions))
            gains[number, : len(actions)], errors[number, : len(actions)] = mean, error
    return Searched(states, tried, gains, errors)


def true_gains(judge: SearchBot, searched: Searched, random: np.random.Generator) -> Searched:
    """Return the positions with the judge's gains for the true hands, over `FUTURES` orders of the stock."""
    choice = np.flatnonzero(searched.tried[:, 1] != NO_ACTION)
    worlds = np.stack([shuffle_stock(state, FUTURES, random) for state in searched.states[choice]])
    number, place = np.nonzero(searched.tried[choice] != NO_ACTION)
    actions = np.repeat(searched.tried[choice[number], place], FUTURES)
    won = np.zeros((*searched.tried[choice].shape, FUTURES))
    won[number, place] = judge.won_after(worlds[number].ravel(), actions, 0).reshape(-1, FUTURES)
    won[number, place] -= won[number, 0]
    gains, errors = np.zeros((2, *searched.tried.shape))
    gains[choice], errors[choice] = mean_and_error(won)
    return searched._replace(gains=gains, errors=errors)


def choices_of_search(searched: Searched, caution: float) -> np.ndarray:
    """Return the actions that `search` plays, int64 (n,).

    This is the policy's choice unless another action is better by more than `caution` standard errors.
    """
    surely = np.where(searched.tried == NO_ACTION, -np.inf, searched.gains - caution * searched.errors)
    return searched.tried[np.arange(len(surely)), surely.argmax(axis=1)]


def joined(blocks: Sequence[Searched]) -> Searched:
    """Return several blocks as one."""
    return Searched(*map(np.concatenate, zip(*blocks, strict=True)))


# --- Learning -----------------------------------------------------------------------------------------


def teach(searcher: SearchBot, blocks: Sequence[Searched], lesson: str, scale: float) -> CandidatePolicyBot:
    """Return the searcher's policy after a lesson on these blocks."""
    import torch

    random = np.random.default_rng(0)
    before = searcher.policy.network
    network = copy.deepcopy(before).train()
    searched = joined(blocks)
    games, chosen = searched.games(), choices_of_search(searched, searcher.caution)
    tried, gains = searched.tried.clip(0), searched.gains  # an action that was not tried gains 0
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE)
    batches = EPOCHS * -(-len(games) // BATCH_SIZE)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0.05, batches)
    for _ in range(EPOCHS):
        for batch in np.array_split(random.permutation(len(games)), batches // EPOCHS):
            inputs = [torch.from_numpy(part) for part in games.candidates(batch)]
            log_chances = torch.log_softmax(network.action_logits(*inputs)[0], dim=1)
            if lesson == CHOICES:
                loss = -log_chances.gather(1, torch.from_numpy(chosen[batch, None])).mean()
            else:
                with torch.no_grad():
                    log_before = torch.log_softmax(before.action_logits(*inputs)[0], dim=1)
                chances = log_chances.exp()
                of_tried = chances.gather(1, torch.from_numpy(tried[batch]))
                gained = (of_tried * torch.from_numpy(gains[batch])).sum(dim=1)
                loss = ((chances * (log_chances - log_before)).sum(dim=1) - gained / scale).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            falling.step()
    return CandidatePolicyBot(network.eval(), name=f"policy taught {lesson}")


# --- Measuring ----------------------------------------------------------------------------------------


def choices(bot: CandidatePolicyBot, blocks: Sequence[Searched]) -> list[np.ndarray]:
    """Return a bot's actions in all positions of each block."""
    return [bot.act(games.views(games.everyone, 0)) for games in (block.games() for block in blocks)]


def judged(actions: Sequence[np.ndarray], blocks: Sequence[Searched]) -> Row:
    """Return the mean gain per decision of these actions over the policy's, in percentage points.

    An action that was not tried counts as the worst of the tried ones. The error is computed over blocks,
    which are independent of each other; positions of one game are not.
    """
    gains = []
    for chosen, block in zip(actions, blocks, strict=True):
        found = np.where(block.tried == chosen[:, None], block.gains, np.inf).min(axis=1)
        gains.append(100 * np.where(np.isinf(found), block.gains.min(axis=1), found).mean())
    return {
        "gain": round(float(np.mean(gains)), 4),
        "gain_error": round(float(np.std(gains, ddof=1)) / len(gains) ** 0.5, 4),
    }


def measure_expert_iteration(run: Run) -> list[Row]:
    """Measure both lessons by choices in positions set apart and by games against the policy and Simple."""
    run.used(f"search:samples={WORLDS}", "policy")
    expert = Expert(run)
    ends = np.cumsum([run.size(count, 2) for count in (LEARNED, CHOOSING, MEASURING)]).tolist()
    learned = [expert.block(number) for number in range(ends[0])]
    choosing = [expert.block(number) for number in range(ends[0], ends[1])]
    blocks = [expert.block(number) for number in range(ends[1], ends[2])]
    judges = {
        "worlds": [expert.in_other_worlds(*numbered) for numbered in enumerate(blocks, ends[1])],
        "true": [expert.by_true_hands(*numbered) for numbered in enumerate(blocks, ends[1])],
    }

    def row(actions: Sequence[np.ndarray], **about: Any) -> Row:
        for judge, judging in judges.items():
            about |= {f"{judge}_{key}": value for key, value in judged(actions, judging).items()}
        others = [(chosen != block.tried[:, 0]).mean() for chosen, block in zip(actions, blocks, strict=True)]
        run.say(str(about))
        return about | {"changed": percent(float(np.mean(others)))}

    searcher = expert.searcher
    searched = [choices_of_search(block, searcher.caution) for block in blocks]
    rows = [row(searched, taught="nothing: search itself", scale=None, positions=None, selected=False)]
    for lesson, scales in SCALES.items():
        bots = {scale: teach(searcher, learned, lesson, scale) for scale in run.some(scales, 1)}
        best = max(bots, key=lambda scale: judged(choices(bots[scale], choosing), choosing)["gain"])
        parts = [learned[: max(int(share * len(learned)), 1)] for share in run.some(PARTS, 1)]
        trials = [(best, part, teach(searcher, part, lesson, best)) for part in parts]
        trials += [(scale, learned, bot) for scale, bot in bots.items()]
        for scale, part, bot in trials:
            about = {"taught": lesson, "scale": scale or None, "selected": bot is bots[best]}
            positions_learned = sum(len(block.states) for block in part)
            rows.append(row(choices(bot, blocks), **about, positions=positions_learned))
        for opponent in run.some(("policy", "simple"), 1):
            rows.append(match_row(run.match(bots[best], opponent, MATCH_GAMES)))
    return rows


def expert_iteration_table(rows: Sequence[Row]) -> str:
    """Return a table of each network's gain per decision, and one of the selected networks' matches."""
    lines = [
        (
            row["taught"],
            row["scale"] or "",
            f"{row['positions']:,}" if row["positions"] else "",
            *(
                f"{row[f'{judge}_gain']:+.3f} ± {row[f'{judge}_gain_error']:.3f}"
                for judge in ("worlds", "true")
            ),
            f"{row['changed']:.1f}",
            "yes" if row["selected"] else "",
        )
        for row in rows
        if "taught" in row
    ]
    header = [
        "trained on",
        "scale",
        "positions",
        "gain in other worlds",
        "gain with the true hands",
        "decisions changed, %",
        "selected",
    ]
    matches = [
        (f"{shown(row['bot'])} against `{row['opponent']}`", f"{row['games']:,}", interval(row))
        for row in rows
        if "bot" in row
    ]
    titles = ["match", "games", "games won (95 % interval)"]
    return f"{markdown(header, lines, 'lrrrrrl')}\n\n{markdown(titles, matches, 'lrr')}"
