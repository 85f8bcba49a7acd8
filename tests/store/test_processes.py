"""Several processes on one storage, from the moment at which it does not exist yet."""

import json
import signal
import subprocess
import sys
import time

from pesky.store import State, open_store
from pesky.testing.store.base import GONE, STUDY

PROCESSES, EACH = 4, 5

# opens the storage at the same moment as the others, then asks only where it knows all that was asked before
ASKER = """
import sys, time
from pesky.store import Evaluation, Limit, Question, open_store
import pesky.store.sql.store

print("ready", flush=True)
time.sleep(max(float(sys.stdin.readline()) - time.time(), 0))
store = open_store(sys.argv[1])
store.open("study", "{}", 0, "study")
ids = []
while len(ids) < int(sys.argv[2]):
    _, known = store.changes("study", 0)
    answer = store.append("study", Question("t", {}), known=len(known), limit=Limit(), worker=sys.argv[3], lease=60.0)
    if isinstance(answer, Evaluation):
        ids.append(answer.id)
        store.tell("study", answer.id, {"f": 1.0}, ["f"], None)
print(ids)
"""

VICTIM = """
import sys, time
from pesky.store import Limit, Question, open_store

store = open_store(sys.argv[1])
store.open("study", "{}", 0, "study")
store.append("study", Question("t", {"x": 1}), known=0, limit=Limit(), worker="victim", lease=0.0)
store.add("study", "t", {"x": 2}, {"f": 1.0})
print("kept", flush=True)
time.sleep(60)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_processes_create_one_storage_and_number_their_questions(url):
    askers = [start(ASKER, url, EACH, f"asker {number}") for number in range(PROCESSES)]
    for asker in askers:
        assert asker.stdout is not None
        assert asker.stdout.readline() == "ready\n"
    moment = f"{time.time() + 0.2}\n"
    for asker in askers:
        assert asker.stdin is not None
        asker.stdin.write(moment)
        asker.stdin.flush()
    said = [asker.communicate(timeout=120) for asker in askers]
    assert [error for _, error in said] == [""] * PROCESSES
    ids = [json.loads(ids) for ids, _ in said]
    assert sorted(id for mine in ids for id in mine) == list(range(PROCESSES * EACH))
    store = open_store(url)
    revision, evaluations = store.changes(STUDY, 0)
    assert [each.id for each in evaluations] == list(range(PROCESSES * EACH))
    assert revision == 2 * PROCESSES * EACH
    for number, mine in enumerate(ids):
        assert {evaluations[id].worker for id in mine} == {f"asker {number}"}
    store.close()


def test_what_was_kept_survives_the_death_of_the_process(url):
    victim = start(VICTIM, url)
    assert victim.stdout is not None
    assert victim.stdout.readline() == "kept\n"
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    store = open_store(url)
    assert [each.state for each in store.changes(STUDY, 0)[1]] == [State.LOST, State.DONE]
    assert store.claim(STUDY, ["t"], losses=None, worker="heir", lease=GONE) is not None
    store.close()
