"""What the package says of itself is what is tested."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_lowest_versions_that_are_tested_are_those_that_are_promised():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "lowest.txt").read_text().splitlines()
    tested = [line for line in lines if not line.startswith("#")]
    assert tested == [requirement.replace(">=", "==") for requirement in project["dependencies"]]


def test_the_versions_that_are_known_to_work_are_no_lower():
    known = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    lowest = dict(line.split("==") for line in (ROOT / "lowest.txt").read_text().splitlines() if "==" in line)

    def number(version: str) -> tuple[int, ...]:
        return tuple(map(int, version.split(".")))

    assert all(number(known[name]) >= number(version) for name, version in lowest.items())
