"""The study file, and the module it calls, that do what a Spearmint config did."""

import json
import re
from collections.abc import Iterator

from pesky.study_file.mistakes import dotted
from pesky.study_file.spearmint import parts
from pesky.study_file.spearmint_config import Config, Outcome, Variable
from pesky.text import one_line

EVALUATIONS = 50
"""Where the config knows no end."""


def function_name(config: Config, group: str) -> str:
    """The function that measures a group."""
    return "measure" if len(config.groups) == 1 else f"measure_{re.sub(r'[^0-9A-Za-z_]', '_', group)}"


def module_text(config: Config) -> str:
    """The Python module that adapts each old main."""
    lines = [
        '"""Calls main(job_id, params) as Spearmint did; written by `pesky import-spearmint`."""',
        "",
        *sorted({f"from {o.module} import main as {o.module}_main" for o in config.outcomes}),
        "from pesky.study_file.spearmint import adapt",
        "",
        f"SIZES = { ({v.name: v.size for v in config.variables})!r}",
        "",
    ]
    for group, outcomes in config.groups.items():
        names = [outcome.name for outcome in outcomes]
        lines.append(f"{function_name(config, group)} = adapt({outcomes[0].module}_main, SIZES, {names!r})")
    return "\n".join(lines) + "\n"


def study_text(config: Config, source: str, module: str) -> str:
    """The study file, with comments for what has no place in it."""
    return "\n".join(_lines(config, source, module)) + "\n"


def _lines(config: Config, source: str, module: str) -> Iterator[str]:
    objective = next(outcome for outcome in config.outcomes if outcome.is_objective)
    constraints = [outcome for outcome in config.outcomes if not outcome.is_objective]
    # a name in the config may have several lines, and only the first would be a comment
    yield f"# Written by `pesky import-spearmint` from {one_line(source)}."
    yield from (f"# Has no place here: {one_line(line)}" for line in config.unused)
    yield f"name = {_text(config.name)}"
    yield f"minimize = {_text(objective.name)}"
    if constraints:
        yield "# satisfied where the value is 0 or above, as in Spearmint, and here with a confidence of 0.95"
        yield f"constraints = [{', '.join(_text(f'{outcome.name} >= 0') for outcome in constraints)}]"
    groups = config.groups
    if len(groups) == 1:
        yield f'function = "{module}:measure"  # calls main(job_id, params) of {objective.module}.py'
    noiseless = [outcome for outcome in config.outcomes if outcome.is_noiseless]
    if noiseless:
        yield f"noise = {{ {', '.join(f'{dotted((outcome.name,))} = 0.0' for outcome in noiseless)} }}"
    yield ""
    yield "[parameters]"
    for variable in config.variables:
        yield from _parameter(variable)
    if len(groups) > 1:
        for group, outcomes in groups.items():
            yield from _task(config, group, outcomes, module)
    yield from _resources(config)
    yield ""
    yield "[budget]"
    unsaid = "" if config.evaluations else "  # Spearmint ran until it was stopped: choose"
    yield f"evaluations = {config.evaluations or EVALUATIONS}{unsaid}"
    if not config.resources:
        yield ""
        yield "[run]"
        yield f"workers = {config.workers}"


def _parameter(variable: Variable) -> Iterator[str]:
    for part in parts(variable.name, variable.size):
        if variable.type == "choice":
            options = ", ".join(_text(option) for option in variable.options)
            yield f'{dotted((part,))} = {{ type = "choice", options = [{options}] }}'
        else:
            low, high = _text(variable.low), _text(variable.high)
            yield f'{dotted((part,))} = {{ type = "{variable.type}", low = {low}, high = {high} }}'


def _task(config: Config, group: str, outcomes: list[Outcome], module: str) -> Iterator[str]:
    costs = {outcome.cost for outcome in outcomes}
    yield ""
    yield f"[{dotted(('tasks', group))}]"
    yield f"outcomes = [{', '.join(_text(outcome.name) for outcome in outcomes)}]"
    yield f"cost = {max(costs):g}" + ("  # the largest of its tasks" if len(costs) > 1 else "")
    yield f'function = "{module}:{function_name(config, group)}"  # main of {outcomes[0].module}.py'


def _resources(config: Config) -> Iterator[str]:
    groups = config.groups if len(config.groups) > 1 else {"all": config.outcomes}
    for name, slots in config.resources.items():
        runs = [
            group
            for group, outcomes in groups.items()
            if any(name in outcome.resources or not outcome.resources for outcome in outcomes)
        ]
        if runs:
            yield ""
            yield f"[{dotted(('resources', name))}]"
            yield f"tasks = [{', '.join(map(_text, runs))}]"
            yield f"slots = {slots}"


def _text(value: object) -> str:
    """A value as TOML, which here writes as JSON does."""
    return json.dumps(value, ensure_ascii=False)
