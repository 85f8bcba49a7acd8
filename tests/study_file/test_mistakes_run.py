"""Mistakes of a study file in resources, budget, settings, storage: each with its key, its line, and what to do."""

import pytest

# what is replaced, by what, the key, a text of the line where it is, and what the message must say
MISTAKES = {
    # resources
    "a resource for an unknown task": (
        '["train", "profile"]', '["train", "profle"]', "resources.gpu.tasks", 'tasks = ["train"',
        "Did you mean 'profile'?",
    ),
    "a task that no resource runs": (
        '["train", "profile"]', '["train"]', "resources", "[resources.gpu]", "no resource runs the task 'profile'",
    ),
    "no slots": ("slots = 2", "slots = 0", "resources.gpu.slots", "slots", "a whole number, 1 or above"),
    # the budget and the run
    "a budget of zero": ("evaluations = 40", "evaluations = 0", "budget.evaluations", "evaluations", "1 or above"),
    "a budget below zero": (
        "evaluations = 40", "cost = -5", "budget.cost", "cost = -5", "was -5: expected a number above 0",
    ),
    "half an evaluation": (
        "evaluations = 40", "evaluations = 2.5", "budget.evaluations", "evaluations", "a whole number",
    ),
    "no budget": ("[budget]\nevaluations = 40\n", "", "budget", None, "evaluations = 40 below [budget]"),
    "an unknown budget": (
        "evaluations = 40", "evaluation = 40", "budget.evaluation", "evaluation", "Did you mean 'evaluations'?",
    ),
    "a probability of one": ("seed = 0", "min_probability = 1", "run.min_probability", "min_prob", "between 0 and 1"),
    "a share below zero": ("seed = 0", "deciding_share = -0.5", "run.deciding_share", "deciding", "above 0"),
    "no workers": ("seed = 0", "workers = 0", "run.workers", "workers", "1 or above"),
    "a seed with a point": ("seed = 0", "seed = 0.5", "run.seed", "seed", "a whole number"),
    "a lease of nothing": ("seed = 0", "lease = 0", "run.lease", "lease", "seconds above 0"),
    "an unknown setting": ("seed = 0", 'setting = "fast"', "run.setting", "setting", '"default", "ep" or "paper"'),
    "an unknown rule": ("seed = 0", 'rule = "ei"', "run.rule", "rule", "expected one of pesc, pesc-ep, jesc, cmes"),
    "a rule that has no such setting": (
        "seed = 0", 'rule = { name = "eic", noise = 1 }', "run.rule", "rule", "the rule 'eic': unknown option 'noise'",
    ),
    "a rule in a table without a name": (
        "seed = 0", "rule = { noise_factor = true }", "run.rule", "rule", "expected a name in it, like name = 'eic'",
    ),
    "a rule for what is measured together": (
        "seed = 0", 'rule = "eic"', "run.rule", "rule", "use a rule for outcomes that are measured separately: 'pesc'",
    ),
    "a setting of a rule that is no number": (
        "seed = 0", 'rule = { name = "jesc", samples = "many" }', "run.rule", "rule", "samples was 'many'",
    ),
    "nats of a rule that has none": (
        "[run]\nseed = 0", 'gain_per_cost = 0.1\n[run]\nrule = "sobol"', "budget.gain_per_cost", "gain_per_cost",
        "the rule 'sobol' does not count in nats",
    ),
    "no cells": ("seed = 0", 'rule = { name = "pesc", cells = 0 }', "run.rule", "rule", "cells was 0"),
    "a key of another table": ("seed = 0", "timeout = 5", "run.timeout", "timeout", "belongs in [tasks.NAME]"),
    "a resource that is a number": (
        '[resources.gpu]\ntasks = ["train", "profile"]\nslots = 2', "[resources]\ngpu = 2", "resources.gpu", "gpu = 2",
        "expected a table, like { tasks = ... }",
    ),
    # the storage and the name
    "an unknown storage": (
        "[parameters]", 'storage = "mysql://host/db"\n[parameters]', "storage", "storage",
        "expected 'sqlite:///FILE' or",
    ),
    "a storage that is a path": (
        "[parameters]", 'storage = "study.db"\n[parameters]', "storage", "storage", "write 'sqlite:///study.db'",
    ),
    "a storage with two slashes": (
        "[parameters]", 'storage = "sqlite://study.db"\n[parameters]', "storage", "storage", "three slashes",
    ),
    "a storage in a folder that lacks": (
        "[parameters]", 'storage = "sqlite:///no/study.db"\n[parameters]', "storage", "storage", "there is no folder",
    ),
    "a variable that is not set": (
        "[parameters]", 'storage = "postgresql://me:$PESKY_NOT_SET@host/db"\n[parameters]', "storage", "storage",
        "export PESKY_NOT_SET=",
    ),
    "an empty name": ("[parameters]", 'name = ""\n[parameters]', "name", "name", "the study's name in the storage"),
    "an unknown key": ("constraints =", "constraint =", "constraint", "constraint", "Did you mean 'constraints'?"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_has_its_key_its_line_and_what_to_do(kind, check):
    check(*MISTAKES[kind])
