"""Queries are fixed text: what is given to `execute`, or is the text of a `Query`, is made of constants and of the builders named
here, never of values."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "graphroute"
SOURCES = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
RUNNERS = {"execute", "executemany", "executescript"}

BUILDERS = {
    "_date": "parts of the texts over mapped graphs; made of names of variables",
    "_fact": "as `_date`",
    "_id": "as `_date`",
    "_label": "as `_date`",
    "_readable": "as `_date`",
    "_step": "as `_date`",
    "_steps": "as `_date`, with a number of hops",
    "_values": "as `_date`",
    "_walk": "as `_steps`",
    "alive": "validity of a row at a snapshot; holds the snapshot's number",
    "relationship_type": "a predicate in quotation marks, escaped; only where facts are written",
    "attribute_condition": "operators from a closed table, with `?` for values",
    "in_scopes": "readable scopes; holds their numbers",
    "time_condition": "interval tests; hold microseconds as numbers",
    "typed": "which rows of types a view may read; made of `alive` and `in_scopes`",
}
"""Functions whose text may stand in a query, and what it is made of."""

PIECES: dict[str, tuple[str, ...]] = {
    "_born_and_dead": ("table", "columns"),
    "_keep_or_add": ("table", "where"),
    "_level": ("arrow",),
    "end_rows": ("table",),
    "first_value": ("sql",),
}
"""Functions that pass text on to a query, with those parameters; what callers give for them is checked instead."""

EXCEPTIONS: dict[str, str] = {
    "stores/catalog/sqlite.py:_where": "columns of its callers, conditions of attribute_condition, joined",
    "stores/database.py:_index": "the statements of the schema",
    "stores/database.py:_prepare": "the statements of the schema",
    "stores/database.py:_scope_table": "a temporary table's number",
    "stores/graph/sqlite.py:_level": "columns and order of its callers, conditions of the builders",
    "stores/mapped/queries.py:_level": "an arrow of its callers",
    "stores/mapped/queries.py:label_query": "fixed templates with names of the mapping, quoted",
    "stores/neo4j/connection.py:warm": "EXPLAIN before a text that is checked where it is made",
    "stores/neo4j/migrate.py:_repair": "statements of the migration files",
    "stores/neo4j/migrate.py:migrate": "statements of the migration files",
    "stores/neo4j/replica.py:_copy_born": "the texts of TABLES",
    "stores/neo4j/replica.py:_copy_ended": "the texts of TABLES",
    "stores/neo4j/replica.py:_find_lost": "the texts of TABLES",
    "stores/qdrant/replica.py:changed": "a class's own table and fixed conditions",
    "stores/qdrant/replica.py:changed_count": "a class's own table and fixed conditions",
    "stores/qdrant/replica.py:count": "a class's own table",
    "stores/qdrant/replica.py:keys": "a class's own table",
    "stores/scope_digests.py:add_up": "one of two conditions",
    "stores/settling.py:_scope_rows": "the writer's own tables and columns, a scope's number",
}
"""`file:function` to why its text is neither, and what it is made of."""


class Scan(ast.NodeVisitor):
    """Collects `file:function` and line of each query whose text is not fixed."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.found: list[tuple[str, int]] = []
        self.functions: list[ast.FunctionDef] = []
        self.assigned: list[dict[str, list[ast.expr]]] = []
        self.pending: set[str] = set()
        tree = ast.parse(text)
        named = [target.id for node in tree.body for target in _targets(node)]
        named += [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
        self.constants = {name for name in named if name.strip("_").isupper()}
        self.visit(tree)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        local: dict[str, list[ast.expr]] = {}
        for inner in ast.walk(node):
            for name, value in _assignments(inner):
                local.setdefault(name, []).append(value)
        self.functions.append(node)
        self.assigned.append(local)
        self.generic_visit(node)
        self.functions.pop()
        self.assigned.pop()

    def visit_Call(self, node: ast.Call) -> None:
        called = _called(node)
        if (
            isinstance(node.func, ast.Attribute) and called in RUNNERS and node.args and not self.fixed(node.args[0])
        ) or (called == "Query" and not self.query(node)):
            self.report(node)
        elif called in PIECES:
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            # Positional arguments are matched by their place in the definition, in the same file if there is one.
            for parameter, value in zip(self.parameters(called), node.args, strict=False):
                given[parameter] = value
            if not all(self.fixed(value) for name, value in given.items() if name in PIECES[called]):
                self.report(node)
        self.generic_visit(node)

    def query(self, node: ast.Call) -> bool:
        """True for a `Query` of the driver adapters that is made of fixed text."""
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        texts = [*node.args, *(value for name, value in given.items() if name in ("name", "text"))]
        return all(self.fixed(text) for text in texts)

    def report(self, node: ast.Call) -> None:
        self.found.append((f"{self.name}:{self.functions[-1].name if self.functions else '<module>'}", node.lineno))

    def parameters(self, function: str) -> list[str]:
        for text in (SOURCES.get(self.name, ""), *SOURCES.values()):
            for node in ast.walk(ast.parse(text)) if f"def {function}(" in text else ():
                if isinstance(node, ast.FunctionDef) and node.name == function:
                    return [argument.arg for argument in node.args.args if argument.arg != "self"]
        return []

    def fixed(self, node: ast.expr) -> bool:
        """True for text made of constants, numbers in `:d`, builders, and names that hold nothing else."""
        match node:
            case ast.Constant():
                return isinstance(node.value, (str, int))
            case ast.JoinedStr():
                return all(
                    isinstance(part, ast.Constant)
                    or (isinstance(part, ast.FormattedValue) and (_is_number(part) or self.fixed(part.value)))
                    for part in node.values
                )
            case ast.BinOp(op=ast.Add()):
                return self.fixed(node.left) and self.fixed(node.right)
            case ast.IfExp():
                return self.fixed(node.body) and self.fixed(node.orelse)
            case ast.Subscript():
                return self.fixed(node.value)
            case ast.Attribute():
                return node.attr.strip("_").isupper()
            case ast.Call():
                return self.builder(node.func) or _is_marks(node)
            case ast.Name():
                return self.fixed_name(node.id)
        return False

    def builder(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr in BUILDERS
        if isinstance(node, ast.Name):
            held = self.assigned[-1].get(node.id, []) if self.assigned else []
            return node.id in BUILDERS or bool(held and all(self.builder(value) for value in held))
        return False

    def fixed_name(self, name: str) -> bool:
        if name in self.constants:
            return True
        if not self.functions or name in self.pending:
            return name in self.pending
        if name in PIECES.get(self.functions[-1].name, ()):
            return True
        held = self.assigned[-1].get(name, [])
        self.pending.add(name)
        try:
            return bool(held) and all(self.fixed(value) for value in held)
        finally:
            self.pending.discard(name)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _is_marks(node: ast.Call) -> bool:
    """`",".join("?" * n)`."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "join" and len(node.args) == 1):
        return False
    marks = node.args[0]
    return (
        isinstance(node.func.value, ast.Constant)
        and isinstance(marks, ast.BinOp)
        and isinstance(marks.op, ast.Mult)
        and isinstance(marks.left, ast.Constant)
        and marks.left.value == "?"
    )


def _is_number(part: ast.FormattedValue) -> bool:
    """`{x:d}`, which no text passes."""
    spec = part.format_spec
    return isinstance(spec, ast.JoinedStr) and [getattr(value, "value", None) for value in spec.values] == ["d"]


def _targets(node: ast.stmt) -> list[ast.Name]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target for target in targets if isinstance(target, ast.Name)]


def _assignments(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """(name, value) of every way a name gets a value; a value that cannot be followed is None."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        found: list[tuple[str, ast.expr]] = []
        for target in targets:
            if isinstance(target, ast.Name):
                found.append((target.id, node.value))
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
                found += [(name.id, value) for name, value in pairs if isinstance(name, ast.Name)]
            elif isinstance(target, ast.Tuple):
                found += [(name.id, ast.Constant(None)) for name in target.elts if isinstance(name, ast.Name)]
        return found
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return [(node.target.id, node.value)]
    if isinstance(node, (ast.For, ast.comprehension)):
        names = [name for name in ast.walk(node.target) if isinstance(name, ast.Name)]
        over = (
            node.iter.func.value
            if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Attribute)
            else node.iter
        )
        if isinstance(over, ast.Name) and over.id.strip("_").isupper():
            return [(name.id, over) for name in names]
        rows = node.iter.elts if isinstance(node.iter, (ast.Tuple, ast.List)) else []
        if rows and isinstance(node.target, ast.Name):
            return [(node.target.id, row) for row in rows]
        if rows and isinstance(node.target, ast.Tuple) and all(isinstance(row, ast.Tuple) for row in rows):
            return [
                (name.id, value)
                for row in rows
                if isinstance(row, ast.Tuple)
                for name, value in zip(node.target.elts, row.elts, strict=False)
                if isinstance(name, ast.Name)
            ]
        return [(name.id, ast.Constant(None)) for name in names]
    return []


def scan(name: str, text: str) -> list[tuple[str, int]]:
    return Scan(name, text).found


def test_query_text_is_fixed() -> None:
    found = [
        f"{place} line {line}"
        for name, text in SOURCES.items()
        for place, line in scan(name, text)
        if place not in EXCEPTIONS
    ]
    assert found == []


def test_the_lists_only_shrink() -> None:
    places = {place for name, text in SOURCES.items() for place, _ in scan(name, text)}
    defined = {
        node.name
        for text in SOURCES.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    }
    assert set(EXCEPTIONS) - places == set()
    assert (set(BUILDERS) | set(PIECES)) - defined == set()


@pytest.mark.parametrize(
    "line",
    [
        "db.execute(f'SELECT {x}')",
        "db.execute('SELECT ' + x)",
        "db.execute(text)",
        "db.execute('%s' % x)",
        "db.execute(make(x))",
        "db.executemany('a'.format(x), [])",
        "a = 'b' if x else x; db.execute(a)",
        "a = 'b'; a += x; db.execute(a)",
        "a, b = x; db.execute(a)",
        "[db.execute(t) for t in x]",
        "db.execute(f'LIMIT {x!r}')",
        "db.read(Query('a', f'MATCH (n:{x})'))",
        "db.read(Query(name='a', text=x))",
        "staging.first_value(f'SELECT {x}')",
        "staging.end_rows(x, [1])",
    ],
)
def test_the_scan_finds_built_text(line: str) -> None:
    assert scan("x.py", f"def ask(db, x, text):\n    {line}\n") == [("x.py:ask", 2)]


@pytest.mark.parametrize(
    "line",
    [
        "db.execute('SELECT 1', (x,))",
        "db.execute(QUERY, (x,))",
        "db.execute(f'{QUERY} WHERE {TAIL}')",
        "db.execute('a' 'b')",
        "db.execute(f'LIMIT {x:d}')",
        "a = 'b' if x else ''; db.execute(f'{a}')",
        "db.execute(f'WHERE {alive(x)}')",
        "f = db.in_scopes; db.execute(f'WHERE {f(x)}')",
        "[db.execute(f'SELECT {t}') for t in ('a', 'b')]",
        "db.read(Query('a', f'{QUERY} LIMIT 1'), x)",
        "db.write(Query('a', f'CREATE (a)-[:{relationship_type(x)}]->(b)'))",
    ],
)
def test_the_scan_leaves_fixed_text_alone(line: str) -> None:
    assert scan("x.py", f"QUERY = 'a'\nTAIL = 'b'\ndef ask(db, x):\n    {line}\n") == []
