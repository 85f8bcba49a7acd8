"""What is public, name by name, and that pages and examples use nothing else.

A name that users may import is one of these; whatever else can be imported may move or go in any version. Whoever adds
or removes one changes this list, and says so in CHANGELOG.md.
"""

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]

PUBLIC = {
    "pesky": """
        Budget Choice Constraint DataError Ending Evaluation FixedHyperparameters GP Integer Outcome PeskyError Problem
        ProblemError Progress Real Recommendation Resource StorageError Strategy Study Task
    """,
    "pesky.acquire": """
        AcquisitionFunction AugmentedLagrangian BotorchAcquisition Context DynamicGrid EntropySearchByEP
        ExpectedImprovement
        InformationGain IntegratedImprovement JointEntropySearch MaxValueEntropySearch PESC
        PredictiveEntropySearch QuasiRandom RULES Random RejectionSampling Rule TwoStageImprovement
        UnconstrainedEntropySearch VolumeReduction information_gain rule_of with_pending
    """,
    "pesky.adapt.ax": "PeskyNode",
    "pesky.adapt.mlflow": "MLflowCallback",
    "pesky.adapt.optuna": "PeskySampler",
    "pesky.errors": "DataError PeskyError ProblemChanged ProblemError StorageAway StorageError StudyGone",
    "pesky.model": "Belief GaussianProcess Hyperparameters Paths",
    "pesky.run.slurm": "JobFailed JobLost JobRaised SlurmExecutor",
    "pesky.show": """
        Findings PICTURES belief calibration darkened importance limits parallel progress report timeline why write
    """,
    "pesky.sklearn": "ConstrainedSearchCV",
    "pesky.store": """
        Attempt Cause Change Correction Datum Evaluation Limit MemoryStore ProblemRecord Question Refusal State Store
        StudyRecord open_store
    """,
    "pesky.strategy": """
        Acquire CheckModel Confirm CoverOptions Initial Query Reason SeekFeasible Situation Step Strategy
    """,
    "pesky.study": """
        Budget Ending Exhausted Explanation OutcomePrediction Outlier Prediction Progress Recommendation Study Tradeoff
    """,
    "pesky.study_file": "CallError Command CommandError Function Mistake StudyFile StudyFileError",
    "pesky.study_file.spearmint": "adapt",
    "pesky.test_functions": """
        Benchmark PROBLEMS ackley10 branin_disk branin_disk_noisy branin_yes_no cantilever car_side_impact
        concrete_beam crescent decouple g04 g07 g08 g09 g10 g12 g24 gardner1 gardner1_noisy gardner2 gardner2_costs
        gomez_levy gp_sample hartmann6 hartmann6_noisy keane_bump mishra_bird pressure_vessel pressure_vessel_plates
        problem_by_name process_synthesis simionescu speed_reducer spring spring_turns three_bar_truss townsend toy
        toy_yes_no welded_beam welded_beam_costs
    """,
    "pesky.testing": "RuleContract StoreContract StoreMachine",
}
NAMES = {module: set(names.split()) for module, names in PUBLIC.items()}

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
EXAMPLES = sorted(ROOT.glob("examples/**/*.py"))
OLD = {"CHANGELOG.md"}  # which has the names of before, too


def imported(module: str) -> Any:
    """The module; skipped where Ax is not installed, as with the lowest versions that are promised."""
    if module == "pesky.adapt.ax":
        pytest.importorskip("ax")
    return importlib.import_module(module)


@pytest.mark.parametrize("module", NAMES)
def test_the_public_names_are_those_of_the_list(module: str):
    assert sorted(imported(module).__all__) == sorted(NAMES[module])


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in NAMES for name in sorted(NAMES[module])])
def test_every_public_name_is_there_and_says_what_it_is(module: str, name: str):
    found = getattr(imported(module), name)
    if inspect.isclass(found) or inspect.isroutine(found):
        assert found.__doc__
        assert not found.__doc__.startswith(f"{found.__name__}(")  # which a dataclass without one is given


def is_public(path: str) -> bool:
    """Whether a dotted path is a public module, a public name of one, or an attribute of such a name."""
    if path in NAMES:
        return True
    module = max((each for each in NAMES if path.startswith(f"{each}.")), key=len, default="pesky")
    name, *attributes = path.removeprefix(f"{module}.").split(".")
    if name not in NAMES[module]:
        return False
    found = getattr(imported(module), name)
    return all(not each.startswith("_") and hasattr(found, each) for each in attributes[:1])


def used(source: str) -> set[str]:
    """The dotted paths of pesky that a piece of Python imports or names."""
    paths = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "pesky":
            paths |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            paths |= {alias.name for alias in node.names if alias.name.split(".")[0] == "pesky"}
        elif isinstance(node, ast.Attribute) and re.fullmatch(r"pesky(\.\w+)+", ast.unparse(node)):
            paths.add(ast.unparse(node))
    return paths


def modules_above(paths: set[str]) -> set[str]:
    """The paths without those that others begin with: `pesky.acquire` of `pesky.acquire.PESC`."""
    return {path for path in paths if not any(other.startswith(f"{path}.") for other in paths)}


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: str(file.relative_to(ROOT)))
def test_examples_use_public_names_alone(file: Path):
    assert [path for path in sorted(modules_above(used(file.read_text()))) if not is_public(path)] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in OLD], ids=lambda page: page.name)
def test_pages_use_public_names_alone(page: Path):
    text = page.read_text()
    paths = set(re.findall(r"\bpesky(?:\.[A-Za-z_]\w*)+", re.sub(r"https?://\S+", "", text)))
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        paths |= modules_above(used(block))
    assert [path for path in sorted(paths) if not is_public(path)] == []
