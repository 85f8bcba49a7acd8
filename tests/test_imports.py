"""What is imported only by those who use it: BoTorch, GPyTorch, scipy and sympy take longer than a question does."""

import ast
import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pesky.on_use import attribute

SOURCE = Path(__file__).parents[1] / "src/pesky"
OTHERS = {"botorch", "gpytorch", "linear_operator", "scipy", "sympy"}
THEIRS = {SOURCE / "acquire/botorch.py", SOURCE / "model/botorch.py"}
"""Modules for those who have a BoTorch model, which no other imports before it is needed."""
APART = ("adapt", "sklearn", "show", "test_functions", "testing")
"""What no study needs."""


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules that a module imports with itself: not in a function, and not for the type checker alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif not isinstance(node, ast.FunctionDef) and not (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            yield from imported(node)


@pytest.mark.parametrize("folder", sorted({"."} | {each.name for each in SOURCE.iterdir() if each.is_dir()} - {*APART}))
def test_a_study_imports_nothing_that_only_others_need(folder: str):
    theirs = {f"pesky.{'.'.join(each.relative_to(SOURCE).with_suffix('').parts)}" for each in THEIRS}
    for path in (SOURCE / folder).glob("*.py" if folder == "." else "**/*.py"):
        if path not in THEIRS:
            names = set(imported(ast.parse(path.read_text())))
            assert not {each.split(".")[0] for each in names} & OTHERS, path
            assert not names & theirs, path


def test_nor_does_a_question_that_a_model_decides():
    code = f"""
import sys, pesky
study = pesky.Study(pesky.Problem({{"x": pesky.Real(0, 1)}}, minimize="f", constraints=["c >= 0"]))
for x in (0.1, 0.5, 0.9):
    study.add({{"x": x}}, {{"f": x, "c": x - 0.3}})
assert study.ask().gain is not None
assert study.recommend().params
assert not {OTHERS!r} & set(sys.modules), {OTHERS!r} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_garbage_is_looked_for_again_after_an_import_even_one_that_fails():
    assert attribute("json", "dumps")
    assert gc.isenabled()
    with pytest.raises(ModuleNotFoundError):
        attribute("pesky.nowhere", "x")
    assert gc.isenabled()
    gc.disable()
    try:
        attribute("json", "dumps")
        assert not gc.isenabled()
    finally:
        gc.enable()
