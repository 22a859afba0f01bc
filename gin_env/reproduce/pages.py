"""Pages and pictures made from results: between two marks a page holds what a result says, and nothing else.

<!-- result 000/claims -->
...
<!-- end -->
"""

from __future__ import annotations

import re
from binascii import crc32
from collections.abc import Mapping
from pathlib import Path

from gin_env.reproduce.experiment import Experiment
from gin_env.reproduce.results import Result, load, path_of
from gin_env.support.atomic import write_bytes, write_text

PAGES = ("docs/results.md", "docs/leaderboard.md")
RESULTS, FIGURES = "results", "examples/figures"
_BLOCK = re.compile(r"(<!-- result (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def render(experiment: Experiment, folder: Path) -> str:
    """What a page says between the marks: where the figures come from, and the table if there is one."""
    parts = experiment.parts or (experiment.id,)
    found = {part: load(folder, part) for part in parts if path_of(folder, part).exists()}
    if parts[0] not in found:
        return f"Not measured yet: `gin-rummy reproduce {experiment.id}`.\n"
    origins = [
        origin_of(found[part]) if part in found else f"Not measured yet: `gin-rummy reproduce {part}`."
        for part in parts
    ]
    rows = found[parts[0]].rows
    if experiment.parts:
        rows = [row | {"of": part} for part, result in found.items() for row in result.rows]
    return "\n".join(origins) + f"\n\n{experiment.table(rows)}\n"


def origin_of(result: Result) -> str:
    """Where the figures of a result come from."""
    link = path_of(Path("..") / RESULTS, result.id).as_posix()
    origin = [f"[`{result.command}`]({link})"]
    if result.games:
        origin.append(f"{result.games:,} games a match")
    origin += [f"seed {result.seed}", f"{result.date}"]
    if result.stale:
        origin.append(result.stale)
    return f"{', '.join(origin)}."


def rewritten(text: str, folder: Path, experiments: Mapping[str, Experiment]) -> str:
    """A page's text with all its blocks made anew from the results in a folder.

    A block without a result says that it has not been measured yet. Raises ValueError for a block of an
    unknown experiment or without an end.
    """
    if len(_BLOCK.findall(text)) != text.count("<!-- result "):
        raise ValueError("a block that begins with <!-- result ID --> ends with <!-- end -->: one has no end")

    def block(found: re.Match[str]) -> str:
        name = found[2]
        if name not in experiments:
            raise ValueError(f"the page shows a result {name!r}, which is no experiment")
        return f"{found[1]}\n{render(experiments[name], folder)}\n{found[3]}"

    return _BLOCK.sub(block, text)


def shown(text: str) -> list[str]:
    """The experiments whose results a page shows."""
    return [found[1] for found in _BLOCK.findall(text)]


def rewrite(root: Path, experiments: Mapping[str, Experiment]) -> list[Path]:
    """Write pages and pictures of the checkout at `root` anew where they differ from the results.

    Returns the files that changed. Raises FileNotFoundError outside a checkout.
    """
    if not (root / RESULTS).is_dir() or not all((root / page).is_file() for page in PAGES):
        raise FileNotFoundError(f"{root.resolve()} is no checkout of gin-env: go to its root")
    changed = []
    for page in PAGES:
        before = (root / page).read_text()
        after = rewritten(before, root / RESULTS, experiments)
        if after != before:
            write_text(root / page, after)
            changed.append(root / page)
    for experiment in experiments.values():
        if experiment.pictures and path_of(root / RESULTS, experiment.id).exists():
            result = load(root / RESULTS, experiment.id)
            for name, draw in experiment.pictures.items():
                picture = root / FIGURES / name
                if drawn_from(picture) != result.digest:
                    draw(result.rows, picture, result.origin)
                    stamp(picture, result.digest)
                    changed.append(picture)
    return changed


# --- What a picture was drawn from ----------------------------------------------------------------------

_KEYWORD = b"gin-env rows\0"
_IEND = 12
"""Bytes of the last chunk of a PNG file."""


def stamp(picture: Path, digest: str) -> None:
    """Write into a PNG file which rows it was drawn from, as a text chunk at its end."""
    content = picture.read_bytes()
    body = b"tEXt" + _KEYWORD + digest.encode()
    chunk = (len(body) - 4).to_bytes(4, "big") + body + crc32(body).to_bytes(4, "big")
    write_bytes(picture, content[:-_IEND] + chunk + content[-_IEND:])


def drawn_from(picture: Path) -> str | None:
    """What `stamp` wrote into a picture; None if there is no such picture or text."""
    if not picture.exists():
        return None
    _, found, rest = picture.read_bytes()[-200:].partition(b"tEXt" + _KEYWORD)
    return rest[:32].decode() if found else None
