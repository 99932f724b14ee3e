"""The small changes that are tried: each a place in a module, its text before and its text after.

It alone knows the kinds. A change keeps the module's syntax; whether it keeps its meaning is for
the tests to find out. Only the text of the changed place is replaced, so that a line number in a
report is the line of the source.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COUNTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
LOGGERS = ("log", "_log")
EXTREMES = {"min": "max", "max": "min", "any": "all", "all": "any"}

Key = tuple[str, str, str, str, str, int]


@dataclass(frozen=True)
class Change:
    module: str
    function: str  # with its class, as Python names it
    line: int
    line_text: str
    kind: str
    before: str
    after: str
    start: int
    end: int
    nth: int = 1  # where a function has the same line twice

    def applied_to(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]

    @property
    def key(self) -> Key:
        """What it is without its line number, which would not last."""
        place = (self.module, self.function, self.line_text)
        return *place, one_line(self.before), self.after, self.nth

    @property
    def name(self) -> str:
        """A short name that lasts as long as the line does."""
        return hashlib.sha256("\0".join(map(str, self.key)).encode()).hexdigest()[:8]

    @property
    def sentence(self) -> str:
        before, after = (one_line(text)[:70] for text in (self.before, self.after))
        return f"{self.module}:{self.line} {self.function}: {self.kind}: {before} -> {after}"


def one_line(text: str) -> str:
    return " ".join(text.split())


def changes_of(root: Path, module: str) -> list[Change]:
    """Every change of one module, in the order of its lines."""
    source = (root / module).read_bytes()
    finder = _Finder(module, source)
    finder.visit(ast.parse(source))
    numbered: list[Change] = []
    seen: Counter[Key] = Counter()
    for change in sorted(finder.found, key=lambda each: (each.start, each.kind, each.after)):
        seen[change.key] += 1
        numbered.append(replace(change, nth=seen[change.key]))
    return numbered


class _Finder(ast.NodeVisitor):
    def __init__(self, module: str, source: bytes) -> None:
        self.found: list[Change] = []
        self._module = module
        self._source = source
        self._lines = source.decode().splitlines()
        self._line_starts = [0]
        for line in source.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))
        self._functions: list[str] = []
        self._around: list[str] = []

    def visit(self, node: ast.AST) -> None:
        # What stands outside a function are names, types and defaults: not behaviour.
        if self._functions and isinstance(node, ast.expr | ast.stmt) and not _is_logging(node):
            for kind, after in _changed(node):
                self._add(node, kind, after)
        if isinstance(node, ast.If) and self._functions:
            self._add(node.test, "condition", "False")
            self._add(node.test, "condition", "True")
        super().visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._around.append(node.name)
        self.generic_visit(node)
        self._around.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._functions.append(".".join([*self._around, node.name]))
        self._around += [node.name, "<locals>"]
        for statement in node.body:
            self.visit(statement)
        del self._around[-2:]
        self._functions.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that ast calls

    def visit_Expr(self, node: ast.Expr) -> None:
        if not _is_logging(node):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """What people read is not changed here; sentences have tests of their own."""

    def _add(self, node: ast.expr | ast.stmt, kind: str, after: str) -> None:
        start, end = self._place(node)
        before = self._source[start:end].decode()
        if before == after:
            return
        line_text = self._lines[node.lineno - 1].strip()
        place = (self._module, self._functions[-1], node.lineno, line_text)
        self.found.append(Change(*place, kind, before, after, start, end))

    def _place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._line_starts[node.lineno - 1] + node.col_offset
        return start, self._line_starts[node.end_lineno - 1] + node.end_col_offset


def _is_logging(node: ast.AST) -> bool:
    """What is only logged changes nothing at the table."""
    called = node.value if isinstance(node, ast.Expr) else None
    function = called.func if isinstance(called, ast.Call) else None
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id in LOGGERS
    )


def _changed(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Kind and new text of each change that can be made at this very node."""
    for kinds, make in _MAKERS:
        if isinstance(node, kinds):
            yield from make(node)


def _expression(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _compare(node: ast.Compare) -> Iterator[tuple[str, str]]:
    for place, operator in enumerate(node.ops):
        other = copy.deepcopy(node)
        other.ops[place] = COMPARED[type(operator)]()
        yield "comparison", _expression(other)


def _both(node: ast.BoolOp) -> Iterator[tuple[str, str]]:
    other = copy.deepcopy(node)
    other.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "and/or", _expression(other)


def _sign(node: ast.UnaryOp) -> Iterator[tuple[str, str]]:
    if isinstance(node.op, ast.Not):
        yield "not dropped", _expression(node.operand)
    elif isinstance(node.op, ast.USub):
        yield "sign", _expression(node.operand)


def _sum(node: ast.BinOp) -> Iterator[tuple[str, str]]:
    if type(node.op) in COUNTED and not _is_text(node):
        other = copy.deepcopy(node)
        other.op = COUNTED[type(node.op)]()
        yield "arithmetic", _expression(other)


def _is_text(node: ast.BinOp) -> bool:
    parts = (node.left, node.right)
    return any(
        isinstance(part, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str | bytes))
        for part in parts
    )


def _constant(node: ast.Constant) -> Iterator[tuple[str, str]]:
    value = node.value
    if isinstance(value, bool):
        yield "truth", str(not value)
    elif isinstance(value, int):
        yield "number", str(value + 1)
    elif isinstance(value, float):
        yield "number", str(value * 1.5 or 1.0)


def _choice(node: ast.IfExp) -> Iterator[tuple[str, str]]:
    yield "branch dropped", _expression(node.orelse)


def _extreme(node: ast.Call) -> Iterator[tuple[str, str]]:
    if isinstance(node.func, ast.Name) and node.func.id in EXTREMES:
        other = copy.deepcopy(node)
        other.func = ast.Name(EXTREMES[node.func.id], ast.Load())
        yield "extreme", ast.unparse(other)


def _raise(node: ast.Raise) -> Iterator[tuple[str, str]]:
    yield "raise dropped", "pass"


def _call(node: ast.Expr) -> Iterator[tuple[str, str]]:
    value = node.value.value if isinstance(node.value, ast.Await) else node.value
    if isinstance(value, ast.Call):
        yield "call dropped", "pass"


def _assign(node: ast.Assign | ast.AugAssign) -> Iterator[tuple[str, str]]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets):
        yield "assignment dropped", "pass"


def _leave(node: ast.Break | ast.Continue) -> Iterator[tuple[str, str]]:
    yield "loop", "continue" if isinstance(node, ast.Break) else "break"


def _return(node: ast.Return) -> Iterator[tuple[str, str]]:
    if node.value is None:
        yield "early return dropped", "pass"


_MAKERS: tuple[tuple[type | tuple[type, ...], Callable[..., Iterator[tuple[str, str]]]], ...] = (
    (ast.Compare, _compare),
    (ast.BoolOp, _both),
    (ast.UnaryOp, _sign),
    (ast.BinOp, _sum),
    (ast.Constant, _constant),
    (ast.IfExp, _choice),
    (ast.Call, _extreme),
    (ast.Raise, _raise),
    (ast.Expr, _call),
    ((ast.Assign, ast.AugAssign), _assign),
    ((ast.Break, ast.Continue), _leave),
    (ast.Return, _return),
)
KINDS = (
    "comparison",
    "and/or",
    "not dropped",
    "sign",
    "arithmetic",
    "truth",
    "number",
    "condition",
    "branch dropped",
    "extreme",
    "raise dropped",
    "call dropped",
    "assignment dropped",
    "loop",
    "early return dropped",
)
