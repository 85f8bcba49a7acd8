"""Where a study file keeps its study: an URL with variables expanded and paths relative to the file."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from pesky.file.mistake import Findings

SCHEMES = ("sqlite", "sqlite+pysqlite", "postgres", "postgresql", "postgresql+psycopg")
_EXPECTED = "'sqlite:///FILE' or 'postgresql://USER:$PASSWORD@HOST/DATABASE'"
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def storage_url(given: str | None, path: Path, findings: Findings, environment: Mapping[str, str] = os.environ) -> str:
    """The URL to open; the given text may lack, be relative to the study file's folder, and hold $VARIABLES."""
    if given is None:
        return f"sqlite:///{path.with_suffix('.db')}"
    text = _expanded(given, findings, environment)
    scheme, mark, rest = text.partition("://")
    if not mark or scheme not in SCHEMES:
        meant = f"write 'sqlite:///{text}'" if re.fullmatch(r"[\w./-]+", text) else f"expected {_EXPECTED}"
        findings.note(("storage",), f"was {hidden(given)!r}: that is no URL of a storage: {meant}.")
        return text
    if not scheme.startswith("sqlite"):
        return text
    file = rest.removeprefix("/")
    if not rest.startswith("/") or file in ("", ":memory:"):
        findings.note(
            ("storage",),
            f"was {given!r}: expected a file that the study is kept in, with three slashes before its name, like "
            f"'sqlite:///{path.stem}.db'.",
        )
        return text
    whole = path.parent / file
    if whole.is_dir() or not whole.parent.is_dir():
        problem = "that is a folder" if whole.is_dir() else f"there is no folder {whole.parent}"
        findings.note(("storage",), f"was {given!r}: {problem}: expected a file in a folder that exists: make it.")
    return f"{scheme}:///{whole}"


def hidden(text: str) -> str:
    """The text with what may be a password hidden."""
    return re.sub(r"(://[^:@/]*):.*@", r"\1:***@", text, flags=re.DOTALL)


def _expanded(given: str, findings: Findings, environment: Mapping[str, str]) -> str:
    """The text with its variables; one before an @ is a password or a name, and may have any characters."""
    at = given.rfind("@")

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name not in environment:
            findings.note(
                ("storage",), f"was {hidden(given)!r}: the variable ${name} is not set: `export {name}=...` first."
            )
            return ""
        return quote(environment[name], safe="") if match.end() <= at else environment[name]

    return _VARIABLE.sub(value, given)
