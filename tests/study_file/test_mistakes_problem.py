"""Mistakes of a study file in what is asked: each with its key, its line, and what to do."""

import pytest

# what is replaced, by what, the key, a text of the line where it is, and what the message must say
MISTAKES = {
    # the objective
    "no objective": ('minimize = "error"\n', "", "minimize", None, "the outcome to minimize, or maximize"),
    "two objectives": (
        'minimize = "error"', 'minimize = "error"\nmaximize = "latency_ms"', "maximize", "maximize", "leave one out",
    ),
    "objective of another type": (
        'minimize = "error"', "minimize = 3", "minimize", "minimize", "was 3: expected the name",
    ),
    "objective that is no name": ('"error"\nc', '"a < b"\nc', "minimize", "minimize", "a name without <, >"),
    "objective that no task measures": (
        'minimize = "error"', 'minimize = "latency_ms"', "tasks.train.outcomes", 'outcomes = ["error"]',
        "unknown outcome 'error'",
    ),
    # constraints
    "constraints as a text": (
        '["latency_ms <= 2"]', '"latency_ms <= 2"', "constraints", "constraints", "put it in brackets",
    ),
    "a strict constraint": (
        "latency_ms <= 2", "latency_ms < 2", "constraints[0]", "constraints", "Write 'latency_ms <= 2'.",
    ),
    "a turned constraint": (
        "latency_ms <= 2", "2 >= latency_ms", "constraints[0]", "constraints", "Write 'latency_ms <= 2'.",
    ),
    "both sides": (
        "latency_ms <= 2", "0 <= latency_ms <= 2", "constraints[0]", "constraints",
        "two constraints: 'latency_ms >= 0' and 'latency_ms <= 2'",
    ),
    "a decimal comma": (
        "latency_ms <= 2", "latency_ms <= 1,5", "constraints[0]", "constraints", "Decimals have a point: write 1.5.",
    ),
    "a decimal comma on the left": (
        "latency_ms <= 2", "1,5 >= latency_ms", "constraints[0]", "constraints", "Decimals have a point: write 1.5.",
    ),
    "a bound with a decimal comma": (
        "low = 1e-5", 'low = "0,5"', "parameters.rate.low", "rate =", "a number. Decimals have a point: write 0.5.",
    ),
    "an equation": (
        "latency_ms <= 2", "latency_ms = 2", "constraints[0]", "constraints", "two constraints with some room",
    ),
    "a yes or no with =": (
        "latency_ms <= 2", "latency_ms == true", "constraints[0]", "constraints", "Write 'latency_ms is true'.",
    ),
    "a sign of another keyboard": (
        "latency_ms <= 2", "latency_ms ≤ 2", "constraints[0]", "constraints", "Write 'latency_ms <= 2'.",
    ),
    "an outcome beside another": (
        "latency_ms <= 2", "latency_ms <= error", "constraints[0]", "constraints", "an outcome of its own",
    ),
    "only an outcome": ("latency_ms <= 2", "latency_ms", "constraints[0]", "constraints", "write 'latency_ms is true'"),
    "the same twice": (
        '["latency_ms <= 2"]', '["latency_ms <= 2",\n"latency_ms <= 2.0"]', "constraints[1]", '"latency_ms <= 2.0"',
        "given twice: leave one out",
    ),
    "a contradiction": (
        '["latency_ms <= 2"]', '["latency_ms <= 2",\n"latency_ms >= 3"]', "constraints[1]", '"latency_ms >= 3"',
        "contradict each other",
    ),
    "a constraint that is a number": (
        '"latency_ms <= 2"', "2", "constraints[0]", "constraints", "expected a text, like",
    ),
    "a confidence above one": (
        '"latency_ms <= 2"', '{ outcome = "latency_ms", sense = "<=", threshold = 2, confidence = 95 }',
        "constraints[0].confidence", "constraints", "was 95: expected a number between 0 and 1",
    ),
    "a constraint without a threshold": (
        '"latency_ms <= 2"', '{ outcome = "latency_ms", sense = "<=" }', "constraints[0].threshold", "constraints",
        "is missing: expected a number",
    ),
    "another sense": (
        '"latency_ms <= 2"', '{ outcome = "latency_ms", sense = "<", threshold = 2 }', "constraints[0].sense",
        "constraints", "was '<': expected \">=\", \"<=\"",
    ),
    "a yes or no with a number": (
        '"latency_ms <= 2"', '{ outcome = "latency_ms", sense = "is", threshold = 2 }', "constraints[0]",
        "constraints", "expected True or False",
    ),
    "arithmetic of outcomes": (
        "latency_ms <= 2", "latency_ms + units <= 2", "constraints[0]", "constraints", "known=",
    ),
    "arithmetic with a choice": (
        '"latency_ms <= 2"', '"latency_ms <= 2",\n"units + activation <= 2"', "constraints[1]", '"units + activation',
        "'activation' is a choice",
    ),
    "a constraint that holds nowhere": (
        '"latency_ms <= 2"', '"latency_ms <= 2",\n"units >= 1000"', "constraints[1]", '"units >= 1000"',
        "no point of the space satisfies 'units >= 1000': units is from 10 to 500",
    ),
    # parameters
    "parameters under another name": (
        "[parameters]", "[params]", "params", "[params]", "unknown key 'params': expected one of",
    ),
    "a parameter without a type": (
        'type = "real", low = 1', "low = 1", "parameters.rate.type", "rate =", 'type = "real"',
    ),
    "a type of another language": ('"real"', '"float"', "parameters.rate.type", "rate =", 'write type = "real"'),
    "a type that is misspelled": (
        '"integer"', '"integr"', "parameters.units.type", "units =", "Did you mean 'integer'?",
    ),
    "a parameter that is a list": (
        '{ type = "real", low = 1e-5, high = 1e-1, log = true }', "[0, 1]", "parameters.rate", "rate =",
        "expected a table",
    ),
    "a bound in quotes": ("high = 500", 'high = "500"', "parameters.units.high", "units =", "leave out the quotes"),
    "a whole number with a point": ("low = 10", "low = 10.5", "parameters.units.low", "units =", 'or type = "real"'),
    "bounds the wrong way round": (
        "high = 500", "high = 5", "parameters.units", "units =",
        "a whole number from 10 to 5: expected low < high: swap them",
    ),
    "a log scale from zero": ("low = 1e-5", "low = 0", "parameters.rate", "rate =", "a log scale needs low > 0"),
    "a bound that is missing": (
        ", high = 500", "", "parameters.units.high", "units =", "is missing: expected a whole number",
    ),
    "an infinite bound": ("low = 1e-5", "low = -inf", "parameters.rate.low", "rate =", "was -inf: expected a number"),
    "a log that is no yes or no": ("log = true", "log = 10", "parameters.rate.log", "rate =", "expected true or false"),
    "a key that no parameter has": (
        "log = true", "lgo = true", "parameters.rate.lgo", "rate =", "unknown key in [parameters.rate] 'lgo'",
    ),
    "one option": ('["relu", "tanh"]', '["relu"]', "parameters.activation", "activation =", "at least two options"),
    "options twice": ('"tanh"]', '"relu"]', "parameters.activation", "activation =", "options that all differ"),
    "options as a text": (
        '["relu", "tanh"]', '"relu"', "parameters.activation.options", "activation =", "put it in brackets, ['relu']",
    ),
    "a parameter of a constraint": (
        '"latency_ms <= 2"]', '"latency_ms <= 2", "rate * more >= 5"]\n[parameters.more]\nlow = 1',
        "parameters.more.type", "[parameters.more]", "is missing",
    ),
    "options by another name": (
        'options = ["relu", "tanh"]', 'options = ["relu", "tanh"], choices = ["a"]', "parameters.activation.choices",
        "activation =", "Did you mean 'options'?",
    ),
    "a step that does not end": (
        "high = 500 }", "high = 500, step = 9 }", "parameters.units", "units =", "no step ends at high",
    ),
    "a number with a unit": (
        "latency_ms <= 2", "size <= 400kB", "constraints[0]", "constraints",
        "write 400 and use kB throughout, or 400000",
    ),
    "a parameter called as an outcome": ("units =", "error =", "parameters.error", "error =", "rename one"),
    "a top key below a table": (
        "[tasks.train]", 'noise = 0.0\n[tasks.train]', "parameters.noise", "noise", "above the first [table]",
    ),
    # noise
    "noise below zero": (
        "[parameters]", "noise = -1\n[parameters]", "noise", "noise", "standard deviation, 0 or above",
    ),
    "noise in words": (
        "[parameters]", 'noise = "none"\n[parameters]', "noise", "noise", "was 'none': expected a standard",
    ),
    "noise of an unknown outcome": (
        "[parameters]", "[noise]\nerrr = 0.1\n[parameters]", "noise.errr", "errr", "Did you mean 'error'?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_has_its_key_its_line_and_what_to_do(kind, check):
    check(*MISTAKES[kind])
