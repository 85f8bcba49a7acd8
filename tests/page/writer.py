"""A process that tells a study what it measured, again and again: `writer.py URL NUMBER COUNT`."""

import sys

from pesky.store import open_store
from pesky.study.data import StudyData
from pesky.study.stored import stored_problem

url, number, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = open_store(url, create=False)
record = store.load("study")
study = StudyData(stored_problem(record), store, record)
for i in range(count):
    study.add_one({"x": (number + i / count) / 8, "y": 0.0}, {"f": float(number), "c": 1.0})
