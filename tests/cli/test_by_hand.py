"""`ask` and `tell`, and looking at what they left."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pesky import Study
from pesky.cli import exit_codes
from pesky.run.rescue import Result, rescue
from pesky.study_file import StudyFile


@pytest.fixture(autouse=True)
def without_calls(project):
    project.change('function = "', '# function = "')


def test_what_was_asked_can_be_told(pesky, project):
    text = pesky("ask", "study.toml").stdout
    assert text.startswith("#0: measure all (a point of the initial design)\n  x = 0.")
    assert re.search(r"\nThen: pesky tell study\.toml 0@[0-9a-f]{6} f=\.\.\. c=\.\.\.\n$", text)
    asked = json.loads(pesky("ask", "study.toml", "--json", "--task", "all").stdout)
    assert (asked["id"], asked["task"], asked["gain"], asked["outcomes"]) == (1, "all", None, ["f", "c"])
    assert set(asked["params"]) == {"x", "k"}
    assert pesky("tell", "study.toml", 0, "f=1.5").stdout.endswith(": f=1.5; still to come: c\n")
    assert "#0 done" in pesky("tell", "study.toml", "0", "c=-1e-3").stdout
    assert "#1 done" in pesky("tell", "study.toml", "#1", "--json", '{"f": 2, "c": 0.1}').stdout


def test_what_was_asked_by_a_study_that_was_started_anew_is_refused(pesky, project):
    first = json.loads(pesky("ask", "study.toml", "--json").stdout)["claim"]
    Path("study.db").unlink()
    second = json.loads(pesky("ask", "study.toml", "--json").stdout)["claim"]
    assert first.split("@")[0] == second.split("@")[0] == "0"
    refused = pesky("tell", "study.toml", first, "f=1", "c=1", code=exit_codes.MISTAKE)
    assert f"#0 was asked by another study, {first[2:]}" in refused.stderr
    assert "#0 done" in pesky("tell", "study.toml", second, "f=1", "c=1").stdout


def test_results_that_a_run_could_not_keep_are_told_from_their_file(pesky, project):
    pesky("ask", "study.toml")
    study = Study.load("sqlite:///study.db")
    asked = study.evaluations[0]
    rescued = rescue([Result(study.identity, 0, 1, "all", asked.params, {"f": 1.0, "c": 2.0})], Path("study.db"))
    assert rescued is not None
    told = pesky("tell", "study.toml", "--untold", rescued.path).stdout
    assert told == f"1 evaluation told from {rescued.path}; it can be deleted.\n"
    assert dict(study.evaluations[0].outcomes) == {"f": 1.0, "c": 2.0}


def test_another_rule_says_who_asks(pesky, project):
    project.change("[budget]", '[run]\ninitial = 1\nrule = { name = "eic", noise_factor = false }\n\n[budget]')
    pesky("ask", "study.toml")
    pesky("tell", "study.toml", 0, "f=1.5", "c=0.2")
    assert pesky("ask", "study.toml").stdout.startswith(
        "#1: measure all (what the rule finds worth most for its price)\n  x = "
    )


def test_what_cannot_be_measured_is_failed_or_abandoned(pesky, project):
    for _ in range(2):
        pesky("ask", "study.toml")
    assert "#0 failed at" in pesky("tell", "study.toml", 0, "--failed", "no sample left").stdout
    assert "#1 abandoned at" in pesky("tell", "study.toml", 1, "c=1", "--abandon").stdout
    text = pesky("show", "study.toml", "--state", "failed").stdout
    assert "no sample left" in text
    assert "abandoned" not in text


def test_data_of_one_s_own_may_be_added(pesky, project):
    result = pesky("tell", "study.toml", "--params", '{"x": 0.25, "k": "a"}', "f=0.2", "c=0.25")
    assert result.stdout == "#0 done at x=0.25, k=a: f=0.2, c=0.25\n"
    assert "yours" in pesky("show", "study.toml").stdout
    assert "budget: 0 of 3 evaluations" in pesky("status", "study.toml").stdout


def test_parameters_are_said_in_either_form_wherever_they_are(pesky, project):
    said = pesky("tell", "study.toml", "--params", "x=0.25 k='a'", "f=0.2", "c=0.25").stdout
    assert said == "#0 done at x=0.25, k=a: f=0.2, c=0.25\n"
    for command, rest in (("tell", ["f=1"]), ("ask", [])):
        for given, words in (("x=1 k='a", "No closing quotation"), ("0.25", "expected name=value"), ("[1]", "a JSON")):
            refused = pesky(command, "study.toml", "--params", given, *rest, code=exit_codes.MISTAKE).stderr
            assert words in refused
            assert '{"x": 0.2, "kind": "a"}' in refused
            assert "x=0." in refused


def test_a_repeat_that_agrees_in_everything_is_refused_unless_it_was_measured_twice(pesky, project):
    at = ("--params", "x=0.25 k=a")
    for told in (["f=0.2", "c=0.25"], ["--failed", "burst"]):
        pesky("tell", "study.toml", *at, *told)
        assert "this is there already, as #" in pesky("tell", "study.toml", *at, *told, code=exit_codes.MISTAKE).stderr
        pesky("tell", "study.toml", *at, *told, "--again")
    pesky("tell", "study.toml", *at, "f=0.2", "c=0.26")
    assert len(json.loads(pesky("show", "study.toml", "--json").stdout)) == 5


def test_what_is_measured_neither_fails_nor_is_abandoned(pesky, project):
    for _ in range(2):
        pesky("ask", "study.toml")
    pesky("tell", "study.toml", 0, "f=1", "c=1")
    for id_, how in ((0, ["--failed", "x"]), (0, ["--abandon"]), (1, ["f=1", "c=1", "--failed", "x"])):
        said = pesky("tell", "study.toml", id_, *how, code=exit_codes.MISTAKE).stderr
        assert f"all of #{id_} is measured" in said
        assert f"`pesky exclude study.toml {id_}`" in said
        assert f"`pesky correct study.toml {id_} NAME=...`" in said
    assert "1 pending, 1 done" in pesky("status", "study.toml").stdout
    for _ in range(2):
        pesky("tell", "study.toml", 1, "--abandon")
    said = pesky("tell", "study.toml", 1, "--failed", "x", code=exit_codes.MISTAKE).stderr
    assert "#1 is abandoned, and no failure of it is taken any more" in said


def test_an_absurd_value_hides_no_other_and_is_named(pesky, project):
    project.change("noise = 0.0\n", "")
    told, said = [2, 2.1, 1.9, 2.2, 2.05, 1e30, -5, 1e308], []
    for i, f in enumerate(told):
        said.append(pesky("tell", "study.toml", "--params", f"x={i / 10} k=a", f"f={f}", f"c={0.5 - i / 10}").stdout)
    assert ["Is f" in each for each in said] == [False] * 5 + [True] * 3
    assert "Is f = -5 right? The other 5 values, but for 1 far beyond them, are from 1.9 to 2.2." in said[6]
    for command in ("status", "recommend"):
        text = " ".join(pesky(command, "study.toml", code=None).stdout.split())
        assert "#5: f = 1e+30 is far beyond the 6 values from -5 to 2.2" in text
        assert "#7: f = 1e+308 is far beyond the 6 values from -5 to 2.2" in text
    named = json.loads(pesky("status", "study.toml", "--json").stdout)["far_beyond"]
    assert [each["evaluation"] for each in named] == [5, 7]
    for each in named:
        pesky("exclude", "study.toml", each["evaluation"])
    assert "far beyond" not in pesky("status", "study.toml").stdout


def test_a_value_far_beyond_all_others_is_kept_and_asked_about(pesky, project):
    project.change("c >= 0", "ok is true")
    said, told = "", [(10, ""), (90, ""), (12, ""), (13, ""), (15, ""), (-151, "Is f = -151 right?")]
    for i, (f, words) in enumerate(told):
        said = pesky("tell", "study.toml", "--params", f"x={i / 10} k=a", f"f={f}", f"ok={i != 4}").stdout
        assert words in said
        assert ("Is " in said) is bool(words)
    assert said.endswith("The other 5 values are from 10 to 90. If not: `pesky correct study.toml 5 f=...`\n")
    pesky("correct", "study.toml", 5, "f=11")
    pesky("ask", "study.toml")
    assert "Is " not in pesky("tell", "study.toml", 6, "f=-149").stdout
    pesky("exclude", "study.toml", 1)
    assert "Is f = -149 right? The other 5 values" in pesky("tell", "study.toml", 6, "f=-149", "ok=no").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["f=1"], "which evaluation?"),
        ([0], "the outcomes were {}"),
        ([0, "f"], "'f' is no outcome: expected name=value"),
        ([0, "f=high"], "expected a number, or yes or no (true or false, 1 or 0)"),
        ([0, "f=70,5"], "Decimals have a point: write 70.5"),
        ([0, "f=1", "f=2"], "'f' was given twice"),
        ([0, "g=1"], "unknown outcome 'g'"),
        ([0, "f=nan"], "nan"),
        (["first", "f=1"], "'first' is no evaluation: expected its number"),
        ([7, "f=1"], "there is no evaluation #7: `pesky show study.toml` lists them"),
        ([0, "--json", "{f: 1}"], "which is no JSON"),
        ([0, "--json", "[1]"], "expected a JSON object"),
        (["--params", '{"x": 3, "k": "a"}', "f=1"], "x"),
    ],
)
def test_what_makes_no_sense_is_refused(pesky, project, arguments, says):
    pesky("ask", "study.toml")
    assert says in pesky("tell", "study.toml", *arguments, code=exit_codes.MISTAKE).stderr


def test_a_second_result_that_differs_is_refused(pesky, project):
    pesky("ask", "study.toml")
    pesky("tell", "study.toml", 0, "f=1")
    pesky("tell", "study.toml", 0, "f=1")
    assert "1.0" in pesky("tell", "study.toml", 0, "f=2", code=exit_codes.MISTAKE).stderr


def test_a_budget_that_is_spent_has_nothing_to_ask(pesky, project):
    for _ in range(3):
        pesky("ask", "study.toml")
    said = pesky("ask", "study.toml", code=exit_codes.SPENT).stderr
    assert "budget of 3 evaluations is spent: allow more in the [budget] of study.toml to go on;" in said
    assert "`pesky ask study.toml --confirm` measures it, beyond the budget, too" in said


def test_nothing_is_made_by_looking(pesky, project):
    for command in ("recommend", "show", "status"):
        text = pesky(command, "study.toml", code=exit_codes.STORAGE).stderr
        assert "there is no study 'study' in study.db yet: `pesky run study.toml` or `pesky ask study.toml`" in text
    pesky("tell", "study.toml", 0, "f=1", code=exit_codes.STORAGE)
    assert not (project.folder / "study.db").exists()


def test_a_yes_or_no_is_told_and_shown_in_words(pesky, project):
    project.change("c >= 0", "c is true")
    pesky("ask", "study.toml")
    assert pesky("tell", "study.toml", 0, "f=1", "c=true").stdout.endswith("f=1, c=yes\n")
    rows = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert (rows[0]["outcomes"]["c"], rows[0]["feasible"]) == (1.0, True)


def test_evaluations_are_shown(pesky, project):
    points = [(0.2, 0.25, 0.3), (0.1, 0.6, -0.1), (0.05, 0.9, -0.4)]
    for f, x, c in points:
        pesky("tell", "study.toml", "--params", json.dumps({"x": x, "k": "a"}), f"f={f}", f"c={c}")
    pesky("ask", "study.toml")
    lines = pesky("show", "study.toml").stdout.splitlines()
    heading = next(line for line in lines if "feasible" in line).split()
    assert heading == ["#", "task", "x", "k", "f", "c", "feasible", "state"]
    cells = [line.split() for line in lines if line.strip()[:1].isdigit()]
    assert cells[0] == ["0", "all", "0.25", "a", "0.2", "0.3", "yes", "yours"]
    assert cells[1] == ["1", "all", "0.6", "a", "0.1", "-0.1", "no", "yours"]
    assert cells[3][-1] == "pending"
    rows = json.loads(pesky("show", "study.toml", "--json").stdout)
    assert [row["feasible"] for row in rows] == [True, False, False, None]
    table = list(csv.DictReader(io.StringIO(pesky("show", "study.toml", "--csv", "-").stdout)))
    assert [float(row["x"]) for row in table][:3] == [0.25, 0.6, 0.9]
    pesky("show", "study.toml", "--csv", "all.csv", "--state", "pending")
    assert len((project.folder / "all.csv").read_text().splitlines()) == 2
    assert (
        "expected one of 'queued', 'pending'"
        in pesky("show", "study.toml", "--state", "gone", code=exit_codes.MISTAKE).stderr
    )


def test_the_status_says_who_does_what_and_what_went_wrong(pesky, project):
    for _ in range(3):
        pesky("ask", "study.toml")
    pesky("tell", "study.toml", 0, "f=1", "c=1")
    pesky("tell", "study.toml", 1, "--failed", "no sample left")
    text = pesky("status", "study.toml").stdout
    assert "study in study.db\n1 pending, 1 done, 1 failed\n" in text
    assert "  #2 all pending for " in text
    assert ", asked by " in text
    assert "  #1 all failed: no sample left\n" in text
    assert "spent on all: 3 in 3 evaluations\nbudget: 3 of 3 evaluations\n" in text
    said = json.loads(pesky("status", "study.toml", "--json").stdout)
    assert {state: count for state, count in said["counts"].items() if count} == {"pending": 1, "done": 1, "failed": 1}
    assert "whether it was measured; if not, `pesky ask study.toml --confirm` asks for it\n" in text
    assert said["failed"][0]["error"] == "no sample left"
    assert said["budget"]["evaluations"] == 3


def test_a_recommendation_says_how_sure_it_is(pesky, project):
    pesky("ask", "study.toml")
    text = pesky("recommend", "study.toml", code=exit_codes.NOT_YET).stdout
    assert "No recommendation yet: no value of the objective 'f' is known" in text
    assert pesky("recommend", "study.toml", "--json", code=exit_codes.NOT_YET).stdout == "null\n"
    for x in (0.1, 0.3, 0.5, 0.9):
        for k in "ab":
            told = f"f={(x - 0.7) ** 2 + (k == 'b')}", f"c={0.5 - x}"
            pesky("tell", "study.toml", "--params", json.dumps({"x": x, "k": k}), *told)
    said = json.loads(pesky("recommend", "study.toml", "--json").stdout)
    assert said["is_confident"]
    assert said["params"]["k"] == "a"
    assert said["params"]["x"] == pytest.approx(0.5, abs=0.05)
    assert "Recommended" in pesky("recommend", "study.toml").stdout


def test_an_answer_says_yes_as_the_rest_does(pesky, project):
    project.change("c >= 0", "c is true")
    for x in (0.1, 0.3, 0.5):
        pesky("tell", "study.toml", "--params", f"x={x} k=a", f"f={(x - 0.3) ** 2}", "c=yes")
    said = pesky("recommend", "study.toml", code=None).stdout
    assert re.search(r"c=yes; the nearest other measured point differs in no parameter by more than 0\.2 of its", said)


def test_a_recommendation_is_confirmed_by_hand(pesky, project):
    for x in (0.1, 0.3, 0.5, 0.9):
        told = f"f={(x - 0.7) ** 2}", f"c={0.45 - x}"
        pesky("tell", "study.toml", "--params", json.dumps({"x": x, "k": "a"}), *told)
    for _ in range(3):
        asked = json.loads(pesky("ask", "study.toml", "--confirm", "--json").stdout)
        x = asked["params"]["x"]
        is_for_the_answer = "for the answer: the best point was expected here" in pesky("why", "study.toml").stdout
        if is_for_the_answer:
            text = pesky("ask", "study.toml", "--confirm").stdout
            assert f"What is asked for the answer is being measured (#{asked['id']}): this is the next" in text
        pesky("tell", "study.toml", asked["id"], f"f={(x - 0.7) ** 2}", f"c={0.45 - x}")
        if is_for_the_answer:
            break
    assert x == pytest.approx(0.45, abs=0.1)


def test_a_recommendation_is_confirmed_after_the_budget_is_spent(pesky, project):
    for x in (0.1, 0.3, 0.5, 0.9):
        told = f"f={(x - 0.7) ** 2}", f"c={0.45 - x}"
        pesky("tell", "study.toml", "--params", json.dumps({"x": x, "k": "a"}), *told)
    file = project.folder / "study.toml"
    file.write_text(re.sub(r"evaluations = \d+", "evaluations = 1", file.read_text()))
    first = json.loads(pesky("ask", "study.toml", "--json").stdout)
    pesky("tell", "study.toml", first["id"], "--failed", "burst")
    assert "the budget of 1 evaluation is spent" in pesky("ask", "study.toml", code=5).stderr
    assert "the best point was expected here" in pesky("ask", "study.toml", "--confirm").stdout
    assert "budget: 1 of 1 evaluations, and 1 beyond it" in pesky("status", "study.toml").stdout


def test_what_comes_before_confirming_is_said(pesky, project):
    project.change("[parameters]", '[tasks]\nscore.outcomes = ["f"]\ncheck.outcomes = ["c"]\n\n[parameters]')
    first = pesky("ask", "study.toml", "--confirm").stdout
    assert first.startswith("This belongs to the initial design, and comes first: after it, `pesky ask study.toml --")
    wanted = pesky("ask", "study.toml", "--confirm", "--params", "x=0.5 k=a").stdout
    assert wanted.startswith("#1: measure score (what was to be measured before anything else)")  # and check is queued
    queued = pesky("ask", "study.toml", "--confirm").stdout
    assert queued.startswith("This was queued, and comes first: after it, `pesky ask study.toml --confirm` asks")
    assert "#2: measure check (what was to be measured before anything else)" in queued
    Study.load("sqlite:///study.db").release(0)
    assert "This was asked and let go of, and comes first" in pesky("ask", "study.toml", "--confirm").stdout


@pytest.mark.parametrize(
    "command", [["tell", "study.toml", "0", "f=1.5"], ["status", "study.toml"], ["show", "study.toml"]]
)
def test_what_decides_nothing_imports_no_torch(pesky, project, command):
    """It takes seconds."""
    study = Study(
        StudyFile.read(project.folder / "study.toml", importing=False).problem,
        storage="sqlite:///study.db",
        rule="random",
    )
    study.ask()
    study.store.close()
    code = "import sys; from pesky.cli.app import app; app(sys.argv[1:], standalone_mode=False); "
    code += "print(sorted({'torch', 'numpy', 'pandas', 'scipy', 'sympy', 'jaxtyping'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code, *command], cwd=project.folder, capture_output=True, text=True)
    assert done.stdout.endswith("\n[]\n"), done.stdout + done.stderr
