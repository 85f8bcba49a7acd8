"""Where a study file keeps its study: beside it, whatever characters its path has, and without showing a password."""

import pytest

from pesky.errors import PeskyError
from pesky.page.source import Source
from pesky.store.sql.url import parse, path_of
from pesky.study_file import StudyFile, StudyFileError
from pesky.study_file.mistakes import Findings
from pesky.study_file.storage import storage_url

SMALL = 'minimize = "f"\n[parameters]\nx = { type = "real", low = 0, high = 1 }\n'
NAMES = ["what?", "a%41b", "50%", "a b#c", "ü", "quo'te\"", "a&b=c"]


def storage(given, path, **environment):
    findings = Findings({})
    found = storage_url(given, path, findings, environment)
    assert not findings.mistakes
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_database_lies_exactly_beside_its_file(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    for given, file in ((None, f"{name}.db"), ("sqlite:///other.db", "other.db")):
        url = storage(given, folder / f"{name}.toml")
        assert path_of(url) == str(folder / file)
        assert parse(url).database == str(folder / file)


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_may_be_a_folder_of_any_name(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    assert parse(storage("sqlite:///$FOLDER/a.db", tmp_path / "x.toml", FOLDER=str(folder))).database == str(
        folder / "a.db"
    )


def test_a_variable_in_the_query_may_have_any_characters(tmp_path):
    password = "a&b=c%41 @/?#+"
    url = parse(storage("postgresql://me@/db?host=/tmp&password=$PW&sslmode=prefer", tmp_path / "x.toml", PW=password))
    assert dict(url.query) == {"host": "/tmp", "password": password, "sslmode": "prefer"}


def test_options_of_sqlite_are_kept_and_others_refused(tmp_path):
    assert dict(parse(storage("sqlite:///a.db?timeout=3", tmp_path / "x.toml")).query) == {"timeout": "3"}
    findings = Findings({})
    storage_url("sqlite:///a?b.db", tmp_path / "x.toml", findings, {})
    ((_, mistake),) = findings.mistakes
    assert mistake.message.startswith("was \"sqlite:///a?b.db\", and 'b.db' is no option of SQLite: write ? as %3F")


def test_a_uri_of_sqlites_own_is_left_as_it_is(tmp_path):
    given = f"sqlite:///file:{tmp_path}/a.db?mode=ro&uri=true"
    assert storage(given, tmp_path / "x.toml") == given


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('["postgresql://me:secret@host/db"]', "was a list: expected a text like"),
        ('{ password = "secret" }', "was a table: expected a text like"),
        ("7", "was 7: expected a text like"),
        ('"postgresql://me:secret@host:port/db"', "was 'postgresql://me:***@host:***', which is no URL"),
        ('"postgresql://me:secret@host/db', "this is no TOML"),
        ('"$PESKY_NOT_SET"', "the variable $PESKY_NOT_SET is not set"),
    ],
)
def test_a_mistake_shows_no_password(tmp_path, given, words):
    (tmp_path / "study.toml").write_text(f"storage = {given}\n{SMALL}")
    with pytest.raises(StudyFileError) as caught:
        StudyFile.read(tmp_path / "study.toml")
    (mistake,) = caught.value.mistakes
    assert mistake.line == 1
    assert words in mistake.message
    assert "secret" not in str(caught.value)


def test_a_study_file_shows_no_password(tmp_path):
    (tmp_path / "study.toml").write_text(f"storage = 'postgresql://me:secret@host/db?sslpassword=secret'\n{SMALL}")
    file = StudyFile.read(tmp_path / "study.toml")
    assert "storage='postgresql://me:***@host/db?sslpassword=***', problem=Problem(" in repr(file)
    assert "secret" not in repr(file)
    assert file.storage.count("secret") == 2


@pytest.mark.parametrize("name", ["a" * 300, "a" * 300 + ".db", "a/" * 10_000, "a" * 20_000])
def test_a_path_that_is_too_long_is_said_in_words(tmp_path, name):
    path = tmp_path / "study.toml"
    path.write_text(f"storage = 'sqlite:///{name}/study.db'\n{SMALL}")
    with pytest.raises(StudyFileError, match="there is no folder"):
        StudyFile.read(path)
    path.write_text(f"command = ['./{name}']\n{SMALL}")
    with pytest.raises(StudyFileError, match="there is no program"):
        StudyFile.read(path)
    for given in (name, str(tmp_path / name)):
        with pytest.raises(PeskyError, match=r"there is no|there are none|cannot be read"):
            Source.of(given)
