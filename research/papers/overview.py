"""The verdicts on the claims of all papers, counted from the tables of their experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from gin_env.support.plots import GREEN, GREY, ORANGE, RED, SKY, new_figure, save_figure
from research.papers.francis2021.authors_estimators import THEIR_SCORING
from research.reproduce.tables import Row, markdown
from research.reproduce.verdicts import MARKS, OURS

PAPERS = {
    "Gallucci et al. 2021": ("gallucci2021/claims",),
    "Larkin et al. 2021": ("larkin2021/claims", "larkin2021/likelihoods"),
    "Truong and Neller 2021": ("truong2021/claims", "truong2021/late-knock"),
    "Francis et al. 2021": ("francis2021/authors-scoring", "francis2021/claims"),
    "Keats 2017": ("keats2017/claims",),
}
"""The experiments whose tables have the claims of each paper."""
VERDICTS = {"agrees": GREEN, "fitted": SKY, "undecided": GREY, "differs": RED, "not testable": ORANGE}
SIGNS = "".join(MARKS.values()) + " "


def counts(rows: Sequence[Row]) -> dict[str, Mapping[str, int]]:
    """Return the number of claims of each verdict by paper; those tested with networks of ours apart."""
    from research.reproduce.by_id import EXPERIMENTS

    found: dict[str, Mapping[str, int]] = {}
    for paper, names in PAPERS.items():
        words: Counter[str] = Counter()
        apart: Counter[str] = Counter()
        for one in map(EXPERIMENTS.__getitem__, names):
            mine = [row for row in rows if row["of"] in (one.parts or (one.id,))]
            mine = [row | {"of": "differences"} if "pair" in row else row for row in mine]
            if mine:
                theirs, heading, ours = one.table(mine).partition(f"| {OURS} |")
                words.update(verdicts(theirs))
                apart.update(verdicts(heading + ours))
        found[paper] = {verdict: words[verdict] for verdict in VERDICTS}
        if apart:
            found[f"{paper}, our networks"] = {verdict: apart[verdict] for verdict in VERDICTS}
    return found


def verdicts(text: str) -> list[str]:
    """Return the verdicts of the tables in a Markdown text."""
    found, place = [], 0
    for cells in ([cell.strip() for cell in line.split("|")] for line in text.splitlines()):
        if heads := {"verdict", THEIR_SCORING} & set(cells):  # of francis2021/authors-scoring, theirs count
            place = cells.index(heads.pop())
        elif len(cells) > place > 0:
            found += [word for word in VERDICTS if cells[place].lstrip(SIGNS).startswith(word)]
    return found


def table(rows: Sequence[Row]) -> str:
    """Return a table of the number of claims of each verdict by paper."""
    lines = [(paper, *each.values(), sum(each.values())) for paper, each in counts(rows).items()]
    return markdown(("paper", *VERDICTS, "claims"), lines, "lrrrrrr")


def draw(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw a bar for each paper, with a part for each verdict."""
    figure, [[axes]] = new_figure(8, 3)
    papers = counts(rows)
    left = [0] * len(papers)
    for verdict, colour in VERDICTS.items():
        lengths = [each[verdict] for each in papers.values()]
        bars = axes.barh(list(papers), lengths, left=left, color=colour, label=verdict)
        axes.bar_label(bars, [str(length or "") for length in lengths], label_type="center", color="white")
        left = [start + length for start, length in zip(left, lengths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("claims")
    figure.legend(loc="outside upper center", ncols=len(VERDICTS))
    save_figure(figure, path, dpi=120, origin=origin)
