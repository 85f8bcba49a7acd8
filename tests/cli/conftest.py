"""A study file with what it calls, and the command line to use it with."""

import sys

import pytest
from typer.testing import CliRunner

from pesky.cli import app

STUDY = """\
minimize = "f"
constraints = ["c >= 0"]
noise = 0.0
function = "{module}:measure"

[parameters]
x = {{ type = "real", low = 0, high = 1 }}
k = {{ type = "choice", options = ["a", "b"] }}

[budget]
evaluations = 3
"""

MEASURE = """\
def measure(params):
    x = params["x"]
    return {"f": (x - 0.7) ** 2 + (params["k"] == "b"), "c": 0.5 - x}
"""


class Project:
    """A folder with a study file, and what it calls in a module that no other test has."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.module = folder, f"pesky_{folder.name}"
        monkeypatch.chdir(folder)
        self.write(STUDY)
        self.measure(MEASURE)

    def write(self, text, **names):
        """Replace the study file."""
        (self.folder / "study.toml").write_text(text.format(module=self.module, **names))

    def change(self, old, new):
        """Replace a part of the study file."""
        text = (self.folder / "study.toml").read_text()
        assert old in text
        (self.folder / "study.toml").write_text(text.replace(old, new))

    def measure(self, text):
        """Replace the module that is called."""
        (self.folder / f"{self.module}.py").write_text(text)


@pytest.fixture(autouse=True)
def imports_of_its_own(monkeypatch):
    """No folder of a study stays among those that other tests import from."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def project(tmp_path, monkeypatch):
    return Project(tmp_path, monkeypatch)


@pytest.fixture
def pesky():
    """A function that runs the command line and expects an exit code, or any for None."""

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, [str(each) for each in arguments], input="n\n")
        assert code is None or result.exit_code == code, (result.output, result.exception)
        return result

    return run
