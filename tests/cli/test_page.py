"""`pesky page` on the command line: what it says before it serves."""

import socket

import pytest


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nothing.toml"], 2, "nothing.toml"),
        (["study.toml"], 4, "--write"),
        (["study.toml", "--write", "--host", "0.0.0.0"], 2, "PESKY_PAGE_TOKEN"),
        (["study.toml", "--token", "short"], 2, "12 letters"),
        (["study.toml", "--port", "70000"], 2, "65535"),
        (["sqlite:///nothing.db"], 4, "nothing.db"),
    ],
)
def test_what_cannot_be_served_is_said(project, pesky, arguments, code, says):
    assert says in " ".join(pesky("page", *arguments, code=code).output.split())
    assert not (project.folder / "study.db").exists()


def test_a_port_that_is_taken_is_said(project, pesky):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = pesky("page", "study.toml", "--write", "--port", taken.getsockname()[1], code=2).output
    assert "is taken" in said
    assert not (project.folder / "study.db").exists()
