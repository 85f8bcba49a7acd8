"""Pictures on the command line."""

import pytest

from pesky.show import PICTURES


@pytest.fixture
def begun(project, pesky):
    """A project whose study was told a little, by hand."""
    (project.folder / "data.csv").write_text("x,k,f,c\n0.2,a,0.3,0.3\n0.6,b,1.2,-0.1\n")
    pesky("import", "study.toml", "data.csv")
    return project


def test_a_picture_is_written_where_it_is_told_to(begun, pesky):
    said = pesky("show", "study.toml", "--picture", "timeline", "-o", "when.html").output
    assert said.strip() == "when.html"
    assert "Timeline: " in (begun.folder / "when.html").read_text()


def test_without_a_file_it_is_called_after_the_study_and_the_picture(begun, pesky):
    pesky("show", "study.toml", "--picture", "belief", "--along", "x", "--at", "k=b", "--dark")
    text = (begun.folder / "study-belief.html").read_text()
    assert "at k = b" in text
    assert "#14181D" in text


def test_it_changes_nothing_in_the_study(begun, pesky):
    before = pesky("show", "study.toml", "--json").output
    pesky("show", "study.toml", "--picture", "timeline")
    assert pesky("show", "study.toml", "--json").output == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--picture", "progres"], "'progress'"),
        (["--picture", "timeline", "--along", "x"], "--along is none of the options of timeline"),
        (["--picture", "progress", "--evaluation", "0"], "--evaluation is none of the options of progress"),
        (["--picture", "why", "--evaluation", "0"], "evaluation 0 was not chosen by what it is worth"),
        (["--evaluation", "0"], "those of a picture"),
        (["--picture", "progress", "--against", "luck"], "'evaluations', 'cost', 'time'"),
        (["--picture", "belief", "--at", "z=1"], "'x', 'k'"),
        (["--picture", "belief", "--at", "x=much"], "x"),
        (["--picture", "timeline", "--json"], "leave out --state, --csv and --json"),
        (["--picture", "timeline", "-o", "picture.gif"], "'html', 'png', 'svg'"),
        (["--dark"], "--picture progress"),
    ],
)
def test_what_does_not_fit_is_said(begun, pesky, arguments, says):
    assert says in " ".join(pesky("show", "study.toml", *arguments, code=2).output.split())


def test_a_report_is_written(begun, pesky, monkeypatch):
    monkeypatch.setattr("pesky.answer.what_if.STEPS", (0,))
    assert pesky("report", "study.toml").output.strip() == "study-report.html"
    text = (begun.folder / "study-report.html").read_text()
    assert "All evaluations (2)" in text
    assert "in a folder that exists" in pesky("report", "study.toml", "-o", "nowhere/report.html", code=2).output


def test_the_help_names_every_picture(pesky):
    text = pesky("show", "--help").output
    assert all(name in text for name in PICTURES)
