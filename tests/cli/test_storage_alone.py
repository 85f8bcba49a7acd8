"""Commands that only look take a storage by itself: a database file, or its URL."""

import json

import pytest

from pesky.cli import exit_codes

LOOKING = [
    ("status",), ("status", "--json"), ("show",), ("show", "--csv", "-"), ("recommend",), ("recommend", "--json"),
    ("why",), ("what-if",), ("what-if", "c=0.2"),
]  # fmt: skip


def begun(pesky, project, name="study", evaluations=4):
    if name != "study":
        project.change('minimize = "f"', f'name = "{name}"\nstorage = "sqlite:///study.db"\nminimize = "f"')
    return pesky("run", "study.toml", "--evaluations", evaluations, "--quiet")


@pytest.mark.parametrize("given", ["study.db", "sqlite:///study.db"])
def test_a_storage_says_what_its_study_file_says(pesky, project, given):
    begun(pesky, project)
    for command, *options in LOOKING:
        of_file, of_storage = (pesky(command, each, *options).stdout for each in ("study.toml", given))
        if command == "status":  # what may be spent, and who asks, the file alone knows
            first = '"budget"' if options else "budget"
            of_file, of_storage = (said.split(first)[0].split("recommendation:")[0] for said in (of_file, of_storage))
        assert of_storage == of_file, (command, options)


def test_of_several_studies_one_is_named(pesky, project):
    begun(pesky, project)
    begun(pesky, project, "other", 3)
    said = pesky("status", "study.db", code=exit_codes.MISTAKE).output
    assert "which study? study.db holds 'study', 'other': say it, like --name study." in " ".join(said.split())
    assert json.loads(pesky("status", "study.db", "--name", "other", "--json").stdout)["counts"]["done"] == 3
    assert json.loads(pesky("status", "study.db", "--name", "study", "--json").stdout)["counts"]["done"] == 4
    assert "pesky recommend study.db --name other" in pesky("status", "study.db", "--name", "other").stdout
    said = " ".join(pesky("recommend", "study.db", "--name", "othre", code=exit_codes.STORAGE).output.split())
    assert "unknown study 'othre': expected one of 'study', 'other'. Did you mean 'other'?" in said


def test_a_study_that_was_set_aside_does_not_make_it_several(pesky, project):
    begun(pesky, project)
    pesky("run", "study.toml", "--evaluations", 3, "--quiet", "--fresh")
    found = json.loads(pesky("status", "study.db", "--json").stdout)
    assert found["study"] == "study"
    assert found["counts"]["done"] == 3
    (aside,) = found["set_aside"]
    assert json.loads(pesky("status", "study.db", "--name", aside, "--json").stdout)["counts"]["done"] == 4


def test_a_study_file_names_its_study_itself(pesky, project):
    begun(pesky, project)
    pesky("status", "study.toml", "--name", "study")
    said = " ".join(pesky("status", "study.toml", "--name", "other", code=exit_codes.MISTAKE).output.split())
    assert "--name was 'other', and the study of study.toml is 'study': leave --name out, or give the storage" in said


def test_a_storage_that_is_not_there_is_not_made(pesky, project):
    for command in ("status", "recommend", "show", "why", "what-if", "report"):
        assert "nothing.db" in pesky(command, "sqlite:///nothing.db", code=exit_codes.STORAGE).output
        said = pesky(command, "nothing.db", code=exit_codes.STORAGE).output
        assert "unknown database 'nothing.db': there are none" in said
    assert not (project.folder / "nothing.db").exists()
    begun(pesky, project, evaluations=1)
    assert "Did you mean 'study.db'?" in pesky("status", "studi.db", code=exit_codes.STORAGE).output
    said = pesky("ask", "studi.db", code=exit_codes.MISTAKE).output
    assert "Did you mean" not in said
    assert "This command reads a file with" in said
    assert "pesky init" not in said


@pytest.mark.parametrize("content", [b"\0", b"\xc3\x28", b"x = 1\n"])
def test_a_damaged_database_is_no_study_file(pesky, project, content):
    begun(pesky, project, evaluations=1)
    database = project.folder / "study.db"
    database.write_bytes((content * 200)[:200] + database.read_bytes()[200:])
    for command in ("status", "recommend", "page"):
        said = " ".join(pesky(command, "study.db", code=exit_codes.STORAGE).output.split())
        assert 'study.db" is no SQLite database: expected a file that pesky made' in said
    assert "is a database, not a study file" in pesky("ask", "study.db", code=exit_codes.MISTAKE).output


def test_an_empty_database_is_no_study_file(pesky, project):
    (project.folder / "empty.db").touch()
    said = " ".join(pesky("recommend", "empty.db", code=exit_codes.STORAGE).output.split())
    assert 'empty.db" is no storage of pesky, it is empty' in said
    assert not (project.folder / "empty.db").stat().st_size


def test_files_of_a_storage_are_called_as_its_study(pesky, project):
    begun(pesky, project, "a/b c")
    assert "a-b-c-progress.html" in pesky("show", "study.db", "--picture", "progress").stdout
    assert "a-b-c-report.html" in pesky("report", "study.db").stdout


def test_commands_that_ask_say_that_they_need_the_file(pesky, project):
    begun(pesky, project)
    for given in ("study.db", "sqlite:///study.db"):
        for command in ("ask", "run", "enqueue"):
            said = " ".join(
                pesky(
                    command, given, *(["x=0.5", "k=a"] if command == "enqueue" else []), code=exit_codes.MISTAKE
                ).output.split()
            )
            assert "not a study file: this command reads a file with" in said
            assert "those that only look, like `pesky status` and `pesky page`, take a storage, too" in said


def test_passwords_of_a_url_are_not_repeated(pesky, project):
    for command in ("status", "recommend"):
        said = pesky(command, "postgresql://me:secret@nowhere.invalid/db", code=exit_codes.STORAGE).output
        assert "secret" not in said
