"""The list of tests that take long names tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_what_is_listed_is_there():
    lines = (ROOT / "tests" / "long.txt").read_text().splitlines()
    assert lines == sorted(set(lines))
    for line in lines:
        file, *names = line.partition("[")[0].split("::")
        text = (ROOT / file).read_text()
        inherited = len(names) == 2  # a test of a contract
        for name in names[:1] if inherited else names:
            assert re.search(rf"(def|class) {name}\b", text), line
