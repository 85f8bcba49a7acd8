"""A password is in no output of any command, whatever is wrong with the storage, the server or the study file."""

import traceback
from urllib.parse import quote

import pytest
from page.asgi import request
from postgres import postgres_server, postgres_url  # noqa: F401 (fixtures)
from typer.testing import CliRunner

from pesky.cli import app, exit_codes
from pesky.page.source import Source
from pesky.page.work import Work, answered
from pesky.study_file import StudyFile

CANARY = "kanari"
PASSWORD = f"a%{CANARY}&b@c/d?{CANARY}"

COMMANDS = [
    ("check", "study.toml"), ("check", "study.toml", "--json"),
    ("run", "study.toml", "--evaluations", "2"), ("run", "study.toml", "--evaluations", "2", "--json"),
    ("work", "study.toml", "--evaluations", "2"), ("work", "study.toml", "--evaluations", "2", "--json"),
    ("ask", "study.toml"), ("ask", "study.toml", "--json"),
    ("tell", "study.toml", "2", "f=1", "c=1"), ("tell", "study.toml", "2", "f=7"), ("tell", "study.toml", "9", "f=1"),
    ("tell", "study.toml", "--params", '{"x": 0.5, "k": "a"}', "--json", '{"f": 1.5}'),
    ("status", "study.toml"), ("status", "study.toml", "--json"),
    ("show", "study.toml"), ("show", "study.toml", "--json"), ("show", "study.toml", "--csv", "-"),
    ("recommend", "study.toml"), ("recommend", "study.toml", "--json"),
    ("page", "study.toml", "--port", "0"), ("page", "study.toml", "--port", "0", "--write"),
]  # fmt: skip
READING = [command for command in COMMANDS if command[0] in ("check", "status", "show", "page")]
TOKEN = "a-token-of-this-test"


@pytest.fixture
def said(caplog, capfd):
    """A function that gives all that a command says, be it on the screen, in the log or in a traceback."""

    def run(*arguments):
        result = CliRunner().invoke(app, list(arguments))
        out, err = capfd.readouterr()
        failure = result.exception
        failed = "" if failure is None or isinstance(failure, SystemExit) else traceback.format_exception(failure)
        text = "\n".join([result.output, out, err, caplog.text, *failed])
        caplog.clear()
        return result.exit_code, text

    return run


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    """All that a page answers, which is asked for its data and interrupted then."""
    monkeypatch.setenv("PESKY_PAGE_TOKEN", TOKEN)
    answers = []

    def run(server, sockets):
        host = f"127.0.0.1:{sockets[0].getsockname()[1]}"
        paths = ("/api/studies", "/api/study", "/api/study?study=none")
        answers.extend(request(server.config.app, path, host=host, x_pesky_token=TOKEN) for path in paths)
        raise KeyboardInterrupt

    monkeypatch.setattr("uvicorn.Server.run", run)
    return answers


def store_in(project, storage):
    """Put the storage into the study file, as TOML."""
    text = (project.folder / "study.toml").read_text()
    (project.folder / "study.toml").write_text(f"storage = {storage}\n{text}")


def test_a_server_that_answers(project, postgres_url, monkeypatch, said, shown):  # noqa: F811
    monkeypatch.setenv("PGPW", PASSWORD)
    store_in(project, f"'{postgres_url}&password=$PGPW'")
    for command in COMMANDS:
        code, text = said(*command)
        assert CANARY not in text, command
        assert code in (exit_codes.DONE, exit_codes.MISTAKE, exit_codes.NOT_YET, exit_codes.SPENT), (command, text)
        assert "Traceback" not in text, (command, text)
    _, text = said("status", "study.toml")
    assert "password=***" in text
    for command in ("upgrade", "page"):
        code, text = said(command, f"{postgres_url}&password={quote(PASSWORD, safe='')}")
        assert code == 0, text
        assert CANARY not in text
    assert [each.status for each in shown] == 3 * [200, 200, 410]
    assert not any(CANARY in each.body.decode() for each in shown)
    assert "password=***" in shown[-3].said["storage"]
    file = StudyFile.read("study.toml")
    assert CANARY in file.storage
    assert CANARY not in repr(file)
    assert "password=***" in repr(file)


@pytest.mark.parametrize("part", ["before the @", "in the query"])
def test_a_server_that_is_out_of_reach(project, monkeypatch, said, part):
    monkeypatch.setenv("PGPW", PASSWORD)
    user, query = ("me:$PGPW", "") if part == "before the @" else ("me", "?sslPassword=x&password=$PGPW")
    store_in(project, f"'postgresql://{user}@127.0.0.1:1/study{query}'")
    for command in COMMANDS:
        code, text = said(*command)
        assert CANARY not in text, command
        assert "Traceback" not in text, (command, text)
        assert (code == 0) == (command[0] == "check"), (command, text)


MISTAKES = {
    "a port that is none": f'"postgresql://me:{CANARY}@host:port/study"',
    "an @ that is not encoded": f'"postgresql://me:se@{CANARY}@host/study"',
    "a host that is forgotten": f'"postgresql://me:{CANARY}"',
    "a slash in the user": f'"postgresql://m/e:{CANARY}@host/study"',
    "another kind": f'"mysql://me:{CANARY}@host/study"',
    "another kind with a query": f'"mysql://host/study?password={CANARY}"',
    "a file with a password": f'"sqlite://me:{CANARY}@host/study"',
    "no kind": f'"me:{CANARY}@host/study"',
    "no slashes": f'"postgresql:me:{CANARY}@host/study"',
    "words of libpq": f'"host=h user=me password={CANARY}"',
    "an encoded key": f'"mysql://host/study?%70assword={CANARY}"',
    "a list": f'["postgresql://me:{CANARY}@host/study"]',
    "a table": f'{{ url = "postgresql://host/study", password = "{CANARY}" }}',
    "a text without an end": f'"postgresql://me:{CANARY}@host/study',
    "a text without quotes": f"postgresql://me:{CANARY}@host/study",
    "a variable that is a password alone": '"$PGPW"',
    "a variable that is missing": f'"postgresql://me:{CANARY}@host/$NOT_SET"',
    "an option that there is not": f'"sqlite:///study.db?password={CANARY}"',
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_study_file_with_a_mistake(project, monkeypatch, said, mistake):
    monkeypatch.setenv("PGPW", CANARY)
    store_in(project, MISTAKES[mistake])
    for command in (*READING, ("run", "study.toml"), ("ask", "study.toml")):
        code, text = said(*command)
        assert CANARY not in text, (command, text)
        assert "Traceback" not in text, (command, text)
        assert code == exit_codes.MISTAKE, (command, text)


NOT_THERE = pytest.mark.parametrize(
    "url",
    [f"postgresql://me:{CANARY}@127.0.0.1:1/study", f"me:{CANARY}@host/study", f"postgresql://me:{CANARY}@h:p/study",
     f"mysql://me@host/study?PASSWORD={CANARY}", f"postgresql://me@127.0.0.1:1/study?sslpassword={CANARY}"],
)  # fmt: skip


@NOT_THERE
@pytest.mark.parametrize("command", [["upgrade"], ["page", "--port", "0"], ["page", "--port", "0", "--write"]])
def test_what_is_not_there(said, command, url):
    code, text = said(*command, url)
    assert CANARY not in text
    assert "Traceback" not in text
    assert code != 0


@NOT_THERE
def test_a_picture_of_what_is_not_there(url):
    said = answered(lambda: Work(Source.of(url)), {"what": "draw", "study": "s", "name": "belief", "renew": True})
    assert said["error"]
    assert CANARY not in str(said)


def test_what_a_page_is_of_shows_no_password():
    source = Source.of(f"postgresql://me:{CANARY}@host/study?password={CANARY}")
    assert CANARY in source.storage
    assert CANARY not in repr(source)
    assert "me:***@host" in repr(source)
