"""A condition on named values, as a person types it: `jerk_mean < 3 and idle_share < 0.2`.

Python's syntax, of which only this is understood: comparisons (also chained, and `in`), `and`, `or`, `not`,
`+ - * / %`, numbers, texts, names, brackets, `min`, `max` and `abs`. What else is in the text is refused before
anything is evaluated, and so is a comparison of a number with a text.
"""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .errors import ConfigError

Kind = Literal["number", "text", "truth"]
Value = float | str | bool

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_EQUALITIES: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {ast.Eq: operator.eq, ast.NotEq: operator.ne}
_MEMBERSHIPS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}
_COMPARISONS = _ORDERS | _EQUALITIES | _MEMBERSHIPS
_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}


@dataclass(frozen=True)
class Clause:
    """One of the parts of a condition that must all hold: its text, the names in it, and its syntax tree."""

    text: str
    names: tuple[str, ...]
    tree: ast.expr

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Whether it holds for these values; ConfigError if it cannot be worked out, as a division by zero."""
        try:
            return bool(_evaluate(self.tree, values))
        except ArithmeticError as error:
            raise ConfigError(
                f"{self.text!r} cannot be worked out where {self.describe(values)} ({error}); put a check before it, "
                "with `and`"
            ) from error

    def describe(self, values: Mapping[str, Value]) -> str:
        """The values of its names: `jerk_mean = 4.2`."""
        return ", ".join(f"{name} = {shown(values[name])}" for name in self.names)


@dataclass(frozen=True)
class Condition:
    """Clauses that must all hold. Make one with `parse_condition`."""

    text: str
    clauses: tuple[Clause, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names in it, each once."""
        return tuple(dict.fromkeys(name for clause in self.clauses for name in clause.names))

    def failing(self, values: Mapping[str, Value]) -> list[Clause]:
        """The clauses that do not hold; those after the first are passed over where they cannot be worked out.

        Raises:
            ConfigError: a clause cannot be worked out though all before it hold.
        """
        failed: list[Clause] = []
        for clause in self.clauses:
            try:
                if not clause.holds(values):
                    failed.append(clause)
            except ConfigError:
                # As in Python, where `a > 0 and b / a > 1` asks for the second only if the first holds.
                if not failed:
                    raise
        return failed


def parse_condition(text: str, kinds: Mapping[str, Kind]) -> Condition:
    """Read a condition on values of these names and kinds.

    Raises:
        ConfigError: it is no condition, or it has something in it that is not understood; the message names it.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        kind = _kind(tree, kinds)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ConfigError):
            raise
        fault = error.msg if isinstance(error, SyntaxError) else type(error).__name__
        raise ConfigError(f"cannot read {text!r} as a condition ({fault}); write it as in 'a < 3 and b > 2'") from error
    if kind != "truth":
        raise ConfigError(f"{text!r} is a {kind}, not a condition; compare it with something, as in 'a < 3'")
    return Condition(text.strip(), tuple(_clause(part) for part in _conjuncts(tree)))


def shown(value: Value) -> str:
    """A value in a few characters."""
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def _conjuncts(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in _conjuncts(value)]
    return [tree]


def _clause(tree: ast.expr) -> Clause:
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in _FUNCTIONS]
    return Clause(ast.unparse(tree), tuple(dict.fromkeys(names)), tree)


def _kind(node: ast.expr, kinds: Mapping[str, Kind]) -> Kind:
    """What a node evaluates to; ConfigError if it, or something in it, is not understood."""
    match node:
        case ast.Constant(value=bool()):
            return "truth"
        case ast.Constant(value=int() | float()):
            return "number"
        case ast.Constant(value=str()):
            return "text"
        case ast.Name(id=name):
            return _known(name, kinds)
        case ast.BoolOp(values=values):
            return _require("truth", values, kinds)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _require("truth", [operand], kinds)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _SIGNS:
            return _require("number", [operand], kinds)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return _require("number", [left, right], kinds)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as args, keywords=[]) if name in _FUNCTIONS:
            _check_count(name, args)
            return _require("number", args, kinds)
        case ast.Compare(left=left, ops=ops, comparators=others):
            _check_comparison([left, *others], ops, kinds)
            return "truth"
    raise ConfigError(
        f"{ast.unparse(node)!r} cannot be part of a condition; use comparisons, and, or, not, arithmetic, numbers, "
        "texts in quotes, names, min, max and abs"
    )


def _known(name: str, kinds: Mapping[str, Kind]) -> Kind:
    if name not in kinds:
        near = difflib.get_close_matches(name, kinds, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(f"there is no {name!r} to compare; {hint}known are {', '.join(sorted(kinds))}")
    return kinds[name]


def _require(kind: Kind, nodes: Sequence[ast.expr], kinds: Mapping[str, Kind]) -> Kind:
    for node in nodes:
        if (found := _kind(node, kinds)) != kind:
            raise ConfigError(f"{ast.unparse(node)!r} is a {found} where a {kind} is needed; compare or quote it")
    return kind


def _check_count(name: str, args: Sequence[ast.expr]) -> None:
    if (name == "abs") != (len(args) == 1):
        raise ConfigError(f"{name} takes {'one number' if name == 'abs' else 'two numbers or more'}, got {len(args)}")


def _check_comparison(nodes: Sequence[ast.expr], ops: Sequence[ast.cmpop], kinds: Mapping[str, Kind]) -> None:
    for left, op, right in zip(nodes, ops, nodes[1:], strict=False):
        kind = _kind(left, kinds)
        if type(op) not in _COMPARISONS or (kind == "truth" and type(op) in _ORDERS):
            raise ConfigError(f"{ast.unparse(ast.Compare(left, [op], [right]))!r} compares what has no such relation")
        if type(op) in _MEMBERSHIPS and isinstance(right, ast.Tuple | ast.List):
            _require(kind, right.elts, kinds)
        else:
            _require("text" if type(op) in _MEMBERSHIPS else kind, [left, right], kinds)


def _evaluate(node: ast.expr, values: Mapping[str, Value]) -> Any:
    """The value of a node that `_kind` has let through."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return [_evaluate(item, values) for item in items]
        case ast.BoolOp(op=op, values=parts):
            return (all if isinstance(op, ast.And) else any)(_evaluate(part, values) for part in parts)
        case ast.UnaryOp(op=op, operand=operand):
            value = _evaluate(operand, values)
            return not value if isinstance(op, ast.Not) else _SIGNS[type(op)](value)
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_evaluate(left, values), _evaluate(right, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name](*(_evaluate(arg, values) for arg in args))
        case ast.Compare(left=left, ops=ops, comparators=others):
            found = [_evaluate(side, values) for side in (left, *others)]
            return all(_COMPARISONS[type(op)](*sides) for op, *sides in zip(ops, found, found[1:], strict=False))
    raise AssertionError(f"{ast.dump(node)} was let through")
