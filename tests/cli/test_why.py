"""`why` and `what-if`: what is kept with a question, and other thresholds, on the command line."""

import json

from pesky.cli import exit_codes


def test_a_question_is_explained_later_and_elsewhere(pesky, project):
    pesky("run", "study.toml", "--evaluations", 4, "--quiet")
    text = pesky("why", "study.toml").stdout
    assert text.startswith("#3 all at x=")
    assert "all is worth" in text
    assert "not known yet of the solution: x " in text
    said = text.splitlines()[-1]
    assert said.startswith("  expected here, by what was known then: f = ")
    assert "; c >= 0 with probability " in said
    assert "initial design" in pesky("why", "study.toml", 0).stdout
    assert "expected here" not in pesky("why", "study.toml", 0).stdout
    assert json.loads(pesky("why", "study.toml", 3, "--json").stdout)["values"].keys() == {"all"}
    assert "no evaluation 7" in pesky("why", "study.toml", 7, code=exit_codes.MISTAKE).output


def test_other_thresholds_are_asked_about_and_nothing_is_measured(pesky, project):
    pesky("run", "study.toml", "--evaluations", 4, "--quiet")
    assert "P(c >= 0.2) = " in pesky("what-if", "study.toml", "c=0.2").stdout
    assert "c >= 0: f against the threshold" in pesky("what-if", "study.toml").stdout
    for typed in ("c>=0.2", "c >= 0.2", "c >==0.2", " c = 0.2"):
        assert "P(c >= 0.2) = " in pesky("what-if", "study.toml", typed).stdout
    for typed in ("c", "c>0.2", "c=", "c=high", "=0.2"):
        assert "is no threshold" in pesky("what-if", "study.toml", typed, code=exit_codes.MISTAKE).output
    (table,) = json.loads(pesky("what-if", "study.toml", "--json").stdout)
    assert len(table["prices"]) == 5
    assert "unknown constraint 'd'" in pesky("what-if", "study.toml", "d=0.2", code=exit_codes.MISTAKE).output
    assert len(json.loads(pesky("show", "study.toml", "--json").stdout)) == 4
