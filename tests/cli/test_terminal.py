"""Runs in a terminal, and side by side."""

import json
import re
import subprocess
import sys

from in_terminal import ENVIRONMENT, in_terminal

# no measurement ends before both workers have begun one
TOGETHER = """\
import os, pathlib, time

def measure(params):
    pathlib.Path(f"worker-{os.getppid()}").touch()
    while len(list(pathlib.Path().glob("worker-*"))) < 2:
        time.sleep(0.02)
    return {"f": params["x"], "c": 1.0}
"""


def test_a_terminal_has_a_live_view_with_what_is_printed_above(project):
    project.measure(
        "import time\n"
        "def measure(params):\n"
        "    print('[heating] up')\n"
        "    time.sleep(0.4)\n"
        "    return {'f': params['x'], 'c': 1.0}\n"
    )
    code, text = in_terminal("run", "study.toml")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert code == 0
    assert "New study 'study', kept in study.db." in text
    assert "study: minimize f" in text
    assert re.search(r"running +#1 all", text)
    assert re.search(r"best so far +f = ", text)
    assert text.count("[heating] up") == 3
    last = text.rstrip().splitlines()[-5:]  # what is said of points that were not measured may follow
    assert any(line.startswith("Holds with probability") for line in last)


def test_workers_share_a_study(pesky, project):
    project.change("[budget]\nevaluations = 3", "[budget]\nevaluations = 6\n[run]\ninitial = 6")
    project.measure(TOGETHER)
    work = [sys.executable, "-m", "pesky", "work", "study.toml", "--json"]
    both = [subprocess.Popen(work, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT) for _ in "ab"]
    said = [json.loads(process.communicate(timeout=120)[0]) for process in both]
    assert [each["evaluations"] for each in said] == [6, 6]
    rows = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert [(row["id"], row["state"], row["attempts"]) for row in rows] == [(i, "done", 1) for i in range(6)]
    assert len({row["worker"] for row in rows}) == 2
    assert len({row["params"]["x"] for row in rows}) == 6
