"""`pesky copy`: what can be kept of one study, into another."""

from pathlib import Path
from typing import Annotated

import typer

from pesky.cli.arguments import StudyPath, texts
from pesky.cli.consoles import say
from pesky.errors import DataError


def copy(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="A study in the same storage, or its study file.", show_default=False)
    ],
    study: StudyPath,
    fixed: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="The value of a parameter that only one of the two has."),
    ] = None,
) -> None:
    """Take over what can be kept of the study FROM, as data of your own; FROM stays as it is.

    For a problem that a stored study cannot go on with: with other parameters. Give the new study another name.
    """
    from pesky.cli.stored_study import open_study
    from pesky.study import Study
    from pesky.study_file import StudyFile
    from pesky.wording import counted

    file = StudyFile.read(study, importing=False)
    is_file = Path(source).suffix == ".toml"
    if is_file:
        other = StudyFile.read(Path(source), importing=False)
        storage, name = other.storage, other.name
    else:
        storage, name = file.storage, source
    if (storage, name) == (file.storage, file.name):
        raise DataError(f"{name!r} cannot be copied to itself: give the new study another name in {study}.")
    old = Study.load(storage, name)
    kept = open_study(file).adopt(old, texts(fixed or []))
    told = sum(bool(e.outcomes) for e in old.evaluations.values())
    say(f"{counted(len(kept))} of {told} with outcomes copied from {name!r} to {file.name!r}.")
