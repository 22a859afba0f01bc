"""Expert iteration: the policy's network learns from what looking ahead finds, and plays as fast as before.

Positions come from games of the policy against itself. In each, `search` tries the policy's likeliest actions
in worlds; a copy of the network learns from that, by one of two lessons: to choose as `search` chooses
(Anthony, Tian and Barber, "Thinking Fast and Slow with Deep Learning and Tree Search", NIPS 2017), or to move
towards what gained, as far as it gained. A choice is wrong whenever chance decided it; in the second lesson
chance cancels over the positions.

Some positions are learned, others choose the settings, others measure: there a network's choices are judged
by gains that it has not seen.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gin_env.agents.candidate_policy import CandidatePolicyBot
from gin_env.agents.search import SearchBot
from gin_env.batch import Games
from gin_env.candidates import NO_ACTION
from gin_env.reproduce.experiments import Row, Run, interval, markdown, match_row
from gin_env.reproduce.one_step import positions, view_of
from gin_env.state import STATE
from gin_env.support.array_files import ArrayFormat

WORLDS = 64
GAMES, SHARE = 250, 0.1
"""Games of a block, and the share of their decisions that become positions: about 2,000."""
LEARNED, CHOOSING, MEASURING = 160, 20, 20
"""Blocks that are learned, that choose the settings, and that measure."""
EPOCHS, BATCH_SIZE, LEARNING_RATE = 8, 1024, 5e-4
CHOICES, GAINS = "to choose as search does", "to move towards what gained"
SCALES = {CHOICES: (0.0,), GAINS: (0.03, 0.01, 0.003)}
"""In the second lesson, an action that gains so much, in chances to win, is to be e times as likely."""
PARTS = (0.25, 0.5)
"""Shares of the learned blocks from which the best setting of a lesson is learned too."""
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
    """Positions, and what `search` found there."""

    states: np.ndarray
    """`STATE` records (n,); player 0 is to move."""
    tried: np.ndarray
    """int64 (n, k): the policy's choice, then others that are likely; `NO_ACTION` where there are fewer."""
    gains: np.ndarray
    """float64 (n, k): how much likelier the win is than after the policy's choice, on average."""
    errors: np.ndarray
    """float64 (n, k): standard errors of the gains."""

    def games(self) -> Games:
        """The positions as games to look at."""
        games = Games(len(self.states), episode="game")
        games.state[:] = self.states
        return games


# --- Searching ----------------------------------------------------------------------------------------


def search_block(run: Run, searcher: SearchBot, number: int, again: int = 0) -> Searched:
    """A block of positions, from the run's folder if it is there; `again`: the same in other worlds."""
    path = run.folder / f"block-{number}-{again}.npz"
    if not path.exists():
        run.say(f"block {number}{', again in other worlds' if again else ''}")
        policy, games = searcher.policy, run.size(GAMES, 2)
        states = positions(policy, policy, GAMES * 100, run.seed + number, SHARE, games)
        found = search_positions(searcher, states, [run.seed, number, again])
        arrays = found._asdict() | {"states": found.states.view(np.uint8).reshape(-1, STATE.itemsize)}
        FORMAT.write(path, arrays, {})
    arrays, _ = FORMAT.read(path)
    return Searched(**arrays | {"states": arrays["states"].view(STATE)[:, 0]})


def search_positions(searcher: SearchBot, states: np.ndarray, seed: Sequence[int]) -> Searched:
    """Try the policy's likeliest actions at `STATE` records (n,), player 0 to move, all in as many worlds.

    Where the policy sees no choice, its action alone is noted.
    """
    tried = np.full((len(states), searcher.tried), NO_ACTION)
    gains, errors = np.zeros((2, *tried.shape))
    for number, state in enumerate(states):
        view = view_of(state)
        actions = searcher.likeliest(view)
        tried[number, : len(actions)] = actions
        if len(actions) > 1:
            worlds = searcher.belief.worlds(view, searcher.samples, np.random.default_rng([*seed, number]))
            found = searcher.gains(view, worlds, actions)
            gains[number, : len(actions)] = found.mean(axis=1)
            errors[number, : len(actions)] = found.std(axis=1, ddof=1) / found.shape[1] ** 0.5
    return Searched(states, tried, gains, errors)


def choices_of_search(searched: Searched, caution: float) -> np.ndarray:
    """int64 (n,): the actions that `search` plays: the policy's choice unless another is surely better."""
    surely = np.where(searched.tried == NO_ACTION, -np.inf, searched.gains - caution * searched.errors)
    return searched.tried[np.arange(len(surely)), surely.argmax(axis=1)]


def joined(blocks: Sequence[Searched]) -> Searched:
    """Blocks as one."""
    return Searched(*map(np.concatenate, zip(*blocks, strict=True)))


# --- Learning -----------------------------------------------------------------------------------------


def teach(searcher: SearchBot, blocks: Sequence[Searched], lesson: str, scale: float) -> CandidatePolicyBot:
    """The searcher's policy after a lesson from these blocks."""
    import torch

    torch.manual_seed(0)
    random = np.random.default_rng(0)
    before = searcher.policy.network
    network = copy.deepcopy(before).train()
    searched = joined(blocks)
    games, chosen = searched.games(), choices_of_search(searched, searcher.caution)
    tried, gains = searched.tried.clip(0), searched.gains  # what was not tried gained 0
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
    """The actions of a bot at all positions of each block."""
    return [bot.act(games.views(games.everyone, 0)) for games in (block.games() for block in blocks)]


def judged(actions: Sequence[np.ndarray], blocks: Sequence[Searched]) -> Row:
    """What these actions gain over the policy's in a decision, in points of 100, and how many are others.

    An action that was not tried counts as the worst of those that were. The blocks are independent of each
    other, unlike positions of one game.
    """
    gains, changed = [], []
    for chosen, block in zip(actions, blocks, strict=True):
        found = np.where(block.tried == chosen[:, None], block.gains, np.inf).min(axis=1)
        gains.append(np.where(np.isinf(found), block.gains.min(axis=1), found).mean())
        changed.append((chosen != block.tried[:, 0]).mean())
    return {
        "gain": round(100 * float(np.mean(gains)), 4),
        "gain_error": round(100 * float(np.std(gains, ddof=1)) / len(gains) ** 0.5, 4),
        "changed": round(float(np.mean(changed)), 4),
    }


def measure_expert_iteration(run: Run) -> list[Row]:
    """Both lessons: choices at positions set apart, and games against the policy and Simple."""
    searcher = SearchBot(samples=WORLDS)
    run.used(f"search:samples={WORLDS}", "policy")
    counts = [run.size(count, 2) for count in (LEARNED, CHOOSING, MEASURING)]
    ends = np.cumsum(counts).tolist()
    blocks = [search_block(run, searcher, number) for number in range(ends[2])]
    learned, choosing, measuring = blocks[: ends[0]], blocks[ends[0] : ends[1]], blocks[ends[1] :]
    in_other_worlds = [search_block(run, searcher, number, again=1) for number in range(ends[1], ends[2])]
    chosen = [choices_of_search(block, searcher.caution) for block in measuring]
    rows = [{"taught": "nothing: search itself", "positions": 0} | judged(chosen, in_other_worlds)]
    in_both = [
        one._replace(gains=(one.gains + other.gains) / 2)
        for one, other in zip(measuring, in_other_worlds, strict=True)
    ]
    for lesson, scales in SCALES.items():
        bots = {scale: teach(searcher, learned, lesson, scale) for scale in run.some(scales, 1)}
        best = max(bots, key=lambda scale: judged(choices(bots[scale], choosing), choosing)["gain"])
        parts = [learned[: max(int(share * len(learned)), 1)] for share in run.some(PARTS, 1)]
        trials = [(best, part, teach(searcher, part, lesson, best)) for part in parts]
        trials += [(scale, learned, bot) for scale, bot in bots.items()]
        for scale, part, bot in trials:
            row = {"taught": lesson, "scale": scale, "positions": sum(len(block.states) for block in part)}
            rows.append(row | judged(choices(bot, in_both), in_both) | {"selected": bot is bots[best]})
            run.say(str(rows[-1]))
        rows += [
            match_row(run.match(bots[best], opponent, MATCH_GAMES))
            for opponent in run.some(("policy", "simple"), 1)
        ]
    return rows


def expert_iteration_table(rows: Sequence[Row]) -> str:
    """What each network gains in a decision; then the matches of the selected ones."""
    lines = [
        (
            row["taught"],
            row.get("scale") or "",
            f"{row['positions']:,}" if row["positions"] else "",
            f"{row['gain']:+.3f} ± {row['gain_error']:.3f}",
            f"{100 * row['changed']:.1f}",
            "yes" if row.get("selected") else "",
        )
        for row in rows
        if "taught" in row
    ]
    header = [
        "taught", "scale", "positions learned", "chance to win, points of 100", "decisions changed, %",
        "selected",
    ]  # fmt: skip
    matches = [
        (f"{row['bot']} against `{row['opponent']}`", f"{row['games']:,}", interval(row))
        for row in rows
        if "bot" in row
    ]
    titles = ["match", "games", "games won (95 % interval)"]
    return f"{markdown(header, lines, 'lrrrrl')}\n\n{markdown(titles, matches, 'lrr')}"
