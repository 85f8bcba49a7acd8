"""What a study file calls to measure a task: a function or a program, checked before anything is measured."""

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from pesky.problem import Problem
from pesky.study_file.command import Command
from pesky.study_file.function import CallError, Function
from pesky.study_file.key_lines import Key
from pesky.study_file.mistakes import Findings
from pesky.study_file.tables import StudyTable, TaskTable

Call = Function | Command

_SHELL = {"|", ">", ">>", "<", "&&", "||", ";", "&", "2>", "2>&1"}


def calls_of(
    table: StudyTable,
    tasks: Mapping[str, TaskTable] | None,
    problem: Problem | None,
    folder: Path,
    importing: bool,
    findings: Findings,
) -> dict[str, Call]:
    """The call of each task that has one; what cannot be called goes to the findings.

    Without `importing`, functions are not looked for, nor programs: to look at a study takes neither.
    """
    calls: dict[str, Call] = {}
    places: dict[str, tuple[Key, StudyTable | TaskTable]] = {"all": ((), table)}
    if tasks is not None:
        _check_top(table, findings)
        places = {label: (("tasks", label), each) for label, each in tasks.items()}
    for label, (key, each) in places.items():
        if each.function is not None and each.command is not None:
            given = f"was {each.function!r}, and command was {each.command!r}"
            findings.note((*key, "function"), f"{given}: expected one of them: leave the other out.")
            continue
        try:
            if each.function is not None:
                calls[label] = function = Function.parse(each.function, str(folder))
                if importing:
                    function.check()
            if each.command is not None:
                outcomes = problem.tasks[label].outcomes if problem is not None and label in problem.tasks else ()
                calls[label] = command = Command(_arguments(each.command), str(folder), outcomes)
                if importing:
                    _check_program(command)
        except CallError as error:
            findings.note((*key, "command" if each.function is None else "function"), str(error))
    return calls


def _check_top(table: StudyTable, findings: Findings) -> None:
    for name in ("function", "command"):
        given = getattr(table, name)
        if given is not None:
            findings.note((name,), f"was {given!r}, but there are [tasks]: expected a {name} in each of them instead.")


def check_callable(calls: Mapping[str, Call], tasks: Mapping[str, object], top: bool, findings: Findings) -> None:
    """Note the tasks, of those given, that have nothing to call."""
    for label in tasks:
        if label not in calls:
            findings.note(
                () if top else ("tasks", label),
                'nothing to call: expected function = "module:function" or command = ["./program"]; '
                "or measure by hand, with `pesky ask` and `pesky tell`.",
            )


def _arguments(given: str | list[str]) -> tuple[str, ...]:
    try:
        arguments = shlex.split(given) if isinstance(given, str) else given
    except ValueError as error:
        raise CallError(f"was {given!r}: {error}: expected quotes in pairs, or a list of arguments.") from error
    if not arguments or not arguments[0].strip():
        raise CallError(f"was {given!r}: expected a program and its arguments, like ['./measure.sh'].")
    if isinstance(given, str) and (used := [part for part in arguments if part in _SHELL]):
        raise CallError(
            f"was {given!r}: no shell reads it, so {used[0]!r} would be an argument: write ['sh', '-c', {given!r}]."
        )
    return tuple(arguments)


def _check_program(command: Command) -> None:
    first = command.arguments[0]
    file = Path(command.folder, first)
    if command.program is not None:
        if "/" in first and _is_bare_script(file):
            interpreter = "#!/usr/bin/env python3" if file.suffix == ".py" else "#!/bin/sh"
            raise CallError(f"{first!r} does not say what runs it: begin the file with the line {interpreter}.")
        return
    if os.path.isdir(file):  # unlike pathlib's, whatever lengths names have
        raise CallError(f"{first!r} is a folder: expected a program.")
    if not os.path.exists(file):
        near = "" if "/" in first else " on the PATH"
        raise CallError(f"there is no program {first!r}{near or f' in {command.folder}'}: check its name.")
    if "/" not in first:
        raise CallError(f"{first!r} is not on the PATH: write './{first}' for the one beside the study file.")
    if not os.access(file, os.X_OK):
        interpreter = "python" if file.suffix == ".py" and shutil.which("python") else "sh"
        raise CallError(f"{first!r} is not executable: `chmod +x {file}`, or write ['{interpreter}', {first!r}].")


def _is_bare_script(file: Path) -> bool:
    """Whether it is a text that only a shell would take for a program."""
    with file.open("rb") as opened:
        start = opened.read(64)
    return start.isascii() and b"\0" not in start and not start.startswith(b"#!")
