"""Tables of docs/api/layout.md and docs/rules.md: ``python tests/helpers/layout_tables.py`` prints them."""

from gin_env import candidates, memory, observation
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS, describe
from gin_env.game.cards import NUM_CARDS


def observation_table() -> str:
    """Return the layout of the observation as a Markdown table."""
    lines = ["| part | where | shape | value |", "|---|---|---|---|"]
    for name, where in observation.LAYOUT.items():
        place = f"{where.slice.start}:{where.slice.stop}" if where.shape else str(where.slice.start)
        shape = "×".join(map(str, where.shape)) or "1"
        lines.append(f"| `{name}` | {place} | {shape} | {where.meaning} |")
    return "\n".join(lines)


def candidates_table() -> str:
    """Return rows and context of candidates as a Markdown table."""
    lines = ["| part | of | where | value |", "|---|---|---|---|"]
    for name, where in candidates.LAYOUT.items():
        single = where.stop - where.start == 1
        place = where.start if single else f"{where.start}:{where.stop}"
        lines.append(f"| `{name}` | row | {place} | {candidates.MEANINGS[name]} |")
    for index, (name, meaning) in enumerate(candidates.CONTEXT.items()):
        lines.append(f"| `{name}` | context | {index} | {meaning} |")
    return "\n".join(lines)


def memory_table() -> str:
    """Return the numbers of the memory as a Markdown table."""
    lines = ["| number | where | value |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {index} | {meaning} |" for index, (name, meaning) in enumerate(memory.MEANINGS.items())
    ]
    return "\n".join(lines)


def actions_table() -> str:
    """Return the actions as a Markdown table."""
    lines = ["| action | meaning | in words |", "|---|---|---|"]
    for first, meaning in (
        (0, "discard the card with this id"),
        (KNOCK, f"knock, discarding card `action - {KNOCK}`"),
    ):
        last = first + NUM_CARDS - 1
        lines.append(f"| {first}–{last} | {meaning} | `{describe(first)}` to `{describe(last)}` |")
    for action, meaning in (
        (DRAW_STOCK, "draw from the stock"),
        (DRAW_UPCARD, "take the upcard"),
        (PASS, "pass (opening offer only)"),
    ):
        lines.append(f"| {action} | {meaning} | `{describe(action)}` |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(observation_table(), candidates_table(), memory_table(), actions_table(), sep="\n\n")
