"""`pesky init`: a study file to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from pesky.cli.consoles import say
from pesky.errors import PeskyError

STUDY = """\
# A study: what to optimize, over which parameters, under which constraints.
# `pesky check {file}` finds mistakes, `pesky run {file}` measures and recommends.

minimize = "error"                      # an outcome of the measurement; or: maximize = "accuracy"
constraints = ["latency_ms <= 2"]       # outcomes too; yes or no: "converged is true"
function = "measure:measure"            # module:function, here of measure.py; or a program: command = ["./measure.sh"]

# storage = "sqlite:///{stem}.db"       # where it is kept, so that it can be continued
# noise = 0.0                           # standard deviation of a measurement, if known; inferred otherwise

[parameters]
learning_rate = {{ type = "real", low = 1e-5, high = 1e-1, log = true }}
units = {{ type = "integer", low = 10, high = 500 }}
activation = {{ type = "choice", options = ["relu", "tanh"] }}

[budget]                                # the first limit reached ends a run
evaluations = 30                        # also: cost, seconds, gain_per_cost

[run]
workers = 1                             # measurements at once
seed = 0
# rule = "pesc"                         # how questions are chosen; others suit other problems

# What can be measured on its own may be a task of its own, with its price. Then function (or command) goes there:
#
# [tasks.train]
# outcomes = ["error"]
# cost = 60                             # in any unit, or "measured"
# timeout = 3600                        # seconds
# failures = "record"                   # a failure is only noted; or "learn": where it fails is learnt and avoided;
#                                       # or "random": the same, for failures that also come by chance
# function = "measure:train"
#
# [tasks.profile]
# outcomes = ["latency_ms"]
# function = "measure:profile"
"""

MEASURE = '''\
"""What is measured: replace the arithmetic by your own experiment."""

import math


def measure(params):
    """Error and latency of a network that exists only here: larger is better and slower."""
    relu = params["activation"] == "relu"
    mistuned = (math.log10(params["learning_rate"]) + (2.5 if relu else 2.0)) ** 2
    return {
        "error": 0.05 + 0.02 * mistuned + 0.8 / math.sqrt(params["units"]) + (0.0 if relu else 0.02),
        "latency_ms": 0.2 + 0.006 * params["units"] * (1.0 if relu else 1.3),
    }
'''


def init(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="The study file to write.")] = Path("study.toml"),
) -> None:
    """Write a study file with comments, and a measure.py beside it, that can be run as they are."""
    if file.exists():
        raise PeskyError(f"{file} exists: expected a new name, since nothing is overwritten.")
    if not file.parent.is_dir():
        raise PeskyError(f"there is no folder {file.parent}: make it first.")
    file.write_text(STUDY.format(file=file.name, stem=file.stem), encoding="utf-8")
    measure = file.parent / "measure.py"
    if measure.exists():
        say(f"{file} written; {measure} was there already: `pesky check {file}` tells whether it fits.")
        return
    measure.write_text(MEASURE, encoding="utf-8")
    say(f"{file} and {measure} written: edit them, then `pesky run {file}`.")
