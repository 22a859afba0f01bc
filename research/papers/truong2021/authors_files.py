"""Files in the repository of Truong and Neller 2021's authors: their networks, data and logs.

https://github.com/sangttruong/ginrummy holds eight of the fourteen networks of Table 1 as TensorFlow
checkpoints, the losses of most epochs, 779 rows of Random-256, and the player (ginrummy/DualInception.java,
models/Server.py). The networks fit our architectures weight by weight. gin-env contains none of these files.
"""

from __future__ import annotations

import csv
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from gin_env.agents.hand_strength.networks import FILTER_WIDTHS, HandStrength, Inception
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from research.recipes.hand_strength.architectures import INTERACTIONS, Interactions, build

REPOSITORY_002 = "https://github.com/sangttruong/ginrummy"
MACRO_COLUMNS = [2, 1, 0, 3]
"""Indices of our macro-features (deadwood, sets, runs, hits) in the authors' (runs, sets, deadwood, hits)."""


@dataclass(frozen=True)
class Source:
    """Files of the repository with a network of Table 1 and the games that it played."""

    architecture: str
    checkpoint: str
    games: str = ""
    """File with the number of games that it won; empty if there is none."""
    training: str = ""
    """File with the output of its training; empty if there is none."""


_FILES = tomllib.loads(Path(__file__).with_name("authors.toml").read_text(encoding="utf-8"))
SOURCES = {name: Source(**one) for name, one in _FILES["sources"].items()}
LOSSES: dict[str, str] = _FILES["losses"]
"""Network of Table 1 -> file in ``results`` and end of the columns with its losses by epoch."""
SAMPLE = "data/Random256Val-sample.csv"


def authors_network(architecture: str, tensors: dict[str, np.ndarray]) -> HandStrength:
    """Return the network with a checkpoint's tensors.

    The order of the layers is: filters of the estimate (4, 3, 2 cards wide), filters of the hand, hidden
    layer, output. The inputs of the hidden layer are macro-features, estimate and hand. Outputs of filters
    are ordered by place, with the channels last. Raises ValueError if the tensors do not fit the
    architecture.
    """
    network, wrong = build(architecture), f"the checkpoint is not one of {architecture}"

    def layer(number: int) -> tuple[np.ndarray, np.ndarray]:
        name = f"layer_with_weights-{number}/{{}}/.ATTRIBUTES/VARIABLE_VALUE"
        try:
            return tensors[name.format("kernel")], tensors[name.format("bias")]
        except KeyError as error:
            raise ValueError(f"{wrong}: {error} is missing") from error

    parts = (network.opponent, network.hand)
    values: dict[str, np.ndarray] = {}
    first_dense = 0
    orders = []
    for name, part in zip(("opponent", "hand"), parts, strict=True):
        if isinstance(part, Inception):
            for position in reversed(range(len(FILTER_WIDTHS))):
                kernel, values[f"{name}.filters.{position}.bias"] = layer(first_dense)
                if kernel.ndim != 4:
                    raise ValueError(f"{wrong}: it has too few filters")
                values[f"{name}.filters.{position}.weight"] = kernel.transpose(3, 2, 0, 1)
                first_dense += 1
        orders.append(_places(part))
    kernel, bias = layer(first_dense)
    output, values["output.bias"] = layer(first_dense + 1)
    sizes = [4, parts[0].size, parts[1].size]
    if kernel.shape[0] != sum(sizes):
        raise ValueError(f"{wrong}: {kernel.shape[0]} inputs, not {sum(sizes)}")
    macro, opponent, hand = np.split(kernel, np.cumsum(sizes)[:-1])
    values["from_opponent.weight"] = opponent[orders[0]].T
    values["from_hand.weight"] = np.concatenate([hand[orders[1]], macro[MACRO_COLUMNS]]).T
    values["from_hand.bias"], values["output.weight"] = bias, output.T
    for name, expected in network.state_dict().items():
        if tuple(expected.shape) != values[name].shape:
            raise ValueError(f"{wrong}: {name} is {values[name].shape}, not {tuple(expected.shape)}")
    network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in values.items()})
    return network.eval()


_PLACES = sum((NUM_SUITS + 1 - width) * (NUM_RANKS + 1 - width) for width in FILTER_WIDTHS)
"""Number of outputs of one filter of each width together."""


def _places(part: object) -> np.ndarray:
    """Return the index of each of our features among the authors', int64 (size,)."""
    if isinstance(part, Inception):
        places, start = list[np.ndarray](), 0
        for width in reversed(FILTER_WIDTHS):
            shape = (NUM_SUITS + 1 - width, NUM_RANKS + 1 - width, part.size // _PLACES)
            places.append(start + np.arange(np.prod(shape)).reshape(shape).transpose(2, 0, 1).ravel())
            start += places[-1].size
        return np.concatenate(places[::-1])
    if isinstance(part, Interactions):
        theirs = {pair: place for place, pair in enumerate(_authors_interactions())}
        return np.array([theirs[min(pair), max(pair)] for pair in map(tuple, INTERACTIONS.tolist())])
    return np.arange(NUM_CARDS)


def _authors_interactions() -> list[tuple[int, int]]:
    """Return the pairs of cards in the order of addGeoRelation_Numpy in models/Server.py."""
    pairs = []
    for rank in range(NUM_RANKS):
        for card in range(rank, NUM_CARDS, NUM_RANKS):
            pairs += [(card, other) for other in range(card + NUM_RANKS, NUM_CARDS, NUM_RANKS)]
            if rank < NUM_RANKS - 1:
                pairs.append((card, card + 1))
    return pairs


@dataclass(frozen=True)
class Sample:
    """Rows of the authors' Random-256.

    Scores float64 (n,), hands as masks uint64 (n,), macro-features (deadwood, sets, runs, hits)
    float32 (n, 4), and estimates float32 (n, 52).
    """

    scores: np.ndarray
    hands: np.ndarray
    macro: np.ndarray
    estimates: np.ndarray


def read_sample(path: Path) -> Sample:
    """Read the authors' rows of a data set.

    Raises FileNotFoundError if there is no such file, and ValueError if a column is missing.
    """
    with path.open(newline="") as file:
        header, *lines = csv.reader(file)
    columns = {name: place for place, name in enumerate(header)}
    suits = "ABCD"
    names = [f"{rank}{suit}" for suit in suits for rank in range(1, NUM_RANKS + 1)]
    macro = ["Deadwood0", "SetNum0", "RunNum0", "Hitscore0"]
    wanted = ["score0_mean", *macro, *names, *(f"e{name}" for name in names)]
    if missing := [name for name in wanted if name not in columns]:
        raise ValueError(f"{path} must have a column {missing[0]}")
    table = np.array(lines, np.float64)[:, [columns[name] for name in wanted]]
    held = table[:, 5 : 5 + NUM_CARDS].astype(np.uint64)
    return Sample(
        scores=table[:, 0],
        hands=(held << np.arange(NUM_CARDS, dtype=np.uint64)).sum(axis=1, dtype=np.uint64),
        macro=table[:, 1:5].astype(np.float32),
        estimates=table[:, 5 + NUM_CARDS :].astype(np.float32),
    )


def logged_games(path: Path) -> tuple[int, int]:
    """Return (games won by the network, games), summed over the ``Games Won: P0:53, P1:47.`` of a log."""
    found = re.findall(r"Won: P0:(\d+), P1:(\d+)", path.read_text())
    won, lost = (sum(int(pair[side]) for pair in found) for side in (0, 1))
    return won, won + lost


def last_loss(path: Path) -> float:
    """Return the last validation loss in the output of a training."""
    return float(re.findall(r"val_loss: ([\d.]+)", path.read_text())[-1])


def logged_losses(folder: Path, losses: str) -> tuple[list[float], list[float]]:
    """Return the lists of (training, validation) losses of all epochs; `losses` is one of `LOSSES`."""
    name, column = losses.split(": ")
    with (folder / name).open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    train, validation = ([float(row[f"{kind}{column}"]) for row in rows] for kind in ("Train", "Val"))
    return train, validation
