"""What is advised where something is not installed."""

import re
import tomllib
from pathlib import Path

import pytest

from pesky.extras import to_install

ROOT = Path(__file__).parents[1]
TEXTS = ("*.md", "*.py", "*.toml", "*.ipynb", "*.html", "*.js", "*.yml")
PLACES = ("src", "docs", "examples", "benchmarks", "experiments", "tests")
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
BY_NAME = re.compile(
    r"\b(?:pip|pipx|uv|conda)\b[^\n`#]*\b(?:install|add|run)\b[^\n`#]*(?<![\w./-])pesky(?![\w/.-])"
    r"|(?<![\w./-])pesky\[\w"  # what pip would be given, wherever it stands
)


def nothing(extra: str) -> bool:
    return any(each.startswith("pesky[") for each in EXTRAS[extra])


@pytest.mark.parametrize("extra", [each for each in EXTRAS if not nothing(each)])
def test_the_command_names_the_requirements_and_never_pesky(extra: str):
    said = to_install(extra)
    assert said.startswith('pip install "')
    names = [re.split(r"[<>=]", each)[0] for each in EXTRAS[extra]]
    assert all(f'"{name}' in said for name in names)
    assert said.count('"') == 2 * len(names)
    assert "pesky" not in said


@pytest.mark.parametrize(
    "said", ["pip install 'pesky[show]'", "pip install -U pesky", 'uv pip install "pesky"', "| `pesky[ax]` |"]
)
def test_what_is_looked_for_is_found(said: str):
    assert BY_NAME.search(said)


@pytest.mark.parametrize(
    "said", ["pip install './pesky[show]'", "pip install -c pesky/constraints.txt '.[show]'", "`pesky` [x](y)"]
)
def test_and_nothing_else(said: str):
    assert not BY_NAME.search(said)


def test_no_advice_installs_pesky_by_a_name_that_anybody_can_take():
    files = [path for place in PLACES for kind in TEXTS for path in (ROOT / place).rglob(kind)] + [*ROOT.glob("*.md")]
    found = [
        f"{path}: {each[0]}" for path in files if path != Path(__file__) for each in BY_NAME.finditer(path.read_text())
    ]
    assert len(files) > 300
    assert not found
