"""The far end of `Background`: a program that draws pictures and asks questions, as lines of JSON tell it to."""

import getpass
import json
import os
import queue
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from inspect import signature
from typing import Any

from pesky.errors import PeskyError, ProblemChanged, StudyGone
from pesky.markup import WHOLE
from pesky.page.options import options_in
from pesky.page.plain import bounded
from pesky.page.reading import state_of
from pesky.page.source import Source
from pesky.store import Limit
from pesky.study import Study
from pesky.text import guard_terminal

POLITE = 10
"""Less important than what is measured on the same machine."""
STUDIES = 4
"""Studies that are kept in memory with their beliefs."""


class Work:
    """What can be asked for; what is found out about a study is kept until it has changed."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._kept: dict[tuple[str, bool], tuple[str, Study]] = {}
        self._findings: dict[str, Any] = {}

    def draw(self, study: str, name: str, renew: bool) -> dict[str, object]:
        """The picture of this name and options, or the answer, with the state that it is of.

        `renew` looks at the study anew.
        """
        from pesky.show import Findings

        if renew or study not in self._findings:
            opened = self._study(study, read_only=True)
            self._findings.pop(study, None)
            self._findings[study] = Findings(opened)
            while len(self._findings) > STUDIES:
                del self._findings[next(iter(self._findings))]
        findings = self._findings[study]
        state = state_of(findings.study.store.record(study), findings.evaluations.values())
        kind, _, options = name.partition(" ")
        content = _answer(findings) if kind == "answer" else _picture(findings, kind, options)
        return {"state": state, "count": len(findings.ended), "content": json.dumps(content)}

    def ask(self, study: str, task: str | None, confirm: bool) -> dict[str, object]:
        """The next question, within the budget of the study file if there is one."""
        file = self._source.file
        opened = self._study(study, read_only=False)
        how: dict[str, Any] = {"worker": f"{getpass.getuser()}@{socket.gethostname()}", "confirm": confirm}
        if file is not None and file.name == opened.name:
            how["limit"] = Limit(file.budget.evaluations, file.budget.cost)
            how["gain_per_cost"] = file.budget.gain_per_cost
        try:
            asked = opened.ask(task, n=None, **how)
        except ProblemChanged:
            self._kept.clear()
            raise
        return {"id": asked.id, "task": asked.task}

    def _study(self, study: str, *, read_only: bool) -> Study:
        """The study of this identity, opened once for as long as its problem stays the same."""
        key = (study, read_only)
        known = self._kept.pop(key, None)
        store = self._source.open(read_only=read_only) if known is None else known[1].store
        record = store.record(study)
        if known is None or known[0] != record.problem or known[1].name != record.name:
            settings: dict[str, Any] = {}
            if (file := self._source.file) is not None and file.name == record.name:
                from pesky.study_file.settings import settings_in

                settings = settings_in(file)
            opened = Study(self._source.problem(record), storage=store, name=record.name, **settings)
            if opened.identity != study:
                raise StudyGone(f"the study {record.name!r} was started anew: open its page again.")
            known = (record.problem, opened)
        self._kept[key] = known
        while len(self._kept) > STUDIES:
            del self._kept[next(iter(self._kept))]
        return known[1]


def _answer(findings: Any) -> dict[str, object]:
    if findings.missing:
        return {"missing": findings.missing}
    return {"facts": bounded(findings.answer_in_words(), WHOLE), "is_confident": findings.answer.is_confident}


def _picture(findings: Any, name: str, options: str) -> dict[str, object]:
    from pesky.show import PICTURES
    from pesky.show.report import plain
    from pesky.show.theme import DARK, LIGHT, template
    from pesky.show.write import CONFIG

    given = options_in(options, findings.problem, signature(PICTURES[name]).parameters)
    return {
        **plain(PICTURES[name](findings, **given)),
        "light": template(LIGHT),
        "dark": template(DARK),
        "config": CONFIG,
    }


def answered(work: Callable[[], Work], request: dict[str, Any]) -> dict[str, object]:
    """What is answered to a request: what came out, or why nothing did."""
    try:
        arguments = {key: value for key, value in request.items() if key != "what"}
        return {"answer": getattr(work(), {"draw": "draw", "ask": "ask"}[request["what"]])(**arguments)}
    except PeskyError as error:
        return {"error": str(error)}
    except Exception as error:  # it is said where it would have been seen, and the next one may do
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Answer one request after the other until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    guard_terminal()
    os.dup2(2, 1)  # what users' functions print is no answer
    requests: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in sys.stdin:
            requests.put(line)
        os._exit(0)  # who asked is gone: nobody waits for what is being done

    if not (given := sys.stdin.readline()).endswith("\n"):
        return  # the page ended before anybody asked
    first = json.loads(given)
    threading.Thread(target=listen, daemon=True).start()
    os.nice(POLITE)
    sys.path[:] = first["path"]
    made: list[Work] = []

    def work() -> Work:
        if not made:
            made.append(Work(Source.of(first["given"])))
        return made[0]

    while True:
        answers.write(json.dumps(answered(work, json.loads(requests.get()))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
