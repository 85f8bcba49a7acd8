"""Mistakes of a study file in what is measured and called: each with its key, its line, and what to do."""

import pytest

# what is replaced, by what, the key, a text of the line where it is, and what the message must say
MISTAKES = {
    # tasks
    "a task without outcomes": (
        'outcomes = ["error"]\n', "", "tasks.train.outcomes", "[tasks.train]", "a list of outcomes, like",
    ),
    "an unknown outcome": (
        'outcomes = ["latency_ms"]', 'outcomes = ["latency"]', "tasks.profile.outcomes", '["latency"]',
        "Did you mean 'latency_ms'?",
    ),
    "an outcome that nobody measures": (
        "constraints = [", 'constraints = ["memory <= 1", ', "tasks", "[tasks.train]",
        "no task measures the outcome 'memory'",
    ),
    "an outcome twice": ('["error"]', '["error", "error"]', "tasks.train.outcomes", '"error", "error"', "none twice"),
    "outcomes as a text": ('["error"]', '"error"', "tasks.train.outcomes", 'outcomes = "error"', "put it in brackets"),
    "a cost in words": ("cost = 60", 'cost = "cheap"', "tasks.train.cost", "cost", 'a number above 0, or "measured"'),
    "a cost of zero": ("cost = 60", "cost = 0", "tasks.train.cost", "cost", "was 0: expected a number above 0"),
    "other failures": ("cost = 60", 'failures = "ignore"', "tasks.train.failures", "failures", '"learn" or "random"'),
    "a time-out below zero": ("cost = 60", "timeout = -1", "tasks.train.timeout", "timeout", "seconds above 0"),
    "a key that no task has": ("cost = 60", "costs = 60", "tasks.train.costs", "costs", "Did you mean 'cost'?"),
    "a task that is a text": (
        '[tasks.train]\noutcomes = ["error"]\ncost = 60\nfunction = "pesky_network:train"\n\n',
        '[tasks]\ntrain = "error"\n', "tasks.train", "train = ", "expected a table, like { outcomes = ... }",
    ),
    # what to call
    "both a function and a command": (
        "cost = 60", 'command = "true"', "tasks.train.function", "function",
        "expected one of them: leave the other out",
    ),
    "nothing to call": (
        'function = "pesky_network:train"\n', "", "tasks.train", "[tasks.train]",
        'expected function = "module:function"',
    ),
    "a function at the top": (
        'minimize = "error"', 'minimize = "error"\nfunction = "pesky_network:train"', "function", "function",
        "expected a function in each of them",
    ),
    "a function without a module": (
        "pesky_network:train", "train", "tasks.train.function", "function", "a module and a function in it",
    ),
    "a function of a file": (
        "pesky_network:train", "pesky_network.py:train", "tasks.train.function", "function",
        "did you mean 'pesky_network:train'?",
    ),
    "a function after a dot": (
        "pesky_network:train", "pesky_network.train", "tasks.train.function", "function",
        "did you mean 'pesky_network:train'?",
    ),
    "no such module": (
        "pesky_network:train", "pesky_netwrk:train", "tasks.train.function", "function",
        "there is no module 'pesky_netwrk'",
    ),
    "no such function": (
        "pesky_network:train", "pesky_network:trian", "tasks.train.function", "function", "it has 'train', 'main'",
    ),
    "something that is no function": (
        "pesky_network:train", "pesky_network:seven", "tasks.train.function", "function",
        "that is 7: expected a function",
    ),
    "a function of two arguments": (
        "pesky_network:train", "pesky_network:main", "tasks.train.function", "function",
        "`pesky import-spearmint` adapts",
    ),
    "an import that raises": (
        "pesky_network:train", "pesky_broken:train", "tasks.train.function", "function",
        "ZeroDivisionError: division by zero",
    ),
    "a module that hides one of Python's": (
        "pesky_network:train", "random:train", "tasks.train.function", "function", "another module has that name",
    ),
    "no such program": (
        "./profile.sh", "./profil.sh", "tasks.profile.command", "command", "there is no program './profil.sh'",
    ),
    "a program beside the file": (
        "./profile.sh", "profile.sh", "tasks.profile.command", "command", "write './profile.sh'",
    ),
    "a program that is not executable": (
        "./profile.sh", "./plain.py", "tasks.profile.command", "command", "is not executable: `chmod +x",
    ),
    "a program without its first line": (
        "./profile.sh", "./bare.py", "tasks.profile.command", "command",
        "begin the file with the line #!/usr/bin/env python3",
    ),
    "an empty command": ('["./profile.sh"]', "[]", "tasks.profile.command", "command", "expected a program"),
    "a command with a pipe": (
        '["./profile.sh"]', '"./profile.sh | tail -1"', "tasks.profile.command", "command", "write ['sh', '-c',",
    ),
    "a command with one quote": (
        '["./profile.sh"]', '"./profile.sh \'a"', "tasks.profile.command", "command", "expected quotes in pairs",
    ),
    "a command of numbers": (
        '["./profile.sh"]', "[1]", "tasks.profile.command", "command", "a program and its arguments",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_has_its_key_its_line_and_what_to_do(kind, check):
    check(*MISTAKES[kind])
