"""A table of a study file, checked key by key: pydantic finds the mistakes, this says them to the author."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError

from pesky.errors import brief, unknown_name
from pesky.problem.wording import is_number, number_hint
from pesky.study_file.key_lines import Key
from pesky.study_file.mistakes import Findings, dotted
from pesky.study_file.tables import SECTIONS, StudyTable, Table

T = TypeVar("T", bound=Table)
_MEANT = {
    **dict.fromkeys(("choices", "values", "categories", "levels"), "options"),
    **dict.fromkeys(("min", "minimum", "lower", "from"), "low"),
    **dict.fromkeys(("max", "maximum", "upper", "to"), "high"),
}
"""What others call a key."""


def validated(model: type[T], given: object, key: Key, findings: Findings) -> T | None:
    """The table, without the keys that are wrong; None if nothing can be made of it. Mistakes go to the findings."""
    if not isinstance(given, Mapping):
        fields = ", ".join(f"{name} = ..." for name, field in model.model_fields.items() if field.is_required())
        findings.note(key, f"was {brief(given)}: expected a table, like {{ {fields} }}.{_misplaced(key[-1])}")
        return None
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        wrong: dict[str, str] = {}
        for details in error.errors():  # one of each key: a union is refused once for every type that it could be
            wrong.setdefault(str(details["loc"][0]), details["type"])
    for name, kind in wrong.items():
        findings.note((*key, name), _message(model, name, kind, given.get(name), key))
    try:
        return model.model_validate({name: value for name, value in given.items() if name not in wrong})
    except ValidationError:  # what is wrong was required
        return None


def _message(model: type[Table], name: str, kind: str, given: object, table: Key) -> str:
    if kind == "extra_forbidden":
        where = f" in [{dotted(table)}]" if table else ""
        meant = _MEANT.get(name, "")
        hint = f" Did you mean {meant!r}?" if meant in model.model_fields else ""
        return unknown_name(f"key{where}", name, model.model_fields) + hint + _misplaced(name)
    expected = str(model.model_fields[name].description)
    if kind == "missing":
        return f"is missing: expected {expected}."
    return f"was {brief(given)}: expected {expected}{_remedy(given, expected)}."


def _misplaced(name: object) -> str:
    """Where a key belongs that was found in another table: in TOML, all that follows a [table] is in it."""
    homes = ["at the top of the file, above the first [table]"] if name in StudyTable.model_fields else []
    homes += [f"in {section}" for section, model in SECTIONS.items() if name in model.model_fields]
    return f" {str(name)!r} belongs {' or '.join(homes)}." if homes else ""


def _remedy(given: object, expected: str) -> str:
    if isinstance(given, str) and expected.startswith("a list"):
        return f": put it in brackets, [{brief(given)}]"
    if isinstance(given, str) and (given in ("true", "false") or is_number(given)):
        return ": leave out the quotes"
    if isinstance(given, str) and "number" in expected and (hint := number_hint(given)):
        return f".{hint.removesuffix('.')}"
    return ""
