"""SQL is fixed text: what is given to `execute` is a constant, but for the builders named here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "graphroute").rglob("*.py"))
RUNNERS = {"execute", "executemany", "executescript"}

BUILDERS: dict[str, str] = {
    "indexing/embedding.py:get": "as many `?` as there are keys",
}
"""`module.py:function` to why its text is not a constant and what it is made of instead."""


class Scan(ast.NodeVisitor):
    """Collects `file:function:line` of each call whose query text is not made of constants."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name = name
        self.functions: list[str] = []
        self.found: list[tuple[str, int]] = []
        self.constants = {
            target.id
            for node in tree.body
            if isinstance(node, (ast.Assign, ast.AnnAssign))
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name) and target.id.strip("_").isupper()
        }
        self.visit(tree)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.functions.append(node.name)
        self.generic_visit(node)
        self.functions.pop()

    def visit_Call(self, node: ast.Call) -> None:
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in RUNNERS
            and node.args
            and not self.fixed(node.args[0])
        ):
            self.found.append((f"{self.name}:{self.functions[-1] if self.functions else '<module>'}", node.lineno))
        self.generic_visit(node)

    def fixed(self, node: ast.expr) -> bool:
        """True for string constants, constants of the module in capitals, and texts made of nothing else."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str)
        if isinstance(node, ast.Name):
            return node.id in self.constants
        if isinstance(node, ast.Attribute):
            return node.attr.strip("_").isupper()
        if isinstance(node, ast.JoinedStr):
            return all(
                isinstance(part, ast.Constant) or (isinstance(part, ast.FormattedValue) and self.fixed(part.value))
                for part in node.values
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.fixed(node.left) and self.fixed(node.right)
        if isinstance(node, ast.Subscript):
            return self.fixed(node.value)
        return False


def scan(name: str, text: str) -> list[tuple[str, int]]:
    return Scan(name, ast.parse(text)).found


def test_query_text_is_fixed() -> None:
    found = [
        f"{place} line {line}"
        for path in SOURCES
        for place, line in scan(str(path.relative_to(ROOT / "src" / "graphroute")), path.read_text(encoding="utf-8"))
        if place not in BUILDERS
    ]
    assert found == []


def test_the_list_of_builders_only_shrinks() -> None:
    places = {
        place
        for path in SOURCES
        for place, _ in scan(str(path.relative_to(ROOT / "src" / "graphroute")), path.read_text(encoding="utf-8"))
    }
    assert set(BUILDERS) - places == set()


@pytest.mark.parametrize(
    "line",
    ["db.execute(f'SELECT {x}')", "db.execute('SELECT ' + x)", "db.execute(text)", "db.execute('%s' % x)", "db.execute(make(x))", "db.executemany('a'.format(x), [])"],
)  # fmt: skip
def test_the_scan_finds_built_text(line: str) -> None:
    assert scan("x.py", f"def ask(db, x, text):\n    {line}\n") == [("x.py:ask", 2)]


@pytest.mark.parametrize(
    "line",
    [
        "db.execute('SELECT 1', (x,))",
        "db.execute(QUERY, (x,))",
        "db.execute(f'{QUERY} WHERE {TAIL}')",
        "db.execute('a' 'b')",
    ],
)
def test_the_scan_leaves_fixed_text_alone(line: str) -> None:
    assert scan("x.py", f"QUERY = 'a'\nTAIL = 'b'\ndef ask(db, x):\n    {line}\n") == []
