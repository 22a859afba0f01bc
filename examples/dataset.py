"""Make a data set of many hands: Parquet files of a fixed number of hands each.

    python examples/dataset.py hands --workers all
    python examples/dataset.py small --hands 20000 --estimator bayes

>>> make("hands", hands=1_000_000, bot="policy", estimator="bayes")       # the same in Python
>>> for batch in load("hands"):
...     batch.actions, batch.beliefs, batch.opponent_hands  # one entry for each decision

The same command continues an interrupted run; more ``--hands`` make the data set larger. A bot plays both
seats. The hands of a file depend only on the seed and on their numbers, so any number of workers makes the
same bytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Literal

import numpy as np
import typer

from gin_env import agents, estimators
from gin_env.agents.turns import check_bot_actions
from gin_env.batch import Games
from gin_env.commands.options import BOT_HELP, Ray, RulesOption, Seed, WorkerCount, progress_bar, workers_of
from gin_env.estimators.base import advance_slots
from gin_env.game.batch_kernels import HAND_RESULT
from gin_env.game.cards import NUM_CARDS
from gin_env.game.rules import Rules, check_rules
from gin_env.game.state import OUTCOME_NAMES
from gin_env.game.streams import check_seed
from gin_env.records.games import GameRecord, HandRecord, Player, with_end
from gin_env.support.atomic import check_folder, remove_partials, write_bytes, write_text
from gin_env.support.checks import check_integer
from gin_env.support.exits import command_line
from gin_env.support.threads import torch_threads
from gin_env.support.version import __version__
from gin_env.support.workers import Workers, opened

FORMAT, VERSION = "gin-env hands", 1
BATCH_SIZE = 2048
"""Hands played at the same time; part of the format, since networks' estimates depend on it by about 1e-7."""
_KEY = b"gin-env"
NO_BELIEFS = "none"
"""Value of ``--estimator`` for a data set without beliefs."""


@dataclass(frozen=True)
class DataSetShard:
    """One file of a data set."""

    seed: int
    bot: str
    estimator: str | None
    first: int
    """Number of its first hand."""
    num_hands: int
    rules: Rules = field(default_factory=Rules)

    def description(self) -> dict[str, Any]:
        """Return what the file says about itself."""
        return {"format": FORMAT, "version": VERSION, "release": __version__} | asdict(self)


@dataclass(frozen=True, eq=False)
class Hands:
    """The hands of one file: h hands with n decisions together."""

    description: dict[str, Any]
    numbers: np.ndarray
    """int64 (h,): numbers of the hands in the data set."""
    dealers: np.ndarray
    """uint8 (h,)."""
    decks: np.ndarray
    """uint8 (h, 52): card ids in dealing order; a smaller deck is followed by zeros."""
    outcomes: np.ndarray
    """str (h,): ``"knock"``, ``"gin"``, ``"big gin"``, ``"undercut"`` or ``"void"``."""
    winners: np.ndarray
    """int8 (h,): -1 if the hand is void."""
    knockers: np.ndarray
    """int8 (h,): -1 if nobody knocked."""
    points: np.ndarray
    """int16 (h,): points scored by the winner."""
    starts: np.ndarray
    """int64 (h + 1,): the decisions of hand i are those from ``starts[i]`` to ``starts[i + 1]``."""
    players: np.ndarray
    """uint8 (n,): who decided."""
    actions: np.ndarray
    """uint8 (n,)."""
    own_hands: np.ndarray
    """uint64 (n,): the cards of the player who decided, as a mask, before the action."""
    opponent_hands: np.ndarray
    """uint64 (n,): the cards of the opponent."""
    beliefs: np.ndarray | None
    """float16 (n, 52): the probability for each card that the opponent holds it; None without estimator."""

    def __len__(self) -> int:
        return len(self.numbers)

    def record(self, index: int) -> GameRecord:
        """Return one hand as a record, which replays every position (`GameRecord.positions`)."""
        rules = Rules(**self.description["rules"])
        hand = HandRecord(
            dealer=int(self.dealers[index]),
            scores=(0, 0),
            deck=tuple(self.decks[index, : rules.deck_size].tolist()),
            actions=tuple(self.actions[self.starts[index] : self.starts[index + 1]].tolist()),
        )
        player = Player(self.description["bot"], self.description["bot"])
        return GameRecord(
            (player, player),
            (with_end(hand, rules),),
            rules,
            episode="hand",
            seed=self.description["seed"],
            number=int(self.numbers[index]),
        )


def make(
    folder: str | Path,
    hands: int = 1_000_000,
    shard_size: int = 10_000,
    seed: int = 0,
    *,
    bot: str = "policy",
    estimator: str | None = "suit-equivariant:weights=policy",
    rules: Rules | None = None,
    workers: int | Literal["all"] | Workers = 1,
    progress: Callable[[int], object] | None = None,
) -> list[Path]:
    """Make a data set, or the files of it that are missing.

    Parameters
    ----------
    folder : receives ``README.md`` (the data card) and ``data/hands-00000.parquet`` and so on.
    hands, shard_size : number of hands in all and in each file.
    seed : determines the deals and all random choices.
    bot : name of the bot that plays both seats; it may start a program or import a module.
    estimator : makes the beliefs; None: the data set has none.
    rules : the rules of the hands; default: `Rules()`.
    workers : as for `play_match`; the files do not depend on it.
    progress : called with the number of hands of each file that is complete.

    Returns
    -------
    list of Path
        All files, in order.

    Raises
    ------
    ImportError
        Without pyarrow.
    TypeError
        For rules that are not `Rules`.
    ValueError
        For an unknown bot or estimator, or if the folder holds another data set or more hands.
    """
    _pyarrow()
    folder, seed = Path(folder), check_seed(seed)
    hands = check_integer("hands", hands, 1, 1 << 40)
    shard_size = check_integer("shard_size", shard_size, 1, 1_000_000)
    rules = check_rules(rules)
    agents.make(bot, programs=True)
    if estimator is not None:
        estimators.make(estimator)
    data = folder / "data"
    check_folder(data)
    data.mkdir(parents=True, exist_ok=True)
    remove_partials(data)
    shards = [
        DataSetShard(seed, bot, estimator, first, min(shard_size, hands - first), rules)
        for first in range(0, hands, shard_size)
    ]
    paths = [data / f"hands-{index:05}.parquet" for index in range(len(shards))]
    missing = []
    for path, shard in zip(paths, shards, strict=True):
        if path.exists() and not _is_shorter(path, shard):
            if progress is not None:
                progress(shard.num_hands)
            continue
        missing.append((path, shard))
    if surplus := sorted(set(data.glob("hands-*.parquet")) - set(paths)):
        raise ValueError(f"{surplus[0]} belongs to a larger data set; choose another folder")
    with opened(workers) as crew:
        contents = crew.map(make_shard, [shard for _, shard in missing])
        for (path, shard), content in zip(missing, contents, strict=True):
            write_bytes(path, content)
            if progress is not None:
                progress(shard.num_hands)
    write_text(folder / "README.md", data_card(paths))
    return paths


def _is_shorter(path: Path, shard: DataSetShard) -> bool:
    """Return whether a file has only the first hands of the shard. Raises ValueError for other hands."""
    present, wanted = _description(path), shard.description()
    if present | {"num_hands": shard.num_hands} != wanted or present["num_hands"] > shard.num_hands:
        raise ValueError(f"{path} belongs to another data set; choose another folder")
    return present["num_hands"] < shard.num_hands


def make_shard(shard: DataSetShard) -> bytes:
    """Return the content of a file."""
    numbers = np.arange(shard.first, shard.first + shard.num_hands)
    with torch_threads(1):
        parts = [
            _play(shard, numbers[start : start + BATCH_SIZE]) for start in range(0, len(numbers), BATCH_SIZE)
        ]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return _write(columns, shard)


def _play(shard: DataSetShard, numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Play hands in one batch and return their columns; decisions are ordered by hand."""
    bot = agents.make(shard.bot, programs=True)
    estimator = None if shard.estimator is None else estimators.make(shard.estimator)
    memory = np.empty(0) if estimator is None else estimator.new_memory(2 * len(numbers))
    games = Games(len(numbers), shard.rules)
    games.start(seed=shard.seed, episodes=numbers.astype(np.uint64))
    columns: dict[str, np.ndarray] = {"dealer": games.state["public"]["dealer"].astype(np.uint8)}
    columns["deck"] = games.state["hidden"]["deck"].astype(np.uint8)
    results = np.zeros(len(numbers), HAND_RESULT)
    steps: list[tuple[np.ndarray, ...]] = []
    for playing in games.until_over():
        players = games.to_move()[playing].astype(np.int64)
        both = games.state["private"]["hand"][playing]
        everyone = np.arange(len(playing))
        own, other = both[everyone, players], both[everyone, 1 - players]
        view = games.views(playing)
        beliefs = np.empty((len(playing), 0))
        if estimator is not None:
            beliefs = advance_slots(estimator, view, other, memory, 2 * playing + players)
        actions = check_bot_actions(bot, bot.act(view), len(playing))
        games.play(playing, actions, who=f"bot {bot.name!r}")
        ended = playing[games.done[playing]]
        results[ended] = games.results[ended]
        steps.append((playing, players, actions, own, other, beliefs.astype(np.float16)))
    hand, player, action, own, other, belief = (np.concatenate(column) for column in zip(*steps, strict=True))
    order = np.argsort(hand, kind="stable")
    columns |= {name: results[name] for name in ("outcome", "winner", "knocker", "points")}
    columns |= {"number": numbers, "length": np.bincount(hand, minlength=len(numbers))}
    columns |= {"player": player[order].astype(np.uint8), "action": action[order].astype(np.uint8)}
    return columns | {"own_hand": own[order], "opponent_hand": other[order], "belief": belief[order]}


def _write(columns: dict[str, np.ndarray], shard: DataSetShard) -> bytes:
    pa, parquet = _pyarrow()
    starts = pa.array(np.concatenate([[0], np.cumsum(columns["length"])]).astype(np.int32))

    def each_decision(values: Any) -> Any:
        return pa.ListArray.from_arrays(starts, values)

    names = pa.array([*OUTCOME_NAMES])
    decks = pa.FixedSizeListArray.from_arrays(pa.array(columns["deck"].reshape(-1)), NUM_CARDS)
    arrays = {
        "hand": pa.array(columns["number"]),
        "dealer": pa.array(columns["dealer"]),
        "deck": decks,
        "outcome": names.take(pa.array(columns["outcome"].astype(np.int32))),
        "winner": pa.array(columns["winner"]),
        "knocker": pa.array(columns["knocker"]),
        "points": pa.array(columns["points"]),
        "player": each_decision(pa.array(columns["player"])),
        "action": each_decision(pa.array(columns["action"])),
        "own_hand": each_decision(pa.array(columns["own_hand"])),
        "opponent_hand": each_decision(pa.array(columns["opponent_hand"])),
    }
    if shard.estimator is not None:
        beliefs = pa.FixedSizeListArray.from_arrays(pa.array(columns["belief"].reshape(-1)), NUM_CARDS)
        arrays["belief"] = each_decision(beliefs)
    table = pa.table(arrays).replace_schema_metadata({_KEY: json.dumps(shard.description())})
    content = io.BytesIO()
    parquet.write_table(table, content, compression="zstd", compression_level=6, row_group_size=1000)
    return content.getvalue()


def load(folder: str | Path) -> Iterator[Hands]:
    """Iterate over the files of a data set, in order.

    Raises FileNotFoundError if the folder has none, ValueError for a file of another kind, ImportError
    without pyarrow.
    """
    paths = sorted(Path(folder).glob("data/hands-*.parquet"))
    if not paths:
        raise FileNotFoundError(f"{folder} is not a data set: it has no data/hands-*.parquet")
    return map(load_file, paths)


def load_file(path: str | Path) -> Hands:
    """Return the hands of one file. Errors are those of `load`."""
    _, parquet = _pyarrow()
    description = _description(Path(path))
    table = parquet.read_table(path).combine_chunks()

    def values(name: str) -> Any:
        return table[name].combine_chunks()

    def numpy(array: Any) -> np.ndarray:
        return np.asarray(array.to_numpy(zero_copy_only=False))

    lists = {name: values(name) for name in ("player", "action", "own_hand", "opponent_hand")}
    beliefs = None
    if description["estimator"] is not None:
        beliefs = numpy(values("belief").flatten().flatten()).reshape(-1, NUM_CARDS)
    return Hands(
        description=description,
        numbers=numpy(values("hand")),
        dealers=numpy(values("dealer")),
        decks=numpy(values("deck").flatten()).reshape(-1, NUM_CARDS),
        outcomes=numpy(values("outcome")).astype(str),
        winners=numpy(values("winner")),
        knockers=numpy(values("knocker")),
        points=numpy(values("points")),
        starts=numpy(lists["action"].offsets).astype(np.int64),
        players=numpy(lists["player"].flatten()),
        actions=numpy(lists["action"].flatten()),
        own_hands=numpy(lists["own_hand"].flatten()),
        opponent_hands=numpy(lists["opponent_hand"].flatten()),
        beliefs=beliefs,
    )


def _description(path: Path) -> dict[str, Any]:
    """Return what a file says about itself. Raises ValueError unless it is one of ours."""
    pa, parquet = _pyarrow()
    try:
        description: dict[str, Any] = json.loads((parquet.read_schema(path).metadata or {})[_KEY])
    except (pa.ArrowInvalid, KeyError) as error:
        raise ValueError(f"{path} is not a file of hands: {error}") from error
    if (description.get("format"), description.get("version")) != (FORMAT, VERSION):
        raise ValueError(f"{path} has an unknown format; this release reads {FORMAT} {VERSION}")
    return description


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError('data sets need pyarrow: pip install "gin-env[data]"') from error
    return pyarrow, parquet


def data_card(paths: list[Path]) -> str:
    """Return the README of a data set, with the header that the Hugging Face hub reads."""
    _, parquet = _pyarrow()
    metadata = [parquet.read_metadata(path) for path in paths]
    about, num_hands = _description(paths[0]), sum(each.num_rows for each in metadata)
    rules = Rules(**about["rules"])
    size = sum(path.stat().st_size for path in paths) / 1e6
    command = f"python examples/dataset.py FOLDER --hands {num_hands} --shard-size {about['num_hands']}"
    command += (
        f" --seed {about['seed']} --bot {quote(about['bot'])} --estimator {about['estimator'] or NO_BELIEFS}"
    )
    command += "" if rules == Rules() else f" --rules {rules.text}"
    beliefs, columns_present = "", dict(_COLUMNS)
    if about["estimator"] is None:
        del columns_present["belief`*"]
    else:
        beliefs = (
            "At every decision, the probability that the opponent holds each card, by the estimator "
            f"`{about['estimator']}`. Beliefs are wrong where their model is; `opponent_hand` is the truth. "
        )
    columns = "\n".join(f"| `{name} | {meaning} |" for name, meaning in columns_present.items())
    return f"""\
---
license: mit
pretty_name: Gin Rummy hands of {about["bot"]}
task_categories: [reinforcement-learning]
tags: [gin-rummy, card-game, imperfect-information, self-play, opponent-modeling]
configs:
- config_name: default
  data_files: data/*.parquet
---

# Gin Rummy hands of {about["bot"]}

{num_hands:,} hands of Gin Rummy, played by the bot `{about["bot"]}` of gin-env {about["release"]} against \
itself, with both players' cards and every action. {beliefs}{len(paths)} Parquet files (zstd), {size:,.1f} MB.

One row is one hand. Columns marked * hold a list with one entry for each decision of the hand.

| column | meaning |
|---|---|
{columns}

Card ids are `suit * 13 + rank` with suits CHSD and ranks A to K; bit `id` of a mask is the card. Actions: \
0-51 discard the card, 52-103 knock with card `action - 52`, 104 draw from the stock, 105 draw the upcard, \
106 pass. The rules are gin-env's `{rules.text}`; each file's metadata (key `gin-env`) has their numbers.

```python
from examples import dataset

for hands in dataset.load("FOLDER"):
    print(hands.actions.shape, hands.own_hands.shape)  # the decisions of all hands of a file
    print(hands.record(0).positions()[0].view())      # what the player knew, as a view or observation
```

- **Made by** `{command}`. The same command gives the same bytes with the same versions of gin-env, pyarrow \
and the libraries that networks need.
- **For** learning to imitate, to estimate hidden cards and to model opponents; no person took part.
- **Not for** conclusions about how people play: one bot plays both seats, and there are no scores before a \
hand.
"""


_COLUMNS = {
    "hand`": "number of the hand",
    "dealer`": "player who deals, 0 or 1",
    "deck`": "52 card ids in dealing order: both hands alternately, player 0 first, the upcard, the stock",
    "outcome`": "`knock`, `gin`, `big gin`, `undercut` or `void`",
    "winner`": "0, 1, or -1 if the hand is void",
    "knocker`": "0, 1, or -1 if nobody knocked",
    "points`": "points scored by the winner",
    "player`*": "who decides",
    "action`*": "the action that they take",
    "own_hand`*": "their cards before the action, as a mask of 64 bits",
    "opponent_hand`*": "the opponent's cards, as a mask",
    "belief`*": "52 probabilities (float16) that the opponent holds the card",
}
"""The columns and their meanings; * marks lists."""


def main(
    folder: Annotated[Path, typer.Argument(help="Folder of the data set")],
    hands: Annotated[int, typer.Option(help="Number of hands")] = 1_000_000,
    shard_size: Annotated[int, typer.Option(help="Number of hands in each file")] = 10_000,
    bot: Annotated[str, typer.Option(help=f"Bot that plays both seats. {BOT_HELP}")] = "policy",
    estimator: Annotated[
        str, typer.Option(help=f"Estimator of the opponent's hand, or {NO_BELIEFS} for no beliefs")
    ] = "suit-equivariant:weights=policy",
    seed: Seed = 0,
    rules: RulesOption = None,
    workers: WorkerCount = None,
    ray: Ray = None,
) -> None:
    """Write hands of a bot against itself, with beliefs, as Parquet files with a data card."""
    with workers_of(workers, ray) as crew, progress_bar(hands, "hand") as progress:
        paths = make(
            folder,
            hands,
            shard_size,
            seed,
            bot=bot,
            estimator=None if estimator == NO_BELIEFS else estimator,
            rules=rules,
            workers=crew,
            progress=progress.update,
        )
    written = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    typer.echo(f"{written} in {folder}; the data card is {folder / 'README.md'}")


if __name__ == "__main__":
    command_line("dataset.py", lambda: typer.run(main))
