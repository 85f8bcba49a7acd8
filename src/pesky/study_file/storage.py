"""Where a study file keeps its study: an URL with variables expanded and paths relative to the file."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from pesky.errors import StorageError
from pesky.store.sql.url import SCHEMES, encoded, hidden, parse, path_of, split_file, url_of
from pesky.study_file.mistakes import Findings
from pesky.study_file.tables import StudyTable

_EXPECTED = "'sqlite:///FILE' or 'postgresql://USER:$PASSWORD@HOST/DATABASE'"
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_KINDS = {list: "a list", dict: "a table"}


def stored_text(given: Mapping[str, object], findings: Findings) -> dict[str, object]:
    """What the file says, without a storage that is no text: there may be a password in it, which nobody is to see."""
    storage = given.get("storage")
    if storage is None or isinstance(storage, str):
        return dict(given)
    expected = StudyTable.model_fields["storage"].description
    findings.note(("storage",), f"was {_KINDS.get(type(storage), storage)}: expected {expected}.")
    return {key: value for key, value in given.items() if key != "storage"}


def storage_url(given: str | None, path: Path, findings: Findings, environment: Mapping[str, str] = os.environ) -> str:
    """The URL to open; the given text may lack, be relative to the study file's folder, and hold $VARIABLES."""
    if given is None:
        return url_of(path.with_suffix(".db"))
    text = _expanded(given, findings, environment)
    if findings.concern(("storage",)):
        return text
    scheme, mark, _ = text.partition("://")
    if not mark or scheme not in SCHEMES:
        meant = f"write 'sqlite:///{given}'" if re.fullmatch(r"[\w./-]+", given) else f"expected {_EXPECTED}"
        findings.note(("storage",), f"was {hidden(given)!r}: that is no URL of a storage: {meant}.")
        return text
    try:
        if not scheme.startswith("sqlite"):
            parse(text)
            return text
        split_file(text)
    except StorageError as error:
        findings.note(("storage",), str(error).removeprefix("the storage "))
        return text
    return _beside(given, text, path, findings)


def _beside(given: str, text: str, path: Path, findings: Findings) -> str:
    """The URL of a file with its path in full; a URI of SQLite's own as it is."""
    file = path_of(text)
    if file is None:
        return text
    whole = path.parent / file
    if os.path.isdir(whole) or not os.path.isdir(whole.parent):  # unlike pathlib's, whatever lengths names have
        problem = "that is a folder" if os.path.isdir(whole) else f"there is no folder {whole.parent}"
        shown = given.partition("?")[0]  # options may be secret
        findings.note(("storage",), f"was {shown!r}: {problem}: expected a file in a folder that exists: make it.")
    return url_of(whole) + "".join(text.partition("?")[1:])


def _expanded(given: str, findings: Findings, environment: Mapping[str, str]) -> str:
    """The text with its variables; one before an @ or behind a ? may be a password, and have any characters."""
    at, options = given.rfind("@"), given.find("?")

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name not in environment:
            findings.note(
                ("storage",), f"was {hidden(given)!r}: the variable ${name} is not set: `export {name}=...` first."
            )
            return ""
        if match.end() <= at or 0 <= options < match.start():
            return quote(environment[name], safe="")
        return encoded(environment[name]) if given.startswith("sqlite") else environment[name]

    return _VARIABLE.sub(value, given)
