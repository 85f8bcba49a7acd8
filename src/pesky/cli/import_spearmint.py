"""`pesky import-spearmint`: a study file from a Spearmint config.json."""

from pathlib import Path
from typing import Annotated

import typer

from pesky.cli import exit_codes
from pesky.errors import PeskyError


def import_spearmint(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.json", help="Spearmint's config.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The study file; study.toml beside the config if not given.")
    ] = None,
) -> None:
    """Write a study file that does what a Spearmint config did, and a module that calls its main(job_id, params)."""
    from pesky.cli.consoles import say, say_error
    from pesky.study_file import StudyFile, StudyFileError
    from pesky.study_file.spearmint_config import read_config
    from pesky.study_file.spearmint_study import module_text, study_text

    read = read_config(config)
    target = config.parent / "study.toml" if output is None else output
    adapter = target.parent / f"{''.join(c if c.isalnum() else '_' for c in target.stem)}_spearmint.py"
    for file in (target, adapter):
        if file.exists():
            raise PeskyError(f"{file} exists: expected a new name, since nothing is overwritten: write -o NAME.toml.")
    adapter.write_text(module_text(read), encoding="utf-8")
    target.write_text(study_text(read, config.name, adapter.stem), encoding="utf-8")
    say(f"{target} and {adapter} written.")
    try:
        StudyFile.read(target)
    except StudyFileError as error:
        say_error(f"what remains to be done in it:\n{error}")
        raise typer.Exit(exit_codes.MISTAKE) from error
    say(f"Next: pesky run {target}")
