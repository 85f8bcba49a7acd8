"""The application: help, version, exit codes, and how quickly it starts."""

import importlib.metadata
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from pesky.cli import app, exit_codes


def test_help_lists_the_commands_and_the_exit_codes(pesky):
    text = pesky("--help").stdout
    for command in ("run", "work", "ask", "tell", "recommend", "show", "status", "init", "check", "upgrade"):
        assert f" {command} " in text
    for code, meaning in exit_codes.MEANINGS.items():
        assert f"{code:>3}  {meaning}" in text


def test_the_version_is_the_package_s(pesky):
    assert pesky("--version").stdout == f"pesky {importlib.metadata.version('pesky')}\n"


@pytest.mark.parametrize("arguments", [["rnu"], ["run"], ["run", "study.toml", "--workers", "0"], ["show", "--what"]])
def test_wrong_arguments_are_a_mistake(pesky, arguments):
    pesky(*arguments, code=exit_codes.MISTAKE)


def test_a_mistake_is_said_without_a_traceback(pesky, project):
    project.change('minimize = "f"', "minimize = 3")
    result = pesky("run", "study.toml", code=exit_codes.MISTAKE)
    assert "line 1: minimize: was 3: expected the name of the outcome" in result.stderr
    assert "Traceback" not in result.output


def test_an_error_of_our_own_keeps_its_traceback(project, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("ours")

    monkeypatch.setattr("pesky.study_file.StudyFile.read", broken)
    result = CliRunner().invoke(app, ["check", "study.toml"])
    assert result.exit_code == exit_codes.OURS
    assert isinstance(result.exception, RuntimeError)


def test_ctrl_c_anywhere_is_an_interruption(project, monkeypatch, pesky):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("pesky.study_file.StudyFile.read", interrupted)
    pesky("check", "study.toml", code=exit_codes.INTERRUPTED)


QUICK = """
import sys
from pesky.cli import app, exit_codes
try:
    app({arguments!r})
except SystemExit as exit:
    assert not exit.code
assert not {heavy!r} & set(sys.modules)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["init", "new.toml"], ["check", "study.toml"]])
def test_what_does_not_compute_does_not_wait_for_torch(project, arguments):
    code = QUICK.format(arguments=arguments, heavy={"torch", "sqlalchemy", "pandas"})
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    "arguments", [["status", "study.toml"], ["show", "study.toml"], ["show", "study.toml", "--csv", "-"]]
)
def test_nor_does_what_only_looks(pesky, project, arguments):
    pesky("ask", "study.toml")
    code = QUICK.format(arguments=arguments, heavy={"torch", "pandas"})
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "pesky", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pesky ")
