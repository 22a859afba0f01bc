"""The commands of the leaderboard: check an entry by playing a part of it again, and write the page."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from gin_env import agents
from gin_env.agents.declared_bots import BOTS
from gin_env.commands.options import flag
from gin_env.matches.benchmark import MAX_GAMES, PROTOCOLS, checksum_of, seed_of
from gin_env.matches.matches import play_match
from gin_env.support.atomic import write_text
from gin_env.support.checks import check_choice, check_integer
from gin_env.support.files import check_regular_file, write_json
from gin_env.support.plots import new_figure, save_figure
from research.reproduce.changes import changes
from research.reproduce.tables import table

app = typer.Typer()
ROOT = Path(__file__).parents[2]
ENTRIES, PAGE = ROOT / "leaderboard", ROOT / "docs" / "leaderboard.md"
PICTURE = ROOT / "examples" / "figures" / "leaderboard.png"
BEGIN, END = "<!-- leaderboard -->\n", "<!-- end -->"
MAX_BYTES = 1 << 20
FIELDS = {
    **dict.fromkeys(("protocol", "agent", "author", "release", "checksum"), str),
    **dict.fromkeys(("score", "half_width", "rating", "rating_error", "microseconds", "seconds"), float),
    **{"seed": int, "rounds": list, "opponents": list, "player": dict},
}
"""The fields of an entry and their types."""
PLAIN = r"[^|<>`\[\]]{1,100}"
"""Texts that mean nothing else in Markdown."""
COLUMNS = {
    "": "{place}",
    "agent": "`{agent}`{trained}",
    "author": "{author}",
    "score": "{score:.1f} ± {half_width:.1f}",
    "known opponents": "{known:.1f}",
    "held-out opponents": "{held_out:.1f}",
    "rating": "{rating:.0f} ± {rating_error:.0f}",
    "µs a decision": "{microseconds:short}",
    "games": "{games:,}",
}
"""The table of the page: see `research.reproduce.tables`."""
HELD_OUT = BOTS.names(held_out=True)


@app.command(epilog="Example: `python -m research verify leaderboard/tonic.json`")
def verify(
    file: Annotated[Path, typer.Argument(help="Entry written by `gin-rummy benchmark --submit`")],
    matches: Annotated[int, typer.Option(min=0, help="Number of matches to play again")] = 4,
    programs: Annotated[bool, flag("--programs", "Run the entry's own code: only if you trust it")] = False,
) -> None:
    """Check an entry of the leaderboard, and play a random part of its matches again."""
    entry = read_entry(file)
    if agents.starts_program(entry["player"]["bot"]) and not programs:
        typer.echo(f"{file}: consistent; nothing was played, since {entry['agent']!r} runs code of its own")
        return
    played = replay_part(entry, matches)
    typer.echo(f"{file}: consistent, and {played} matches are the same again")


@app.command()
def leaderboard() -> None:
    """Write docs/leaderboard.md, its picture, and the scores that `gin-rummy benchmark` compares with."""
    entries = sorted(map(read_entry, ENTRIES.glob("*.json")), key=lambda entry: -entry["score"])
    for protocol in PROTOCOLS:
        scores = {
            entry["agent"]: {key: round(entry[key], 2) for key in ("score", "half_width", "microseconds")}
            for entry in entries
            if entry["protocol"] == protocol
        }
        name = f"{protocol.replace('/', '-')}.json"
        write_json(ROOT / "gin_env" / "matches" / "data" / name, {"protocol": protocol, "entries": scores})
    before, _, rest = PAGE.read_text().partition(BEGIN)
    write_text(PAGE, before + BEGIN + f"\n{page_table(entries)}\n\n" + END + rest.partition(END)[2])
    draw(entries, PICTURE)
    typer.echo(
        f"written: {PAGE.relative_to(ROOT)}, {PICTURE.relative_to(ROOT)} and the scores of the package"
    )


def read_entry(file: Path) -> dict[str, Any]:
    """Return an entry. Raises ValueError, with the name of the field, unless it is consistent."""
    check_regular_file(file, MAX_BYTES)
    try:
        entry = json.loads(file.read_text())
        for field, kind in FIELDS.items():
            if not isinstance(entry[field], (int, float) if kind is float else kind):
                raise TypeError(f"{field} must be of type {kind.__name__}, not {entry[field]!r}")
        for field in ("agent", "author"):
            if not re.fullmatch(PLAIN, entry[field]) or not entry[field].isprintable():
                raise ValueError(f"{field} must be plain text of at most 100 characters")
        check_choice("protocol", entry["protocol"], PROTOCOLS)
        if entry["checksum"] != checksum_of(entry):
            raise ValueError("checksum does not match: the file was edited")
        _check_sums(entry)
    except KeyError as error:
        raise ValueError(f"{file}: the field {error} is missing") from error
    except (TypeError, ValueError, IndexError, ZeroDivisionError) as error:
        raise ValueError(f"{file}: {error}") from error
    return entry


def _check_sums(entry: dict[str, Any]) -> None:
    """Raise ValueError unless the rounds add up to the opponents' results, and these to the score."""
    panel, rows, rounds = PROTOCOLS[entry["protocol"]], entry["opponents"], entry["rounds"]
    if [row["bot"] for row in rows] != [opponent.bot for opponent in panel]:
        raise ValueError(f"opponents must be those of {entry['protocol']}")
    for number, played in enumerate(rounds):
        check_integer(f"rounds[{number}].games", played["games"], 2, MAX_GAMES)
        for field in ("wins", "points"):
            if len(played[field]) != len(panel):
                raise ValueError(f"rounds[{number}].{field} must have {len(panel)} entries")
    for index, row in enumerate(rows):
        for field in ("wins", "points"):
            total = np.sum([played[field][index] for played in rounds], axis=0).tolist()
            if total != row[field]:
                raise ValueError(f"opponents[{index}].{field} must be {total}, the sum of the rounds")
        if row["games"] != sum(played["games"] for played in rounds):
            raise ValueError(f"opponents[{index}].games must be the sum of the rounds, not {row['games']}")
    score = 100 * float(np.mean([row["wins"][0] / sum(row["wins"]) for row in rows]))
    if abs(score - entry["score"]) > 1e-6:
        raise ValueError(f"score must be {score}, the mean of the win rates, not {entry['score']}")


def replay_part(entry: dict[str, Any], matches: int) -> int:
    """Play random matches of an entry again, and return their number.

    Raises ValueError, with the name of the field, if the agent decides differently or a result differs.
    """
    if different := changes(entry["player"]):
        raise ValueError(f"player: {different[0]}")
    player, panel = entry["player"]["bot"], PROTOCOLS[entry["protocol"]]
    chosen = np.random.default_rng().permutation(len(entry["rounds"]) * len(panel))[:matches]
    for number, index in (divmod(int(match), len(panel)) for match in chosen):
        stored = entry["rounds"][number]
        seed = seed_of(entry["seed"], entry["protocol"], number, index)
        again = play_match(player, panel[index].bot, stored["games"], seed)
        for field in ("wins", "points"):
            found, claimed = list(getattr(again, field)), stored[field][index]
            if found != claimed:
                raise ValueError(f"rounds[{number}].{field}[{index}] must be {found}, not {claimed}")
    return len(chosen)


def page_table(entries: list[dict[str, Any]]) -> str:
    """Return the table of the page as Markdown: best score first, held-out opponents apart."""
    rows = [
        entry
        | {"place": place, "trained": " (held out)" if entry["agent"] in HELD_OUT else ""}
        | {"known": _win_rate(entry, held_out=False), "held_out": _win_rate(entry, held_out=True)}
        | {"games": sum(row["games"] for row in entry["opponents"])}
        for place, entry in enumerate(entries, 1)
    ]
    return table(rows, COLUMNS, "rllrrrrrr")


def _win_rate(entry: dict[str, Any], held_out: bool) -> float:
    """Return the mean of the win rates against the known or the held-out opponents, in per cent."""
    both = zip(entry["opponents"], PROTOCOLS[entry["protocol"]], strict=True)
    rates = [row["wins"][0] / sum(row["wins"]) for row, opponent in both if opponent.held_out == held_out]
    return 100 * float(np.mean(rates))


def draw(entries: list[dict[str, Any]], path: Path) -> None:
    """Draw a map of the entries: score with its interval against the time of a decision."""
    figure, [[axes]] = new_figure(9, 7)
    times, scores = ([entry[key] for entry in entries] for key in ("microseconds", "score"))
    widths = [entry["half_width"] for entry in entries]
    axes.errorbar(times, scores, yerr=widths, fmt="o", capsize=3, linestyle="none")
    points = np.column_stack([np.log10(times), scores])
    for entry, point, (side, up) in zip(entries, points, _places(points, entries), strict=True):
        place = (10 ** (point[0] + 0.04 * side), point[1] + up)
        axes.annotate(entry["agent"], place, fontsize=8, va="center", ha="left" if side > 0 else "right")
    axes.set_xscale("log")
    axes.set(xlabel="microseconds a decision", ylabel="score: games won against eight opponents, %")
    axes.margins(x=0.12)
    axes.set_title("Strength and speed")
    save_figure(figure, path, dpi=120, origin=f"{entries[0]['protocol']}, {len(entries)} entries")


def _places(points: np.ndarray, entries: list[dict[str, Any]]) -> list[tuple[int, float]]:
    """Return the side (1: right, -1: left) and the height of each label, so that few cover anything."""
    taken = [(x, y, 0.03) for x, y in points]  # middle, height and half of the width
    chosen = []
    for (x, y), entry in zip(points, entries, strict=True):
        half = 0.026 * len(entry["agent"])

        def covered(place: tuple[int, float], x: float = x, y: float = y, half: float = half) -> int:
            middle, height = x + place[0] * (0.04 + half), y + place[1]
            return sum(abs(middle - u) < half + w and abs(height - v) < 2.1 for u, v, w in taken)

        side, up = min(product((1, -1), (0.0, 1.8, -1.8)), key=covered)
        chosen.append((side, up))
        taken.append((x + side * (0.04 + half), y + up, half))
    return chosen
