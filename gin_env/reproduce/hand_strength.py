"""Paper 002's Table 1 and Figures 2 and 4 to 7: hand-strength networks trained and played here.

002: the data-driven hand-strength evaluation with convolutional networks (EAAI 2021 Gin Rummy challenge).
Data sets and networks are kept in the run's folder and used again if it is stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from gin_env import cards
from gin_env.actions import DRAW_STOCK, PASS
from gin_env.agents.hand_strength.bots import OffensiveBot
from gin_env.agents.hand_strength.weights import load_network, packaged_names, save_network
from gin_env.batch import Games
from gin_env.estimators.risk import discard_risks
from gin_env.reproduce.experiments import (
    Experiment,
    Row,
    Run,
    interval,
    markdown,
    match_row,
    percent,
    plain_table,
)
from gin_env.support.atomic import save_figure
from gin_env.support.plots import import_matplotlib
from gin_env.training.hand_strength import recipes
from gin_env.training.hand_strength.data_sets import DataSet
from gin_env.views import PlayerView

CONFIDENCE = 0.9
"""The paper's."""
TABLE = {
    "mlp-simple": (87.4, 87.7, 42.9, 0.8),
    "mlp-i-simple": (90.8, 91.4, 43.6, 0.8),
    "dual-inception-simple": (79.1, 79.8, 45.8, 0.8),
    "mlp-random-16": (159.0, 159.4, 44.0, 0.8),
    "mlp-i-random-16": (149.2, 150.0, 42.3, 0.8),
    "dual-inception-random-16": (83.0, 83.0, 50.1, 0.8),
    "mlp-random-256": (106.1, 107.4, 48.1, 0.8),
    "mlp-i-random-256": (106.4, 107.8, 45.8, 0.7),
    "dual-inception-random-256": (74.8, 75.7, 55.4, 0.8),
    "mlp-simple-all-stages": (153.7, 154.5, 34.3, 0.7),
    "mlp-i-simple-all-stages": (153.5, 155.7, 29.3, 0.6),
    "dual-inception-simple-all-stages": (144.1, 146.5, 19.7, 0.6),
    "dual-inception-random-16-augmented": (181.7, 181.4, 42.8, 0.8),
    "dual-inception-16-random-16-augmented": (132.6, 132.0, 51.2, 0.8),
}
"""Table 1: training loss, validation loss, games won in per cent against Simple, half its interval."""
CANDIDATES = 5
"""Networks of each kind."""

FIGURE_6_HAND = "3C 6C QC 6H 7H AS 5S 7D TD JD"
FIGURE_6_DRAWN = "TH"
FIGURE_6 = {
    "simple": "TD",
    "dual-inception-simple": "TD",
    "dual-inception-simple-all-stages": "3C",
    "dual-inception-random-16": "QC",
    "dual-inception-random-256": "QC",
}
"""What each player discards in Figure 6 (the Simple player: one of the four tens and faces at random)."""

FIGURE_7_ESTIMATE = """
.10 .09   0 .18 .29   1 .55 .61 .49 .33 .44   0 .39
.10 .08 .10 .12 .13   0   0 .33   0   0 .43   0 .48
  0   0 .07 .09   0 .33 .23 .24 .32   0 .33 .30   0
.10 .08 .09 .11   0 .40   0 .31 .46   0   0 .14   0
"""
"""Figure 7a: the opponent's cards; T is 1, F is 0. Rows are clubs, hearts, spades, diamonds."""
FIGURE_7_HAND = "3C 6H 7H 9H TH AS 5S TS 5D 7D TD"
"""Figure 7b; the caption says that it is the opponent's hand, but the scored cards are these."""
FIGURE_7_NETWORK = "dual-inception-random-16"
FIGURE_7 = {
    "5S": (0.16, -29.9), "AS": (0.01, -32.4), "6H": (0.90, -29.2), "5D": (0.09, -29.4),
    "7H": (0.13, -29.0), "3C": (0.10, -29.4), "7D": (0.40, -29.0), "9H": (0.53, -29.7),
}  # fmt: skip
"""Figure 7c and 7d: defensive and offensive score of each unmelded card."""


# --- Table 1 --------------------------------------------------------------------------------------------


def data_set(run: Run, name: str, stages: str = "last") -> DataSet:
    """The data set of a name, generated once in the run's folder."""
    observations = run.size(recipes.OBSERVATIONS, 500)
    run.say(f"data {name}, {observations:,} states")
    return recipes.load_or_generate(
        run.folder / "data", name, stages, observations=observations, seed=run.seed
    )


def measure_table_1(run: Run) -> list[Row]:
    """Every network of Table 1 and ours: `CANDIDATES` trained, the best by validation games played."""
    import torch

    from gin_env.training.hand_strength.selection import VALIDATION_GAMES, train_best
    from gin_env.training.hand_strength.trainer import Settings, find_schedule

    torch.set_num_threads(1)
    epochs = 1 if run.quick else None
    rows = []
    for name in run.some(list(recipes.RECIPES), 1):
        recipe = recipes.find_recipe(name)
        states = data_set(run, recipe.data_set, recipe.stages)
        path = run.folder / f"{name}.safetensors"
        if not path.exists():
            run.say(f"training {name}")
            settings = Settings(
                recipe.architecture, find_schedule("fast", epochs), recipe.augmented, run.seed
            )
            trainer, compared = train_best(
                states, settings, run.size(CANDIDATES, 2), run.size(VALIDATION_GAMES, 20)
            )
            described = recipes.provenance(name, trainer, "fast", epochs, compared)
            save_network(path, trainer.network, described)
        bot = OffensiveBot(str(path))
        bot.name = f"offensive with {name}"
        match = run.match(bot, "simple", 10_000)
        low, high = match.confidence_interval(CONFIDENCE)
        rows.append(
            match_row(match)
            | {"network": name, "low": percent(low), "high": percent(high)}
            | describe_network(path)
        )
    return rows


def describe_network(path: Path) -> Row:
    """What the file of a network says about its training."""
    network, training = load_network(path)
    return {
        "parameters": network.parameter_count,
        "states": training["data"]["observations"],
        "train_losses": [round(loss, 3) for loss in training["train_losses"]],
        "validation_losses": [round(loss, 3) for loss in training["validation_losses"]],
        "candidates_won": [percent(candidate["win_rate"]) for candidate in training["candidates"]],
    }


def table_1(rows: Sequence[Row]) -> str:
    """Table 1, paper and ours side by side."""
    lines = []
    for row in rows:
        paper = TABLE.get(row["network"])
        theirs = (f"{paper[0]}", f"{paper[1]}", f"{paper[2]} ± {paper[3]}") if paper else ("", "", "")
        rates = row["candidates_won"]
        lines.append(
            (
                f"`{row['network']}`",
                f"{row['train_losses'][-1]:.1f}",
                theirs[0],
                f"{row['validation_losses'][-1]:.1f}",
                theirs[1],
                f"{np.median(rates):.1f} ({min(rates):.1f} to {max(rates):.1f})",
                interval(row, 1),
                theirs[2],
            )
        )
    header = [
        "network and data", "train loss", "paper", "validation loss", "paper",
        "all five: games won, median (lowest to highest)",
        "the best, selected by games: games won (90 % interval)", "paper",
    ]  # fmt: skip
    return markdown(header, lines)


# --- Figures 6 and 7 --------------------------------------------------------------------------------------


def figure_6_view() -> PlayerView:
    """The position of Figure 6 in the first turn: ten cards, both passed, one drawn from the stock."""
    own = cards.parse(FIGURE_6_HAND)
    drawn = cards.card_id(FIGURE_6_DRAWN)
    others = [card for card in range(cards.NUM_CARDS) if not own >> card & 1 and card != drawn]
    opponent, upcard = others[::4][:10], others[1]
    dealt = [card for pair in zip(cards.cards_of(own), opponent, strict=True) for card in pair]
    stock = [card for card in others if card not in opponent and card != upcard]
    games = Games(1)
    table = games.everyone
    games.start(table, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    games.set_deck(0, [*dealt, upcard, drawn, *stock], dealer=1)
    for action in (PASS, PASS, DRAW_STOCK):
        games.play(table, np.array([action]))
    return games.views(table)


def measure_figure_6(run: Run) -> list[Row]:
    """What each packaged network of Figure 6 discards, beside the paper's."""
    view = figure_6_view()
    rows = []
    for name, theirs in FIGURE_6.items():
        if name in packaged_names():
            bot = f"offensive:network={name}"
            run.used(bot)
            action = int(OffensiveBot(name).act(view)[0])
            rows.append({"network": name, "paper": theirs, "ours": cards.card_text(action % cards.NUM_CARDS)})
    return rows


def figure_7_estimate() -> np.ndarray:
    """float32 (1, 52): Figure 7a."""
    return np.array(FIGURE_7_ESTIMATE.split(), np.float32)[None]


def measure_figure_7(run: Run) -> list[Row]:
    """Defensive and offensive scores of the position of Figure 7, beside the paper's."""
    estimate = figure_7_estimate()
    hand = cards.parse(FIGURE_7_HAND)
    ids = np.array([cards.card_id(text) for text in FIGURE_7])
    left = np.array([hand & ~(1 << int(card)) for card in ids], np.uint64)
    run.used(f"offensive:network={FIGURE_7_NETWORK}")
    values = OffensiveBot(FIGURE_7_NETWORK).hand_values(estimate, np.zeros(len(ids), np.int64), left)
    risks = discard_risks(estimate)[0, ids]
    return [
        {"card": card, "paper_risk": risk, "risk": round(float(ours), 6)}
        | {"paper_value": value, "value": round(float(our_value), 6)}
        for (card, (risk, value)), ours, our_value in zip(FIGURE_7.items(), risks, values, strict=True)
    ]


# --- Players, training length, data -------------------------------------------------------------------------

PLAYERS = {
    "defensive-paper": 10_000,
    **{f"balanced:network=dual-inception-random-256,risk_weight={w}": 10_000 for w in (2, 5, 10, 20)},
    "offensive-paper:average_suits=true": 1000,
    "offensive-paper": 20_000,
}
"""Bot -> games against Simple; averaging takes each decision 24 times."""


def measure_players(run: Run) -> list[Row]:
    """Defence alone, both scores together, the network without names of suits."""
    return [match_row(run.match(bot, "simple", games)) for bot, games in PLAYERS.items()]


def players_table(rows: Sequence[Row]) -> str:
    """A row for each player."""
    lines = [(f"`{row['bot']}`", f"{row['games']:,}", interval(row)) for row in rows]
    return markdown(["bot", "games", "won against `simple` (95 % interval)"], lines, "lr")


LONGEST = 3_200_000


def measure_training_length(run: Run) -> list[Row]:
    """Dual Inception at a constant rate: error and play along the way, in steps of a factor of about 1.5."""
    import torch

    from gin_env.training.hand_strength.selection import validation_win_rate
    from gin_env.training.hand_strength.trainer import Schedule, Settings, Trainer

    torch.set_num_threads(1)
    constant = Schedule(epochs=1000, batch_size=64, learning_rate=1e-3, decay=1.0, decay_every=1000)
    rows: list[Row] = []
    for name in run.some(["random-16", "random-256"], 1):
        states = data_set(run, name)
        for seed in range(run.size(2, 1)):
            trainer = Trainer(states, Settings("dual-inception", constant, seed=seed))
            seen: list[int] = [0]
            following = 0.0
            longest = run.size(LONGEST, 1000)
            while seen[0] < longest:
                trainer.run_epoch(lambda states, seen=seen: seen.__setitem__(0, seen[0] + states))
                if seen[0] >= min(following, longest):
                    following = 1.5 * seen[0]
                    run.say(f"{name}, seed {seed}: {seen[0]:,} states")
                    rows.append(
                        {
                            "data_set": name,
                            "seed": seed,
                            "states_seen": seen[0],
                            "validation_loss": round(trainer.validation_losses[-1], 2),
                            "won": percent(validation_win_rate(trainer, run.size(2000, 20))),
                        }
                    )
    return rows


def training_length_table(rows: Sequence[Row]) -> str:
    """A column for each network: validation error, games won."""
    columns = list(dict.fromkeys((row["data_set"], row["seed"]) for row in rows))
    found = {(row["data_set"], row["seed"], row["states_seen"]): row for row in rows}
    lines = []
    for seen in sorted({row["states_seen"] for row in rows}):
        cells = [found.get((*column, seen)) for column in columns]
        texts = [f"{row['validation_loss']:.1f}; {row['won']:.1f} %" if row else "" for row in cells]
        lines.append([f"{seen:,}", *texts])
    header = [f"{name}, network {seed + 1}: error; games won" for name, seed in columns]
    return markdown(["states seen", *header], lines, "r")


def draw_training_length(rows: Sequence[Row], path: Path) -> None:
    """Error and games won by states seen, a line for each network."""
    figure = import_matplotlib()[0](figsize=(9, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    names = sorted({row["data_set"] for row in rows})
    for name, colour in zip(names, ("tab:blue", "tab:orange", "tab:green"), strict=False):
        for seed in sorted({row["seed"] for row in rows}):
            mine = [row for row in rows if (row["data_set"], row["seed"]) == (name, seed)]
            seen = [row["states_seen"] for row in mine]
            for panel, key in zip(panels, ("validation_loss", "won"), strict=True):
                label = name if seed == 0 else None
                panel.plot(seen, [row[key] for row in mine], color=colour, marker=".", label=label)
    panels[0].set(xscale="log", xlabel="states seen", ylabel="mean squared error of validation")
    panels[1].set(xscale="log", xlabel="states seen", ylabel="games won against simple, %")
    panels[1].axhline(50, color="grey", linewidth=0.8)
    for panel in panels:
        panel.tick_params(axis="x", which="minor", labelbottom=False)
    panels[0].legend()
    save_figure(figure, path, dpi=120)


EXPERIMENTS = [
    Experiment(
        "002/table-1",
        "Networks of paper 002's Table 1, and ours",
        measure_table_1,
        table_1,
        games=10_000,
        time="an hour",
    ),
    Experiment(
        "002/figure-6",
        "What the networks discard in Figure 6",
        measure_figure_6,
        partial(plain_table, ["network", "paper", "ours"], ["network", "paper", "ours"]),
        games=0,
    ),
    Experiment(
        "002/figure-7",
        "Defensive and offensive scores of Figure 7",
        measure_figure_7,
        partial(
            plain_table,
            ["card", "paper's risk", "risk", "paper's value", "value"],
            ["card", "paper_risk", "risk", "paper_value", "value"],
        ),
        games=0,
    ),
    Experiment(
        "002/players",
        "Defensive, balanced and offensive players",
        measure_players,
        players_table,
        games=10_000,
    ),
    Experiment(
        "002/training-length",
        "Error and play against the length of training",
        measure_training_length,
        training_length_table,
        games=2000,
        time="ten minutes",
        pictures={"hand_strength/training_length.png": draw_training_length},
    ),
]
