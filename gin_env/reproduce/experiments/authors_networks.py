"""Paper 002's own networks and data, from a checkout of its authors' repository.

https://github.com/sangttruong/ginrummy holds eight of the fourteen networks of Table 1 as TensorFlow
checkpoints, the losses of most epochs, 779 rows of Random-256, and the player (ginrummy/DualInception.java,
models/Server.py). None of it is included here: ``gin-rummy reproduce 002/authors-networks --authors PATH``
reads it from the checkout. The networks fit our architectures weight by weight. They count hits by the best
arrangement and receive normalised likelihoods (`FEATURES`), and the experiment plays them with these
features. They were trained on the deadwood that was scored, after laying off on the opponent's knock.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gin_env.agents.hand_strength.bots import OffensiveBot
from gin_env.agents.hand_strength.features import HITS, INTERACTIONS, hand_features
from gin_env.agents.hand_strength.networks import FILTER_WIDTHS, HandStrength, Inception, Interactions, build
from gin_env.agents.hand_strength.weights import find_network, save_network
from gin_env.game import cards
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from gin_env.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    in_order,
    interval,
    markdown,
    match_row,
    percent,
    plain_table,
)
from gin_env.reproduce.experiments.hand_strength import data_set
from gin_env.reproduce.experiments.hand_strength_figures import (
    FIGURE_6,
    FIGURE_7,
    FIGURE_7_HAND,
    FIGURE_7_NETWORK,
    figure_6_view,
    figure_7_estimate,
)
from gin_env.reproduce.experiments.hand_strength_networks import CONFIDENCE, GAMES, TABLE, play_network
from gin_env.support.tensorflow_checkpoints import read_checkpoint
from gin_env.training.hand_strength import recipes

REPOSITORY = "https://github.com/sangttruong/ginrummy"
ESTIMATOR = "bayes-isru:normalised=true"
"""Estimator that provides the inputs of the authors' networks."""
FEATURES = {"hits": "arrangement", "data": {"estimator": ESTIMATOR}}
MACRO_COLUMNS = [2, 1, 0, 3]
"""Indices of our macro-features (deadwood, sets, runs, hits) in the authors' (runs, sets, deadwood, hits)."""


@dataclass(frozen=True)
class Source:
    """Files of the repository with a network of Table 1 and its logs."""

    architecture: str
    checkpoint: str
    losses: str
    """File and columns of the losses of each epoch: ``Random16.csv: TrainDI, ValDI``."""
    games: str = ""
    """File with the number of games that it won; empty if there is none."""


_16 = "results/Random16/Random16Last"
SOURCES = {
    "dual-inception-simple": Source(
        "dual-inception", "results/SimpleLast/Checkpoint_SimpleLast_DI/cp.ckpt", "SimpleLast.csv: DI"
    ),
    "mlp-random-16": Source(
        "mlp", f"{_16}-FC/Checkpoint/cp.ckpt", "Random16.csv: FC", f"{_16}-FC/winningRate.txt"
    ),
    "mlp-i-random-16": Source(
        "mlp-i", f"{_16}-FCIT/Checkpoint/cp.ckpt", "Random16.csv: FCIT", f"{_16}-FCIT/winningRate.txt"
    ),
    "dual-inception-random-16": Source(
        "dual-inception", f"{_16}-DI/Checkpoint/cp.ckpt", "Random16.csv: DI", f"{_16}-DI/winningRate.txt"
    ),
    "dual-inception-random-256": Source(
        "dual-inception", "models/DualInception/cp.ckpt", "Random256.csv: DI"
    ),
    "dual-inception-simple-all-stages": Source(
        "dual-inception",
        "results/SimpleAll/Checkpoint/cp.ckpt",
        "SimpleAll.csv: DI",
        "results/SimpleAll/winningRate.txt",
    ),
    "dual-inception-random-16-augmented": Source(
        "dual-inception", f"{_16}-DIA/Checkpoint/cp.ckpt", "Random16A.csv: DIA", f"{_16}-DIA/winningRate.txt"
    ),
    "dual-inception-16-random-16-augmented": Source(
        "dual-inception-16",
        f"{_16}-DIA16/Checkpoint/cp.ckpt",
        "Random16A.csv: DIA16",
        f"{_16}-DIA16/winningRate.txt",
    ),
}
SAMPLE = "data/Random256Val-sample.csv"


# --- Contents of the repository --------------------------------------------------------------------------


def authors_network(architecture: str, tensors: dict[str, np.ndarray]) -> HandStrength:
    """Return the network with a checkpoint's tensors.

    The order of the layers is: filters of the estimate (4, 3, 2 cards wide), filters of the hand, hidden
    layer, output. The inputs of the hidden layer are macro-features, estimate and hand. Outputs of filters
    are ordered by place, with the channels last. Raises ValueError if the tensors do not fit the
    architecture.
    """
    import torch

    network = build(architecture)

    def layer(number: int) -> tuple[np.ndarray, np.ndarray]:
        names = (
            f"layer_with_weights-{number}/{part}/.ATTRIBUTES/VARIABLE_VALUE" for part in ("kernel", "bias")
        )
        try:
            kernel, bias = (tensors[name] for name in names)
        except KeyError as error:
            raise ValueError(f"the checkpoint is not one of {architecture}: {error} is missing") from error
        return kernel, bias

    parts = (network.opponent, network.hand)
    values: dict[str, np.ndarray] = {}
    first_dense = 0
    orders = []
    for name, part in zip(("opponent", "hand"), parts, strict=True):
        if isinstance(part, Inception):
            for position in reversed(range(len(FILTER_WIDTHS))):
                kernel, values[f"{name}.filters.{position}.bias"] = layer(first_dense)
                if kernel.ndim != 4:
                    raise ValueError(f"the checkpoint is not one of {architecture}: it has too few filters")
                values[f"{name}.filters.{position}.weight"] = kernel.transpose(3, 2, 0, 1)
                first_dense += 1
        orders.append(_places(part))
    kernel, bias = layer(first_dense)
    output, values["output.bias"] = layer(first_dense + 1)
    sizes = [4, parts[0].size, parts[1].size]
    if kernel.shape[0] != sum(sizes):
        raise ValueError(
            f"the checkpoint is not one of {architecture}: {kernel.shape[0]} inputs, not {sum(sizes)}"
        )
    macro, opponent, hand = np.split(kernel, np.cumsum(sizes)[:-1])
    values["from_opponent.weight"] = opponent[orders[0]].T
    values["from_hand.weight"] = np.concatenate([hand[orders[1]], macro[MACRO_COLUMNS]]).T
    values["from_hand.bias"], values["output.weight"] = bias, output.T
    expected = network.state_dict()
    for name, value in values.items():
        if tuple(expected[name].shape) != value.shape:
            raise ValueError(
                f"the checkpoint is not one of {architecture}: {name} is {value.shape}, "
                f"not {tuple(expected[name].shape)}"
            )
    network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in values.items()})
    return network.eval()


_PLACES = sum((NUM_SUITS + 1 - width) * (NUM_RANKS + 1 - width) for width in FILTER_WIDTHS)
"""Number of outputs of one filter of each width together."""


def _places(part: object) -> np.ndarray:
    """Return the index of each of our features among the authors', int64 (size,)."""
    if isinstance(part, Inception):
        places, start = {}, 0
        for position, width in reversed(list(enumerate(FILTER_WIDTHS))):
            shape = (NUM_SUITS + 1 - width, NUM_RANKS + 1 - width, part.size // _PLACES)
            size = int(np.prod(shape))
            places[position] = start + np.arange(size).reshape(shape).transpose(2, 0, 1).ravel()
            start += size
        return np.concatenate([places[position] for position in range(len(FILTER_WIDTHS))])
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


def logged_losses(folder: Path, losses: str) -> tuple[list[float], list[float]]:
    """Return the lists of (training, validation) losses of all epochs, read as `Source.losses` says."""
    name, column = losses.split(": ")
    with (folder / name).open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    train, validation = ([float(row[f"{kind}{column}"]) for row in rows] for kind in ("Train", "Val"))
    return train, validation


# --- The experiment ---------------------------------------------------------------------------------------


def checkout(run: Run) -> Path:
    """Return the run's checkout of the authors' repository.

    Raises ValueError if the run has none, and FileNotFoundError if it is not a checkout of the repository.
    """
    if run.authors is None:
        raise ValueError(f"name a checkout of {REPOSITORY}: git clone it, then --authors PATH")
    if not (run.authors / SAMPLE).exists():
        raise FileNotFoundError(f"{run.authors} must be a checkout of {REPOSITORY}: it has no {SAMPLE}")
    return run.authors


def convert(run: Run, name: str) -> Path:
    """Write one of the authors' networks in our file format to the run's folder and return its path."""
    source = SOURCES[name]
    network = authors_network(source.architecture, read_checkpoint(checkout(run) / source.checkpoint))
    path = run.folder / f"{name}.safetensors"
    save_network(path, network, {"architecture": source.architecture, **FEATURES})
    return path


def errors(network: HandStrength, sample: Sample, macro: np.ndarray) -> Row:
    """Return the mean squared error and the bias of a network on the authors' rows."""
    import torch

    x, _ = hand_features(sample.hands)
    with torch.inference_mode():
        values = network(*(torch.from_numpy(array) for array in (x, macro, sample.estimates))).numpy()
    residuals = values.astype(np.float64) - sample.scores
    return {"error": round(float((residuals**2).mean()), 2), "bias": round(float(residuals.mean()), 2)}


def measure(run: Run) -> list[Row]:
    """Measure games, logs and errors of each network, features and dealing of the rows, Figures 6 and 7."""
    folder = checkout(run)
    sample = read_sample(folder / SAMPLE)
    features = {hits: hand_features(sample.hands, hits)[1] for hits in HITS}
    rows: list[Row] = []
    for name in run.some(list(SOURCES)):
        source = SOURCES[name]
        path = convert(run, name)
        match = play_network(run, path, f"the authors' {name}")
        low, high = match.confidence_interval(CONFIDENCE)
        row = match_row(match) | {
            "of": "networks",
            "network": name,
            "low": percent(low),
            "high": percent(high),
        }
        train, validation = logged_losses(folder / "results", source.losses)
        row |= {"train_loss": train[-1], "validation_loss": validation[-1], "epochs": len(train)}
        row |= {"logged": list(logged_games(folder / source.games)) if source.games else None}
        rows.append(row | errors(find_network(path)[0], sample, sample.macro))
    packaged, _ = find_network("dual-inception-random-256")
    rows.append({"of": "networks", "network": "ours"} | errors(packaged, sample, features["any-meld"]))
    rows += [
        {
            "of": "features",
            "feature": f"hits, {hits}",
            "rows": len(sample.scores),
            "different": int((macro[:, 3] != sample.macro[:, 3]).sum()),
        }
        for hits, macro in features.items()
    ]
    different = features["any-meld"][:, :3] != sample.macro[:, :3]
    rows += [
        {"of": "features", "feature": text, "rows": len(sample.scores), "different": int(count)}
        for text, count in zip(("deadwood", "sets", "runs"), different.sum(axis=0), strict=True)
    ]
    return rows + data_rows(run, sample) + figure_rows(run)


STATES = 20_000
"""Number of states of each data set on which the networks are evaluated."""
STEPS = (
    ("as the paper's text", recipes.ESTIMATOR, HITS[0], False),
    ("hits by arrangement", recipes.ESTIMATOR, "arrangement", False),
    ("and normalised likelihoods", ESTIMATOR, "arrangement", False),
    ("and scored deadwood", ESTIMATOR, "arrangement", True),
)
"""Features of our data, step by step closer to the authors': (label, estimator, hits, scored deadwood)."""
DEALT = ("random-256", "random-256-fitted")


def data_rows(run: Run, sample: Sample) -> list[Row]:
    """Return rows with the errors of the authors' networks on our data sets, by the features of the data.

    Further rows compare our data with the authors' 779 rows.
    """
    from gin_env.training.hand_strength.trainer import predict

    rows: list[Row] = []
    for name in run.some(list(SOURCES)):
        network, _ = find_network(convert(run, name))
        recipe = recipes.find_recipe(name)
        for label, estimator, hits, scored in STEPS:
            states = data_set(run, recipe.data_set, recipe.stages, STATES, estimator)
            values = predict(network, states, np.arange(len(states)), hits, scored).astype(np.float64)
            residuals = values - states.scores
            error, bias = round(float((residuals**2).mean()), 2), round(float(residuals.mean()), 2)
            rows.append({"of": "data", "network": name, "features": label, "error": error, "bias": bias})
    rows.append(dealing_row("their 779 rows", sample.scores, sample.hands, sample.scores))
    for name in DEALT:
        states = data_set(run, name, "last", STATES, ESTIMATOR)
        rows.append(dealing_row(f"`{name}`", states.scores, states.hands, sample.scores))
    return rows


def dealing_row(label: str, scores: np.ndarray, hands: np.ndarray, theirs: np.ndarray) -> Row:
    """Return the statistics in which ways of dealing differ; the Kolmogorov-Smirnov test is with `theirs`."""
    from scipy import stats

    deadwood = hand_features(hands)[1][:, 0]
    gin = deadwood == 0
    return {
        "of": "dealing",
        "data": label,
        "states": len(scores),
        "mean": round(float(scores.mean()), 2),
        "deviation": round(float(scores.std()), 2),
        "gin": percent(gin.mean()),
        "mean_without_gin": round(float(scores[~gin].mean()), 2) if not gin.all() else None,
        "negative": percent((scores < 0).mean()),
        "over_10": percent((deadwood > 10).mean()),
        "p": None if scores is theirs else round(float(stats.ks_2samp(theirs, scores).pvalue), 4),
    }


def figure_rows(run: Run) -> list[Row]:
    """Return the rows of Figures 6 and 7 with the authors' networks."""
    rows: list[Row] = []
    for name, theirs in FIGURE_6.items():
        if name in SOURCES:
            action = int(OffensiveBot(str(convert(run, name))).act(figure_6_view())[0])
            discard = cards.card_text(action % NUM_CARDS)
            rows.append({"of": "figure 6", "network": name, "paper": theirs, "measured": discard})
    hand = cards.parse(FIGURE_7_HAND)
    ids = [cards.card_id(text) for text in FIGURE_7]
    left = np.array([hand & ~(1 << card) for card in ids], np.uint64)
    bot = OffensiveBot(str(convert(run, FIGURE_7_NETWORK)))
    values = bot.hand_values(figure_7_estimate(), np.zeros(len(ids), np.int64), left)
    return rows + [
        {"of": "figure 7", "card": card, "paper": value, "measured": round(float(ours), 2)}
        for (card, (_, value)), ours in zip(FIGURE_7.items(), values, strict=True)
    ]


def table(rows: Sequence[Row]) -> str:
    """Return tables of Table 1, Figures 6 and 7, the features, the errors on our data, and the dealing."""
    kinds = {kind: [row for row in rows if row["of"] == kind] for kind in by(rows, "of")}
    networks = []
    for row in kinds["networks"]:
        paper = TABLE.get(row["network"])
        won, games = row.get("logged") or (None, None)
        networks.append(
            (
                f"`{row['network']}`" if paper else "our `dual-inception-random-256`",
                f"{paper[2]} ± {paper[3]}" if paper else "",
                interval(row, 1) if paper else "",
                f"{won:,} of {games:,}" if won is not None else "",
                f"{paper[1]:.1f}" if paper else "",
                f"{row['validation_loss']:.1f}" if paper else "",
                f"{row['error']:.1f} ({row['bias']:+.1f})",
            )
        )
    header = [
        "network",
        "paper: games won",
        "games won here (90 % interval)",
        "games won in their log",
        "paper: validation loss",
        "their log, last epoch",
        "error on their 779 rows (bias)",
    ]
    tables = [markdown(header, networks)]
    figure_6 = [(f"`{row['network']}`", row["paper"], row["measured"]) for row in kinds["figure 6"]]
    tables.append(markdown(["Figure 6", "paper", "here"], figure_6))
    figure_7 = [(row["card"], f"{row['paper']:.1f}", f"{row['measured']:.1f}") for row in kinds["figure 7"]]
    tables.append(markdown(["Figure 7", "paper", "here"], figure_7, "lrr"))
    lines = [(row["feature"], f"{row['different']} of {row['rows']}") for row in kinds["features"]]
    tables.append(markdown(["feature", "rows with a different value here"], lines))
    found = by(kinds["data"], "network", "features")
    labels = [label for label, *_ in STEPS]
    rows_of_data = []
    for name in in_order(kinds["data"], "network"):
        mine = [found[name, label] for label in labels]
        cells = [f"{row['error']:.1f} ({row['bias']:+.1f})" for row in mine]
        rows_of_data.append((f"`{name}`", f"{TABLE[name][1]:.1f}", *cells))
    header = ["network; error (bias) on our data", "paper: validation loss", *labels]
    tables.append(markdown(header, rows_of_data))
    keys = ("data", "states", "mean", "deviation", "gin", "mean_without_gin", "negative", "over_10", "p")
    header = [
        "data",
        "states",
        "mean score",
        "deviation",
        "gin, %",
        "mean without gin",
        "negative, %",
        "deadwood over 10, %",
        "p (Kolmogorov-Smirnov)",
    ]
    tables.append(plain_table(header, keys, kinds["dealing"]))
    return "\n\n".join(tables)


EXPERIMENTS = [
    Experiment(
        "002/authors-networks",
        "Paper 002's own networks: Table 1, Figures 6 and 7",
        measure,
        table,
        games=GAMES,
        time="five minutes",
        authors=REPOSITORY,
    ),
]
