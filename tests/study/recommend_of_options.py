"""Prints what it takes to recommend one of many options: `python recommend_of_options.py OPTIONS REALS`."""

import json
import resource
import sys
import time
from random import Random

from pesky import Choice, Problem, Real, Study


def gigabytes() -> float:
    """The most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def main(options: int, reals: int) -> None:
    random = Random(0)
    names = [f"option {i}" for i in range(options)]
    parameters = {"k": Choice(names), **{f"x{i}": Real(0, 1) for i in range(reals)}}
    study = Study(Problem(parameters, minimize="f", constraints=["g <= 0.5"]))
    for _ in range(12):
        params = {"k": random.choice(names), **{f"x{i}": random.random() for i in range(reals)}}
        study.add(params, {"f": random.random(), "g": random.random()})
    memory, seconds = gigabytes(), time.process_time()
    study.recommend()
    whole = gigabytes()
    print(json.dumps({"gigabytes": whole - memory, "whole gigabytes": whole, "seconds": time.process_time() - seconds}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
