"""Mutants of a module: the standard operators of mutation testing, each a single change of the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARE = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
}  # fmt: skip
_BINARY = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "+"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
}  # fmt: skip
_BOOLEAN = {ast.And: ("and", "or"), ast.Or: ("or", "and")}


@dataclass(frozen=True)
class Mutant:
    """One change: the text from `start` to `end` of the module becomes `new`."""

    line: int
    start: int
    end: int
    kind: str
    old: str
    new: str

    @property
    def name(self) -> str:
        """Unique in its module as long as the module does not change."""
        return f"{self.line}:{self.start}:{self.kind}"

    def apply(self, source: str) -> str:
        """The mutated module."""
        return source[: self.start] + self.new + source[self.end :]


def mutants(source: str) -> list[Mutant]:
    """All mutants of a module, in the order of the source."""
    found = {mutant.name: mutant for mutant in _Finder(source).find()}
    return sorted(found.values(), key=lambda mutant: (mutant.start, mutant.kind))


class _Finder:
    def __init__(self, source: str) -> None:
        self.source = source
        # Offsets of ast are in bytes of UTF-8, those of Mutant in characters.
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def find(self) -> Iterator[Mutant]:
        yield from self._visit(ast.parse(self.source))

    def _visit(self, node: ast.AST) -> Iterator[Mutant]:
        yield from self._mutate(node)
        for name, field in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for child in field if isinstance(field, list) else [field]:
                if isinstance(child, ast.AST) and not _is_left_alone(child):
                    yield from self._visit(child)

    def _mutate(self, node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.Compare):
            left = node.left
            for operator, right in zip(node.ops, node.comparators, strict=True):
                yield from self._swap(left, right, _COMPARE[type(operator)], "comparison")
                left = right
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            yield from self._swap(node.left, node.right, _BINARY[type(node.op)], "arithmetic")
        elif isinstance(node, ast.BoolOp):
            yield from self._swap(node.values[0], node.values[1], _BOOLEAN[type(node.op)], "boolean")
        elif isinstance(node, ast.UnaryOp):
            start, end = self._span(node)
            yield self._change(start, end, self.source[slice(*self._span(node.operand))], "unary")
        elif isinstance(node, ast.Constant):
            yield from self._constants(node)
        elif isinstance(node, ast.AugAssign):
            yield from self._swap(node.target, node.value, _augmented(node.op), "assignment")
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            start, end = self._span(node.test)
            yield self._change(start, end, f"not ({self.source[start:end]})", "negation")
        if isinstance(node, ast.Assign | ast.AugAssign) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            start, end = self._span(node)
            yield self._change(start, end, "pass", "removal")

    def _constants(self, node: ast.Constant) -> Iterator[Mutant]:
        start, end = self._span(node)
        if isinstance(node.value, bool):
            yield self._change(start, end, str(not node.value), "constant")
        elif isinstance(node.value, int):
            for kind, step in (("constant + 1", 1), ("constant - 1", -1)):
                yield self._change(start, end, f"({node.value + step})", kind)
        elif isinstance(node.value, float):
            yield self._change(start, end, f"({node.value} + 1)", "constant + 1")

    def _swap(self, left: ast.expr, right: ast.expr, texts: tuple[str, str], kind: str) -> Iterator[Mutant]:
        """Put the second text for the first one, which stands between these two expressions."""
        first, last = self._span(left)[1], self._span(right)[0]
        place = self.source.find(texts[0], first, last)
        if place >= 0:
            yield self._change(place, place + len(texts[0]), texts[1], kind)

    def _change(self, start: int, end: int, new: str, kind: str) -> Mutant:
        line = self.source.count("\n", 0, start) + 1
        return Mutant(line, start, end, kind, self.source[start:end], new)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int | None, column: int | None) -> int:
        assert line is not None
        text = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(text)


def _augmented(operator: ast.operator) -> tuple[str, str]:
    old, new = _BINARY[type(operator)]
    return old + "=", new + "="


def _is_left_alone(node: ast.AST) -> bool:
    """Texts, errors and what they say, imports, and what only type checkers read."""
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.arguments):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
