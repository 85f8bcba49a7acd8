"""The strategy that a study is asked by: stored with it as text, and used again where none is given."""

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress

from pesky.errors import ProblemError, StorageError
from pesky.store import Store, StudyRecord
from pesky.strategy import Strategy
from pesky.strategy.steps import STEPS
from pesky.text import one_line

log = logging.getLogger("pesky")


def strategy_kept(
    store: Store, kept: StudyRecord, given: Strategy | None, change: Callable[[Strategy], Strategy]
) -> Strategy:
    """The strategy that was given, or else the one that is stored, changed as wanted; it is stored, and a change said.

    A storage that was opened for reading stays as it is.
    """
    settings = _settings(store, kept)
    before = _before(settings)
    base, mistake = _stored(before) if given is None else (given, None)
    strategy = change(base)
    plain = strategy.to_plain()
    if plain == before or getattr(store, "is_read_only", False):
        return strategy
    is_wanted = given is not None or strategy != base
    if before is not None and is_wanted:
        now, then = _apart(plain, before)
        log.warning("the study %r goes on by %s, before by %s", kept.name, now, then)
    elif mistake is not None:
        log.warning(
            "the study %r was asked by a strategy that is not at hand (%s): queries are chosen by %s unless `strategy` "
            "or `rule` is given again",
            kept.name,
            one_line(str(mistake), 200),
            "the default" if base == Strategy.default() else "its other steps",
        )
    if before is None or is_wanted:
        _keep(store, kept, {"strategy": plain})
    return strategy


def _settings(store: Store, kept: StudyRecord) -> dict[str, object]:
    """What is stored of how the study is asked; nothing of what no pesky wrote so."""
    try:
        found = json.loads(store.settings(kept.identity))
    except (ValueError, TypeError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    log.warning("the settings that are stored with the study %r are damaged, and are not used", kept.name)
    return {}


def _before(settings: Mapping[str, object]) -> object:
    """The strategy as it is stored, in whatever form."""
    if "rule" in settings and "strategy" not in settings:  # as it was stored before there were strategies
        return {"rule": _renamed(settings["rule"])}
    kept = settings.get("strategy")
    if isinstance(kept, dict) and isinstance(steps := kept.get("steps"), list):
        of_today = [{**each, "rule": _renamed(each["rule"])} if _has_rule(each) else each for each in steps]
        return {**kept, "steps": of_today}
    return kept


def _has_rule(step: object) -> bool:
    return isinstance(step, dict) and "rule" in step


def _renamed(rule: object) -> object:
    """The rule by its name of today: PESC by expectation propagation was "pesc" with other options."""
    names = {"default": {"name": "pesc"}, "ep": {"name": "pesc-ep"}, "paper": {"name": "pesc-ep", "options": "paper"}}
    options = rule.get("options") if isinstance(rule, dict) and rule.get("name") == "pesc" else None
    return names[options] if isinstance(options, str) and options in names else rule


def _stored(before: object) -> tuple[Strategy, Exception | None]:
    """The strategy that is stored, without steps that are not at hand; the default where none is left of it.

    With the reason, if it is not the stored one.
    """
    try:
        if isinstance(before, dict) and "rule" in before:
            return Strategy.default(before["rule"]), None
        return Strategy.default() if before is None else Strategy.of(before), None
    except (ProblemError, TypeError, ValueError, RecursionError) as error:
        with suppress(ProblemError, TypeError, ValueError, RecursionError):
            steps = before.get("steps", ()) if isinstance(before, dict) else ()
            return Strategy.of([each for each in steps if isinstance(each, dict) and each.get("step") in STEPS]), error
        return Strategy.default(), error


def _apart(now: Mapping[str, object], before: object) -> tuple[str, str]:
    """The steps of either strategy that the other does not have, on a line each."""
    each = [given.get("steps") if isinstance(given, Mapping) else None for given in (now, before)]
    steps = [[_in_words(step) for step in own] if isinstance(own, list) else [str(before)] for own in each]
    apart = [[step for step in own if step not in other] for own, other in (steps, steps[::-1])]
    return one_line(", ".join(apart[0]) or "no such step", 500), one_line(", ".join(apart[1]) or "no such step", 500)


def _in_words(step: object) -> str:
    """A step by its name, with its figures."""
    if not isinstance(step, Mapping):
        return repr(step)
    figures = (f"{name}={value!r}" for name, value in step.items() if name != "step" and value is not None)
    return f"{step.get('step')}({', '.join(figures)})"


def _keep(store: Store, kept: StudyRecord, settings: dict[str, object]) -> None:
    try:
        store.keep_settings(kept.identity, json.dumps(settings))
    except (StorageError, TypeError) as error:
        log.warning("the strategy of the study %r is not stored: %s", kept.name, error)
