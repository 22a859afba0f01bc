"""Draws docs/rooms.svg, the rooms of the package, from the import contract in pyproject.toml.

python docs/draw_rooms.py
"""

from __future__ import annotations

import tomllib
from pathlib import Path

DOCS = Path(__file__).parent
BANDS = {
    "commands": ("command line", "#dbe7f6"),
    "wrappers": ("learning, measuring", "#f9e3cf"),
    "show": ("environments", "#d9efe0"),
    "estimators": ("players", "#f6dbe6"),
    "hands": ("what players see", "#ece2f4"),
    "streams": ("the rules", "#f7f0c8"),
    "support": ("foundations", "#e4e4e4"),
}
"""The lowest room of each part of the house: its name and its colour."""
LEFT, WIDTH, HEIGHT, GAP = 165, 745, 26, 5
"""In pixels: where the rooms begin, where they end, a floor, between rooms."""


def draw(floors: list[list[str]]) -> str:
    """The picture as SVG; floors from the roof to the cellar."""
    lines = []
    top = GAP
    begin, waiting = top, list(BANDS)
    for floor in floors:
        label, colour = BANDS[waiting[0]]
        step = (WIDTH - LEFT + GAP) / len(floor)
        for place, room in enumerate(floor):
            x, wide = LEFT + place * step, step - GAP
            lines.append(
                f'<rect x="{x:.1f}" y="{top}" width="{wide:.1f}" height="{HEIGHT}" rx="4" fill="{colour}"/>\n'
                f'<text x="{x + wide / 2:.1f}" y="{top + 18}" text-anchor="middle">{room}</text>'
            )
        top += HEIGHT + GAP
        if waiting[0] in floor:
            middle = (begin + top - GAP) / 2
            lines.append(f'<text x="8" y="{middle + 5:.1f}" font-family="sans-serif">{label}</text>')
            lines.append(f'<path d="M0 {top - GAP / 2:.1f}H{WIDTH}" stroke="#bbb" stroke-dasharray="3 3"/>')
            begin = top
            waiting.pop(0)
    body = "\n".join(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + GAP} {top}" font-size="13" '
        'font-family="monospace" fill="#222">\n'
        "<title>The rooms of gin-env, floor by floor: a room imports from lower floors only</title>\n"
        f'<rect width="{WIDTH + GAP}" height="{top}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def floors() -> list[list[str]]:
    """The floors of the house, from the roof to the cellar."""
    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())
    return [layer.split(" | ") for layer in settings["tool"]["importlinter"]["contracts"][0]["layers"]]


if __name__ == "__main__":
    (DOCS / "rooms.svg").write_text(draw(floors()))
