"""All mistakes of a study file are said at once, also those of its text."""

from pathlib import Path

import pytest

from pesky.study_file import StudyFile, StudyFileError


def test_the_file_without_a_mistake_is_read(folder, base):
    (folder / "study.toml").write_text(base)
    file = StudyFile.read(folder / "study.toml", running=True)
    assert list(file.problem.tasks) == ["train", "profile"]


def test_a_file_with_nothing_in_it_is_told_what_it_needs(mistakes):
    found = mistakes("")
    assert [mistake.key for mistake in found] == ["minimize", "parameters", "budget"]
    assert "expected at least one, like x = { type" in found[1].message


def test_all_mistakes_are_said_at_once_in_the_order_of_the_file(mistakes, base):
    text = base.replace("latency_ms <= 2", "latency_ms < 2").replace("cost = 60", "cost = 0").replace("= 500", "= 5")
    text = text.replace("seed = 0", "sed = 0").replace("./profile.sh", "./gone.sh").replace("evaluations = 40", "")
    found = mistakes(text)
    assert [mistake.key for mistake in found] == [
        "constraints[0]", "parameters.units", "tasks.train.cost", "tasks.profile.command", "budget", "run.sed",
    ]  # fmt: skip
    assert [mistake.line for mistake in found] == [2, 6, 11, 16, 22, 26]


def test_the_error_reads_as_a_list(folder, base):
    (folder / "study.toml").write_text(base.replace("cost = 60", "cost = 0").replace("seed = 0", "seed = -1"))
    with pytest.raises(StudyFileError) as caught:
        StudyFile.read(folder / "study.toml")
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("study.toml has 2 mistakes:")
    assert lines[1] == '  line 11: tasks.train.cost: was 0: expected a number above 0, or "measured".'


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("minimize = error\n", 1, 12, "texts are in quotes"),
        ('minimize = "f"\nminimize = "g"\n', 2, None, "stands once"),
        ('a = 1\nminimize "f"\n', 2, None, "name = value"),
        ("log = True\n", 1, 7, "true and false in small letters"),
        ('a = [1,\n"b"', 2, None, "no TOML"),
    ],
)
def test_what_is_no_toml_is_placed_by_line_and_column(mistakes, text, line, column, says):
    (mistake,) = mistakes(text)
    assert mistake.line == line
    assert column is None or mistake.column == column
    assert says in mistake.message


def test_a_file_that_is_not_there_names_those_that_are(folder, base):
    (folder / "study.toml").write_text(base)
    with pytest.raises(StudyFileError, match=r"Did you mean 'study\.toml'\? `pesky init studi\.toml` writes one"):
        StudyFile.read(folder / "studi.toml")


def test_a_folder_and_other_encodings_are_no_study_files(folder, tmp_path):
    with pytest.raises(StudyFileError, match="cannot be read"):
        StudyFile.read(tmp_path)
    (tmp_path / "latin.toml").write_bytes('a = 1\nname = "Größe"\n'.encode("latin-1"))
    (tmp_path / "study.db").write_bytes(b"SQLite format 3\0\x10")
    with pytest.raises(StudyFileError, match="is a database, not a study file: this command reads a file with"):
        StudyFile.read(tmp_path / "study.db")
    with pytest.raises(StudyFileError, match=r"is a storage, not a study file: .*`pesky page`"):
        StudyFile.read(Path("sqlite:///study.db"))
    with pytest.raises(StudyFileError, match="line 2: is not UTF-8"):
        StudyFile.read(tmp_path / "latin.toml")
