"""Corrections, data from tables, and questions of one's own on the command line."""

import json

from pesky.cli import exit_codes

DATA = "x,k,f,c,note\n0.1,a,0.36,0.4,by hand\n0.2,b,1.25,,\n1.2,a,0.25,-0.7,\n"


def shown(pesky, file="study.toml"):
    return json.loads(pesky("show", file, "--json").stdout)


def test_a_table_is_imported_corrected_and_excluded(pesky, project):
    (project.folder / "data.csv").write_text(DATA)
    columns = "  parameters: x, k; outcomes: f, c; kept beside: note\n"
    said = pesky("import", "study.toml", "data.csv").stdout
    assert said == f"3 evaluations added from data.csv: #0 to #2.\n{columns}"
    assert [each["outcomes"] for each in shown(pesky)][1] == {"f": 1.25}
    assert shown(pesky)[0]["attributes"] == {"note": "by hand"}
    said = pesky("correct", "study.toml", "0", "f=0.37", "--reason", "a typo").stdout
    assert said == "#0 done: f=0.37, c=0.4 (f corrected, was 0.36: a typo)\n"
    assert "#1 excluded: f=1.25 (excluded: too hot)" in pesky("exclude", "study.toml", "1", "-m", "too hot").stdout
    table = pesky("show", "study.toml").stdout
    assert "excluded" in table
    assert "f corrected, was 0.36: a typo" in table
    assert "excluded: too hot; included" in pesky("include", "study.toml", "1").stdout
    assert shown(pesky)[0]["corrections"][0]["old"] == 0.36
    for mistake, words in (
        (("correct", "study.toml", "7", "f=1"), "7 is no evaluation of this study"),
        (("correct", "study.toml", "1", "c=1"), "c was not told yet"),
        (("correct", "study.toml", "0@ffffff", "f=1"), "#0 is of another study, ffffff"),
        (("correct", "study.toml", "0", "f"), "'f' is no outcome"),
        (("exclude", "study.toml", "first"), "'first' is no evaluation"),
    ):
        assert words in pesky(*mistake, code=exit_codes.MISTAKE).stderr
    said = pesky("correct", "study.toml", "0", "x=0.4", code=exit_codes.MISTAKE).stderr
    assert "'x': a parameter cannot be corrected" in said
    lines = "  pesky exclude study.toml 0\n  pesky tell study.toml --params 'x=0.4 k=a' f=0.37 c=0.4\n"
    assert said.endswith(lines)
    (project.folder / "bad.csv").write_text(DATA.replace("0.2,b", "0.2,z"))
    assert (
        "line 3: the parameter 'k' was 'z'" in pesky("import", "study.toml", "bad.csv", code=exit_codes.MISTAKE).stderr
    )
    assert len(shown(pesky)) == 3


def test_the_same_file_is_not_taken_twice_and_several_are_excluded_at_once(pesky, project):
    (project.folder / "data.csv").write_text(DATA)
    pesky("import", "study.toml", "data.csv")
    (project.folder / "more.csv").write_text(f"{DATA}0.3,a,0.5,0.2,\n")
    for name, words in (("data.csv", "of 3 rows 3 are there already, as #0 to #2"), ("more.csv", "of 4 rows 3 are")):
        assert words in pesky("import", "study.toml", name, code=exit_codes.MISTAKE).stderr
    (project.folder / "copies.csv").write_text(f"{DATA}0.4,a,0.5,0.2,\n0.4,a,0.5,0.2,\n")
    assert "of 5 rows 3 are there already, as #0 to #2, and 1 repeat others of the file, at x=0.4" in (
        pesky("import", "study.toml", "copies.csv", code=exit_codes.MISTAKE).stderr
    )
    copies = "\n".join([DATA.splitlines()[0], "0.4,a,0.5,0.2,", "0.5,a,0.5,0.2,", "0.4,a,0.5,0.2,"])
    (project.folder / "copies.csv").write_text(copies)
    said = pesky("import", "study.toml", "copies.csv", code=exit_codes.MISTAKE).stderr
    assert "of 3 rows 1 repeat others of the file, at x=0.4, k=a" in said
    (project.folder / "copies.csv").write_text(f"{copies}\n0.2,a,0.5,0.2,\n0.6,z,0.5,0.2,")
    said = pesky("import", "study.toml", "copies.csv", code=exit_codes.MISTAKE).stderr
    assert "of 5 rows 1 cannot be:\n  line 6: the parameter 'k' was 'z'" in said
    assert "Besides, of 5 rows 1 repeat others of the file, at x=0.4, k=a. Leave them out" in said
    assert len(shown(pesky)) == 3
    pesky("import", "study.toml", "data.csv", "--again")
    assert pesky("exclude", "study.toml", "3-5", "0").stdout.count("excluded") == 8  # the state, and why
    assert [each["id"] for each in shown(pesky) if each["is_excluded"]] == [0, 3, 4, 5]
    assert "no evaluation #9" in pesky("include", "study.toml", "0-9", code=exit_codes.MISTAKE).stderr
    assert "'three' is no evaluation" in pesky("include", "study.toml", "three", code=exit_codes.MISTAKE).stderr
    pesky("include", "study.toml", "0-5")
    assert not any(each["is_excluded"] for each in shown(pesky))


def test_columns_that_are_called_a_little_otherwise_are_named(pesky, project):
    text = DATA.replace("x,k,f,c,note", "x,K [kind],F,c,note")
    (project.folder / "data.csv").write_text(text)
    said = pesky("import", "study.toml", "data.csv", code=exit_codes.MISTAKE).stderr
    assert "no column for the parameter 'k'" in said
    assert "--rename 'K [kind]=k'" in said
    said = pesky("import", "study.toml", "data.csv", "--rename", "K [kind]=k", code=exit_codes.MISTAKE).stderr
    assert "no column for the outcome 'f'. Is it 'F'?" in said
    for rename, words in (
        ("Z=k", "unknown column 'Z'"),
        ("F", "expected COLUMN=NAME"),
        ("F=c", "one name"),
        ("F=g", "unknown name 'g'"),
    ):
        assert words in pesky("import", "study.toml", "data.csv", "--rename", rename, code=exit_codes.MISTAKE).stderr
    renamed = ("--rename", "K [kind]=k", "--rename", "F=f")
    assert "outcomes: f, c; kept beside: note" in pesky("import", "study.toml", "data.csv", *renamed).stdout
    (project.folder / "part.csv").write_text("x,k,c\n0.5,a,1\n")
    assert "outcomes: c; without a column: f" in pesky("import", "study.toml", "part.csv").stdout


def test_failures_of_ones_own_are_kept(pesky, project):
    (project.folder / "data.csv").write_text("x,k,f,c,failed\n0.1,a,0.36,0.4,no\n0.2,b,,,burst\n0.3,b,,0.1,yes\n")
    pesky("import", "study.toml", "data.csv")
    said = pesky("tell", "study.toml", "--params", '{"x": 0.5, "k": "a"}', "--failed", "leaked").stdout
    assert said == "#3 failed at x=0.5, k=a: leaked\n"
    rows = shown(pesky)
    assert [each["state"] for each in rows] == ["done", "failed", "failed", "failed"]
    assert [each["error"] for each in rows] == [None, "burst", "failed", "leaked"]
    assert rows[2]["outcomes"] == {"c": 0.1}
    assert "budget: 0 of 3 evaluations" in pesky("status", "study.toml").stdout
    said = pesky("tell", "study.toml", "1", "f=1").stdout
    assert "f=1; kept, and still failed (burst) until all is told; still to come: c" in said
    assert "#1 done" in pesky("tell", "study.toml", "1", "c=1").stdout


def test_a_default_is_tried_first(pesky, project):
    assert pesky("enqueue", "study.toml", "x=0.25", "k=b").stdout == "#0 all queued at x=0.25, k=b\n"
    assert "x=2" not in pesky("enqueue", "study.toml", "x=2", "k=b", code=exit_codes.MISTAKE).stdout
    assert "1 queued" in pesky("status", "study.toml").stdout
    pesky("run", "study.toml", "--quiet", "--evaluations", 1)
    (first,) = shown(pesky)
    assert (first["params"], first["state"]) == ({"x": 0.25, "k": "b"}, "done")
    asked = json.loads(pesky("ask", "study.toml", "--params", '{"x": 0.5, "k": "a"}', "--json").stdout)
    assert asked["params"] == {"x": 0.5, "k": "a"}
    assert (
        "#2: measure all (what was to be measured before anything else)"
        in pesky("ask", "study.toml", "--params", "x=0.6 k=a").stdout
    )
    assert pesky("enqueue", "study.toml", '{"x": 0.8, "k": "b"}').stdout == "#3 all queued at x=0.8, k=b\n"


def test_what_can_be_kept_is_copied(pesky, project):
    pesky("run", "study.toml", "--quiet")
    project.change("minimize", 'name = "two"\nminimize')
    project.change("[budget]", 'z = { type = "real", low = 0, high = 1 }\n[budget]')
    text = "the parameter 'z' is new: say at which value the old data were measured"
    assert text in pesky("copy", "study", "study.toml", code=exit_codes.MISTAKE).stderr
    said = pesky("copy", "study", "study.toml", "--set", "z=0.5").stdout
    assert said == "3 evaluations of 3 with outcomes copied from 'study' to 'two'.\n"
    assert [each["params"]["z"] for each in shown(pesky)] == [0.5] * 3
    assert "0 evaluations of 3" in pesky("copy", "study", "study.toml", "--set", "z=0.5").stdout
    assert "cannot be copied to itself" in pesky("copy", "two", "study.toml", code=exit_codes.MISTAKE).stderr
    assert "unknown study 'tree'" in pesky("copy", "tree", "study.toml", code=exit_codes.STORAGE).stderr
