"""`run`: begins, continues, ends, and says so."""

import json
import re
import sqlite3
import sys
from contextlib import closing

from pesky.cli import exit_codes


def test_a_run_measures_and_recommends(pesky, project):
    text = pesky("run", "study.toml").stdout
    lines = text.splitlines()
    assert lines[0] == "New study 'study', kept in study.db."
    assert [line.split(" at ")[0] for line in lines[1:4]] == [f"[{i + 1}/3] #{i} all" for i in range(3)]
    assert all(("(feasible)" in line) == ("c=0." in line) for line in lines[1:4])
    assert lines[4] == "The budget of 3 evaluations is spent: 3 evaluations done."
    assert lines[5] == "Recommended"
    assert any(line.startswith("  x = 0.") for line in lines)
    assert "Holds with probability" in text
    assert "easured here" in text


def test_a_run_goes_on_where_it_ended(pesky, project):
    pesky("run", "study.toml", "--evaluations", 2, "--quiet")
    result = pesky("run", "study.toml", "--evaluations", 3)
    assert "Continuing 'study' in study.db: 2 evaluations there already (--fresh starts anew)." in result.stdout
    assert "[3/3] #2 all" in result.stdout
    assert "#1 all" not in result.stdout


def test_a_budget_that_is_spent_measures_nothing_and_says_how_to_go_on(pesky, project):
    pesky("run", "study.toml", "--quiet")
    text = pesky("run", "study.toml").stdout
    assert "The budget of 3 evaluations is spent already (3 evaluations done), so nothing was measured" in text
    assert "`--evaluations 4` goes on" in text
    assert "Recommended" in text


def test_the_budget_that_is_named_goes_on(pesky, project):
    pesky("run", "study.toml", "--evaluations", 5, "--quiet")
    text = pesky("run", "study.toml", "--evaluations", 2).stdout
    assert "The budget of 2 evaluations is spent already (5 evaluations done)" in text
    assert "`--evaluations 7` goes on" in text
    text = pesky("run", "study.toml", "--evaluations", 7).stdout
    assert "The budget of 7 evaluations is spent: 7 evaluations done." in text


def test_more_evaluations_are_not_named_where_the_cost_is_spent(pesky, project):
    project.change("evaluations = 3", "evaluations = 3\ncost = 3")
    pesky("run", "study.toml", "--quiet")
    assert "nothing was measured; a larger [budget] in the file goes on" in pesky("run", "study.toml").stdout


def test_fresh_sets_aside_what_was_there(pesky, project):
    pesky("run", "study.toml", "--quiet")
    before = pesky("show", "study.toml").stdout
    for count in (1, 2):
        done = pesky("run", "study.toml", "--fresh")
        assert done.stdout.startswith("New study 'study'")
        assert "#0 all" in done.stdout
        (said,) = re.findall(r"'study' was set aside: it is kept as ('study \(set aside .*\)')", done.stderr)
        shown = pesky("show", "study.toml").stdout
        assert said in shown
        assert shown.count("(set aside ") == count
        assert len(json.loads(pesky("status", "study.toml", "--json").stdout)["set_aside"]) == count
    name = json.loads(pesky("status", "study.toml", "--json").stdout)["set_aside"][0]
    project.change("minimize", 'storage = "sqlite:///study.db"\nminimize')
    (project.folder / "old.toml").write_text(f'name = "{name}"\n' + (project.folder / "study.toml").read_text())
    assert pesky("show", "old.toml").stdout == before


def test_fresh_sets_aside_what_is_damaged(pesky, project):
    pesky("run", "study.toml", "--evaluations", 1, "--quiet")
    with closing(sqlite3.connect("study.db")) as connection, connection:
        connection.execute("UPDATE pesky_evaluations SET outcomes = 'no json'")
    assert "is damaged in the storage" in pesky("show", "study.toml", code=exit_codes.STORAGE).stderr
    pesky("run", "study.toml", "--evaluations", 1, "--quiet", "--fresh")
    assert len(json.loads(pesky("show", "study.toml", "--json").stdout)) == 1


def test_fresh_asks_whoever_is_there(pesky, project, monkeypatch):
    pesky("tell", "study.toml", "--params", '{"x": 0.25, "k": "a"}', "f=0.2")
    monkeypatch.setattr("pesky.cli.consoles.is_interactive", lambda: True)
    assert (
        "Set aside 1 evaluation of 'study'?"
        in pesky("run", "study.toml", "--fresh", code=exit_codes.INTERRUPTED).stderr
    )
    assert len(json.loads(pesky("show", "study.toml", "--json").stdout)) == 1


def test_another_problem_under_the_same_name_is_refused(pesky, project):
    pesky("run", "study.toml", "--quiet")
    project.change('x = { type = "real"', 'z = { type = "real"')
    text = pesky("run", "study.toml", code=exit_codes.MISTAKE).stderr
    assert "is stored with another problem" in text
    assert "`pesky run study.toml --fresh` sets the stored one aside" in text
    project.measure('def measure(params):\n    return {"f": params["z"], "c": 0.5}\n')
    pesky("run", "study.toml", "--quiet", "--fresh")


def test_a_problem_that_changed_is_said_and_goes_on(pesky, project, caplog):
    pesky("run", "study.toml", "--quiet")
    project.change("high = 1", "high = 0.9")
    project.change("c >= 0", "c >= 0.1")
    pesky("status", "study.toml")
    pesky("recommend", "study.toml")
    assert "the study 'study' is looked at with a changed problem" in caplog.text
    assert "goes on" not in caplog.text
    assert "constraint c >= 0 became c >= 0.1" in caplog.text
    text = pesky("run", "study.toml", "--evaluations", 5).stdout
    assert "the study 'study' goes on, with its data and a changed problem" in caplog.text
    assert "Continuing 'study' in study.db: 3 evaluations there already" in text
    caplog.clear()
    pesky("run", "study.toml", "--evaluations", 6, "--quiet")
    assert not caplog.text


def test_json_is_alone_on_standard_output(pesky, project):
    result = pesky("run", "study.toml", "--json")
    said = json.loads(result.stdout)
    assert said["recommendation"]["is_confident"]
    assert set(said["recommendation"]["params"]) == {"x", "k"}
    assert {key: said[key] for key in ("kind", "evaluations", "failed", "spent")} == {
        "kind": "budget", "evaluations": 3, "failed": 0, "spent": {"all": 3.0},
    }  # fmt: skip
    assert "#2 all" in result.stderr


def test_where_nothing_is_feasible_the_exit_code_says_so(pesky, project):
    project.measure('def measure(params):\n    return {"f": params["x"], "c": -1.0}\n')
    text = pesky("run", "study.toml", code=exit_codes.NOT_YET).stdout
    assert "Most probably feasible so far: no point is known to hold every constraint" in text


def test_a_measurement_that_fails_ends_no_run(pesky, project):
    project.measure('def measure(params):\n    raise ValueError("too hot")\n')
    result = pesky("run", "study.toml", "--evaluations", 2, code=exit_codes.NOT_YET)
    assert "failed in 0.0 s: ValueError: too hot" in result.stdout
    assert "0 evaluations done, 2 failed." in result.stdout
    assert "No recommendation yet: no value of the objective 'f' is known." in result.stdout


def test_programs_and_tasks_run_at_once(pesky, project):
    project.write(
        """\
minimize = "f"
constraints = ["c >= 0"]
[parameters]
x = {{ type = "real", low = 0, high = 1 }}
[tasks.first]
outcomes = ["f"]
command = ["{python}", "first.py"]
[tasks.second]
outcomes = ["c"]
cost = 2
function = "{module}:second"
[resources.here]
tasks = ["first", "second"]
slots = 2
[budget]
cost = 9
""",
        python=sys.executable,
    )
    (project.folder / "first.py").write_text(
        "import json, sys\nprint('hello')\nprint(json.dumps({'f': json.load(sys.stdin)['x'] ** 2}))\n"
    )
    project.measure('def second(params):\n    return 0.5 - params["x"]\n')
    said = json.loads(pesky("run", "study.toml", "--json").stdout)
    assert (said["evaluations"], said["spent"]) == (6, {"first": 3.0, "second": 6.0})


def test_a_program_that_takes_too_long_is_killed_with_all_it_started(pesky, project):
    project.write("""\
minimize = "f"
[parameters]
x = {{ type = "real", low = 0, high = 1 }}
[tasks.only]
outcomes = ["f"]
timeout = 0.5
command = ["sh", "-c", "sh -c 'sleep 5; touch late' & wait"]
[budget]
evaluations = 1
""")
    assert "time-out: took longer than 0.5 s" in pesky("run", "study.toml", code=exit_codes.NOT_YET).stdout
    assert not (project.folder / "late").exists()


def test_a_run_needs_a_budget_or_a_number(pesky, project):
    project.change("[budget]\nevaluations = 3\n", "")
    assert "budget: is missing" in pesky("run", "study.toml", code=exit_codes.MISTAKE).stderr
    pesky("run", "study.toml", "--evaluations", 3, "--quiet")


def test_a_storage_that_cannot_be_opened_has_its_own_code(pesky, project):
    (project.folder / "study.db").write_text("this is no database, but long enough to be taken for one" * 20)
    assert "is no SQLite database" in pesky("run", "study.toml", code=exit_codes.STORAGE).stderr


def test_work_measures_the_tasks_it_is_given(pesky, project):
    project.write("""\
minimize = "f"
constraints = ["c >= 0"]
[parameters]
x = {{ type = "real", low = 0, high = 1 }}
[tasks.first]
outcomes = ["f"]
[tasks.second]
outcomes = ["c"]
function = "{module}:second"
[resources.gpu]
tasks = ["second"]
[resources.lab]
tasks = ["first"]
[budget]
evaluations = 2
""")
    project.measure('def second(params):\n    return 0.5 - params["x"]\n')
    assert "Did you mean 'second'?" in pesky("work", "study.toml", "--tasks", "secnd", code=exit_codes.MISTAKE).stderr
    assert "unknown resource 'cpu'" in pesky("work", "study.toml", "--resource", "cpu", code=exit_codes.MISTAKE).stderr
    assert "tasks.first: nothing to call" in pesky("work", "study.toml", code=exit_codes.MISTAKE).stderr
    text = pesky("work", "study.toml", "--resource", "gpu", code=exit_codes.NOT_YET).stdout
    assert "[2/2] #1 second" in text
    text = pesky("work", "study.toml", "--tasks", "second", "--evaluations", 3, code=exit_codes.NOT_YET).stdout
    assert text.startswith("Continuing 'study' in study.db: 2 evaluations there already.\n")
    assert "[3/3] #2 second" in text


def test_what_is_asked_after_the_initial_design_has_a_gain(pesky, project):
    pesky("run", "study.toml", "--evaluations", 4, "--workers", 2, "--quiet")
    rows = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert [row["gain"] is None for row in rows] == [True, True, True, False]
