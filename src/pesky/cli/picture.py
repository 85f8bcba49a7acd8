"""The picture that `pesky show --picture` writes."""

import inspect
from pathlib import Path
from typing import Any

from pesky.cli.arguments import texts
from pesky.cli.stored_study import Looked
from pesky.errors import DataError, unknown_name
from pesky.problem.reading import read_value


def write_picture(looked: Looked, name: str, output: str | None, is_dark: bool, options: dict[str, Any]) -> Path:
    """The file that the picture was written to; options are those that were given of `against`, `along`, `at` ..."""
    from pesky.show import PICTURES, darkened, write

    if name not in PICTURES:
        raise DataError(f"--picture: {unknown_name('picture', name, PICTURES)}")
    picture = PICTURES[name]
    looked.read()
    study = looked.open()
    if at := options.pop("at", None):
        given, known = texts(at), study.problem.parameters
        if unknown := [each for each in given if each not in known]:
            raise DataError(f"--at: {unknown_name('parameter', unknown[0], known)}")
        options["at"] = {each: read_value(each, known[each], text) for each, text in given.items()}
    words = {"parameters": "along"}
    taken = {words.get(each, each) for each in inspect.signature(picture).parameters}
    for option in options:
        if option not in taken:
            raise DataError(f"--{option} is none of the options of {name}: leave it out.")
    given = {"parameters" if key == "along" else key: value for key, value in options.items()}
    figure = picture(study, **given)
    path = output or f"{looked.stem}-{name}.html"
    return write(darkened(figure) if is_dark else figure, path)
