"""The rule that a study is asked by: kept with it as text, and used again where none is given."""

import json
import logging

from pesky.acquire.base import Rule
from pesky.acquire.registry import RULES, rule_of
from pesky.errors import ProblemError, StorageError
from pesky.store import Store, StudyRecord
from pesky.text import one_line

log = logging.getLogger("pesky")

DEFAULT = "pesc"


def rule_kept(store: Store, kept: StudyRecord, given: Rule | None) -> Rule:
    """The rule that was given, or else the one that the study was asked by; it is kept, and a change is said.

    A storage that was opened for reading stays as it is.
    """
    settings = _settings(store, kept)
    before = settings.get("rule")
    rule = _stored(kept.name, before) if given is None else given
    plain = rule.to_plain()
    if plain == before or getattr(store, "is_read_only", False):
        return rule
    if before is not None and given is not None:
        log.warning("the study %r goes on by the rule %s, before by %s", kept.name, _in_words(plain), _in_words(before))
    if before is None or given is not None:
        _keep(store, kept, {**settings, "rule": plain})
    return rule


def _settings(store: Store, kept: StudyRecord) -> dict[str, object]:
    """What is kept of how the study is asked; nothing of what no pesky wrote so."""
    try:
        found = json.loads(store.settings(kept.identity))
    except (ValueError, TypeError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    log.warning("the settings that are stored with the study %r are damaged, and are not used", kept.name)
    return {}


def _stored(name: str, before: object) -> Rule:
    """The rule that is kept; the default where there is none, or none that this pesky has."""
    if before is None:
        return rule_of(DEFAULT)
    try:
        return rule_of(before if isinstance(before, dict) and before.get("name") in RULES else None)
    except (ProblemError, TypeError, ValueError):
        log.warning(
            "the study %r was asked by the rule %s, which is not one of pesky's: questions are chosen by %r unless "
            "`rule` is given",
            name,
            _in_words(before),
            DEFAULT,
        )
        return rule_of(DEFAULT)


def _keep(store: Store, kept: StudyRecord, settings: dict[str, object]) -> None:
    try:
        store.keep_settings(kept.identity, json.dumps(settings))
    except StorageError as error:
        log.warning("the rule of the study %r is not stored: %s", kept.name, error)


def _in_words(rule: object) -> str:
    """The rule by its name, with its options if it has any."""
    if not isinstance(rule, dict):
        return one_line(repr(rule), 80)
    options = ", ".join(f"{name} = {value!r}" for name, value in rule.items() if name != "name")
    return one_line(f"{rule.get('name')!r}" + (f" ({options})" if options else ""), 300)
