"""A known outcome on the command line: checked, run, recommended, and shown as feasible or not."""

import json

import pytest

from pesky.cli import exit_codes

STUDY = """\
minimize = "cost"
constraints = ["c >= 0", "room >= 0"]
noise = 0.0
function = "{module}:measure"

[known]
cost = "{module}:cost"
room = "{module}:room"

[parameters]
x = {{ type = "real", low = 0, high = 1 }}

[budget]
evaluations = 4
"""
MEASURE = """\
def measure(params):
    return params["x"] - 0.3

def cost(params):
    return 2 * params["x"]

def room(params):
    return 0.6 - params["x"]
"""


@pytest.fixture
def known(project):
    project.write(STUDY)
    project.measure(MEASURE)
    return project


def test_check_says_what_is_known(known, pesky):
    result = pesky("check", "study.toml")
    assert f"  cost is known, by {known.module}:cost\n" in result.stdout
    assert "  all measures c by" in result.stdout
    assert json.loads(pesky("check", "study.toml", "--json").stdout)["problem"]["known"] == {
        "cost": f"{known.module}:cost", "room": f"{known.module}:room",
    }  # fmt: skip


def test_nothing_can_be_recommended_before_something_was_measured(known, pesky):
    pesky("ask", "study.toml")
    assert (
        "No recommendation yet: nothing was measured."
        in pesky("recommend", "study.toml", code=exit_codes.NOT_YET).stdout
    )


def test_a_run_measures_the_rest_and_recommends(known, pesky):
    pesky("run", "study.toml")
    advice = json.loads(pesky("recommend", "study.toml", "--json").stdout)
    assert advice["expected"] == pytest.approx(2 * advice["params"]["x"])
    assert advice["probabilities"]["room >= 0"] == 1.0
    shown = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert [set(each["outcomes"]) for each in shown] == [{"c"}] * 4
    assert [each["feasible"] for each in shown] == [0.3 <= each["params"]["x"] <= 0.6 for each in shown]
    (known.folder / f"{known.module}.py").unlink()
    assert pesky("status", "study.toml").stdout  # whoever only looks needs no function


def test_a_storage_by_itself_lacks_the_functions_and_says_what_has_them(known, pesky):
    pesky("run", "study.toml", "--quiet")
    assert "4 done" in pesky("status", "study.db").stdout
    said = " ".join(pesky("recommend", "study.db", code=exit_codes.MISTAKE).output.split())
    assert "nothing that is stored is called. Give its study file" in said
