"""The node for Ax, in Ax's own loop."""

import importlib
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame
from study.functions import measure
from study.quick import QUICK, quick

from pesky import GP, Choice, Integer, PeskyError, Problem, ProblemError, Real
from pesky.answer import advice
from pesky.store import State
from pesky.study import Recommendation
from pesky.test_functions import toy

pytest.importorskip("ax", reason="Ax is not installed: pip install -c constraints.txt '.[ax]'")

with warnings.catch_warnings(action="ignore"):
    from ax.adapter.registry import Generators
    from ax.api.client import Client
    from ax.api.configs import ChoiceParameterConfig, DerivedParameterConfig, RangeParameterConfig
    from ax.core.arm import Arm
    from ax.core.data import Data
    from ax.core.experiment import Experiment
    from ax.core.generator_run import GeneratorRun
    from ax.core.parameter import ParameterType, RangeParameter
    from ax.core.parameter_constraint import ParameterConstraint
    from ax.core.search_space import SearchSpace
    from ax.exceptions.core import SearchSpaceExhausted
    from ax.generation_strategy.generation_node import GenerationNode
    from ax.generation_strategy.generation_strategy import GenerationStrategy
    from ax.generation_strategy.generator_spec import GeneratorSpec
    from ax.generation_strategy.transition_criterion import MinTrials

    from pesky.adapt.ax import PeskyNode
    from pesky.adapt.ax_reading import read_experiment
    from pesky.adapt.ax_space import read_constraints, read_space

BOX = [RangeParameterConfig("x", (0, 1), "float"), RangeParameterConfig("y", (-2, 2), "float")]
SPACE = {"x": Real(0, 1), "y": Real(-2, 2)}
POINTS = [(0.1, -1.0), (0.4, 0.5), (0.8, 1.5), (0.6, -0.3)]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    for name in ("ax", "ax.api.client"):  # which has a level of its own
        logging.getLogger(name).setLevel(logging.ERROR)
    with warnings.catch_warnings(action="ignore"):
        yield


def client_of(
    node: PeskyNode, parameters: Any = BOX, objective: str = "-f", limits: Any = ("c >= 0",), constraints: Any = ()
) -> Client:
    client = Client(random_seed=0)
    client.configure_experiment(parameters, parameter_constraints=list(constraints))
    client.configure_optimization(objective, outcome_constraints=list(limits))
    client.set_generation_strategy(GenerationStrategy(name="pesky", nodes=[node]))
    return client


def node_of(**given: Any) -> PeskyNode:
    return PeskyNode(**{"rule": QUICK, "noise": 0.01, **given})


def told(client: Client, points: Any = POINTS) -> Client:
    for x, y in points:
        params = {"x": x, "y": y}
        client.complete_trial(client.attach_trial(params), raw_data=measure(params))
    return client


def reading(client: Client, noise: Any = None, failures: Any = "record") -> Any:
    experiment = client._experiment
    return read_experiment(experiment, experiment.lookup_data(), noise=noise, failures=failures)


def known(node: PeskyNode) -> Any:
    """The study of what the node knows now."""
    return node._learn(node.experiment, node.experiment.lookup_data())[0]


def asked(client: Client, n: int = 1) -> dict[int, Any]:
    return client.get_next_trials(max_trials=n)


def test_without_ax_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ax.core.data", None)
    monkeypatch.delitem(sys.modules, "pesky.adapt.ax")
    with pytest.raises(PeskyError, match='pip install "ax-platform>='):
        importlib.import_module("pesky.adapt.ax")


def test_in_20_trials_it_finds_the_optimum_of_the_toy_problem():
    benchmark, node = toy(), PeskyNode(noise=0)
    box = [RangeParameterConfig(name, (0, 1), "float") for name in ("x1", "x2")]
    client = client_of(node, box, limits=["c1 >= 0", "c2 >= 0"])
    for _ in range(19):
        for index, params in asked(client).items():
            client.complete_trial(index, raw_data=benchmark.evaluate(params))
    answer = dict(node.recommend().params)
    client.complete_trial(client.attach_trial(answer), raw_data=benchmark.evaluate(answer))
    best, *_ = client.get_best_parameterization()
    assert benchmark.utility_gap(best) < 1e-3
    assert benchmark.utility_gap(answer) < 1e-3


def test_the_page_of_adapters_shows_what_runs(capsys: pytest.CaptureFixture[str]):
    page = Path(__file__).parents[2] / "docs/adapters.md"
    (block,) = re.findall(r"```python\n(from ax.*?)```", page.read_text(), re.DOTALL)
    exec(compile(block, page.name, "exec"), {})
    assert "heat >= 0.8" in capsys.readouterr().out


def test_in_axs_loop_it_gets_to_the_optimum():
    """As above, on a small problem that decides in milliseconds."""
    node = node_of(noise=None)
    client = client_of(node)
    for _ in range(7):
        for index, params in asked(client).items():
            client.complete_trial(index, raw_data={name: (each, 0.0) for name, each in measure(params).items()})
    answer = node.recommend()
    assert answer.is_confident
    assert measure(answer.params)["f"] == pytest.approx(-0.35, abs=0.02)
    assert measure(client.get_best_parameterization()[0])["c"] >= 0


def test_it_asks_what_a_study_asks_that_knows_the_same():
    own = quick(Problem(SPACE, minimize="f", constraints=["c >= 0"], tasks={"trial": ["f", "c"]}, noise=0.01), seed=3)
    for x, y in POINTS:
        own.add({"x": x, "y": y}, measure({"x": x, "y": y}))
    (params,) = asked(told(client_of(node_of(seed=3)))).values()
    assert params == dict(own.ask().params)


def test_trials_at_once_differ_and_know_of_those_that_run():
    node = node_of(initial=1)
    client = client_of(node)
    places = [tuple(each.values()) for each in (*asked(client, 2).values(), *asked(client).values())]
    assert len(set(places)) == 3
    assert [e.state for e in known(node).evaluations.values()] == [State.PENDING] * 3


def test_other_nodes_go_before_and_after_it(tmp_path: Path):
    def until(trials: int, then: str) -> Any:
        return [MinTrials(threshold=trials, transition_to=then)]

    before = GenerationNode("sobol", [GeneratorSpec(Generators.SOBOL)], transition_criteria=until(2, "pesky"))
    node = node_of(rule={"name": "random"}, transition_criteria=until(1, "after"))
    after = GenerationNode("after", [GeneratorSpec(Generators.SOBOL)])
    client = client_of(node_of())
    client.set_generation_strategy(GenerationStrategy(name="three", nodes=[before, node, after]))
    client.save_to_json_file(str(tmp_path / "client.json"))
    for each in (client, Client.load_from_json_file(str(tmp_path / "client.json"))):
        for _ in range(4):
            for index, params in asked(each).items():
                each.complete_trial(index, raw_data=measure(params))
        runs = [trial.generator_runs[0] for trial in each._experiment.trials.values()]
        assert [run._generation_node_name for run in runs] == ["sobol", "sobol", "pesky", "after"]
    assert len(known(node).evaluations) == 4


def test_what_becomes_of_a_trial_is_known():
    node = node_of()
    client = told(client_of(node), POINTS[:1])
    failed, abandoned, running, partial, odd = (
        client.attach_trial({"x": x, "y": 0.0}) for x in (0.0, 0.2, 0.4, 0.6, 0.8)
    )
    client.mark_trial_failed(failed, "no light")
    client.mark_trial_abandoned(abandoned)
    client.attach_data(running, {"c": 2.0})
    client.attach_data(running, {"f": 9.0}, progression=3)  # of a curve that goes on: nobody knows where it ends
    client.complete_trial(partial, {"f": 1.0})
    client.complete_trial(odd, {"f": float("nan"), "c": 1.0})
    by_state: dict[State, list[Any]] = {state: [] for state in State}
    for e in known(node).evaluations.values():
        by_state[e.state].append(e)
    assert [dict(e.outcomes) for e in by_state[State.DONE]] == [measure({"x": 0.1, "y": -1.0})]
    assert [dict(e.outcomes) for e in by_state[State.PENDING]] == [{}, {"c": 2.0}, {"f": 1.0}]
    assert [(e.error, dict(e.outcomes)) for e in by_state[State.FAILED]] == [
        ("no light", {}),
        ("f was nan", {"c": 1.0}),
    ]
    (params,) = asked(client).values()
    assert params not in [dict(e.params) for each in by_state.values() for e in each]


def test_evaluations_are_in_the_order_of_their_trials_whose_names_they_have():
    node = node_of()
    client = client_of(node)
    client.mark_trial_failed(client.attach_trial({"x": 0.0, "y": 0.0}), "no light")
    client.mark_trial_abandoned(client.attach_trial({"x": 0.2, "y": 0.0}))
    client.attach_data(client.attach_trial({"x": 0.3, "y": 0.0}), {"c": 2.0})
    told(client, POINTS[:1])
    arms = [Arm({"x": x, "y": 1.0}, name=name) for name, x in (("low", 0.7), ("high", 0.9))]
    client._experiment.new_batch_trial(generator_runs=[GeneratorRun(arms)]).mark_running(no_runner_required=True)
    row = {"metric_name": "c", "metric_signature": "c", "mean": 1.0, "sem": 0.0, "trial_index": 4}
    client._experiment.attach_data(Data(df=DataFrame([{**row, "arm_name": arm.name} for arm in arms])))
    names = [e.trial for e in known(node).evaluations.values()]
    assert names == ["trial 0", None, "trial 2", "trial 3", "trial 4, arm low", "trial 4, arm high"]


def test_a_recommendation_names_trials_and_says_what_to_do_in_ax(monkeypatch: pytest.MonkeyPatch):
    said = f"{advice.CONFIRM}, {advice.ENQUEUE}, {advice.BEST}.{advice.WHAT_IF}"
    monkeypatch.setattr(advice, "alone", lambda *_: said)
    node = node_of(noise=0)
    client = client_of(node)
    client.mark_trial_failed(client.attach_trial({"x": 0.2, "y": 0.0}))
    told(client)
    answer = node.recommend()
    assert answer.trials == {1: "trial 1"}
    assert "measured here (#1, trial 1)" in str(answer)
    theirs = "`client.attach_trial(dict(answer.params))`, `client.attach_trial(params)`, "
    assert answer.advice.startswith(f"{theirs}`client.get_best_parameterization()`. The model expects")
    assert advice.CONFIRM in advice.unmeasured(Recommendation({}, "f", 0.0, 1.0, (0.0, 1.0), {}, is_confident=True))


def test_a_finished_curve_tells_its_last_step():
    node = node_of()
    client = client_of(node)
    trial = client.attach_trial({"x": 0.5, "y": 0.0})
    for step, value in enumerate([3.0, 2.0, 1.0]):
        client.attach_data(trial, {"f": value, "c": 1.0}, progression=step)
    (only,) = known(node).evaluations.values()
    assert not only.outcomes
    client.complete_trial(trial)
    (only,) = known(node).evaluations.values()
    assert dict(only.outcomes) == {"f": 1.0, "c": 1.0}


def test_the_same_place_measured_twice_is_two_measurements_and_arms_of_a_batch_are_their_own():
    node = node_of()
    client = told(client_of(node), [POINTS[0], POINTS[0]])
    assert [dict(e.params) for e in known(node).evaluations.values()] == [{"x": 0.1, "y": -1.0}] * 2
    batch = client._generation_strategy.gen(client._experiment, n=3)[0][0]
    client._experiment.new_batch_trial(generator_runs=[batch]).mark_running(no_runner_required=True)
    assert len(known(node).evaluations) == 5
    assert len({arm.signature for arm in batch.arms}) == 3


def test_failures_are_learnt_if_wanted():
    node = node_of(failures="learn")
    client = told(client_of(node))
    (trial,) = asked(client)
    client.mark_trial_failed(trial)
    assert known(node).problem.informs("trial") == ("f", "c", "trial succeeds")
    with pytest.raises(ProblemError, match="failures was 'lern'"):
        PeskyNode(failures="lern")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("noise", "message"), [(-1, "'metric' was -1: expected a standard deviation"), ({"a b": 0.1, "0": -1}, "was -1")]
)
def test_noise_that_is_none_is_refused_at_once(noise: Any, message: str):
    with pytest.raises(ProblemError, match=message):
        PeskyNode(noise=noise)
    PeskyNode(noise={"a b": 0.1, "0": None})


def test_every_kind_of_parameter_is_read_and_asked():
    parameters = [
        RangeParameterConfig("a", (1e-3, 1), "float", scaling="log"),
        RangeParameterConfig("b", (0, 5), "float"),
        RangeParameterConfig("n", (1, 9), "int"),
        RangeParameterConfig("step", (0.0, 1.0), "float", 0.25),
        ChoiceParameterConfig("kind", ["u", "v", "w"], "str", is_ordered=False),
        ChoiceParameterConfig("size", [1, 10, 100], "int", is_ordered=True),
        ChoiceParameterConfig("flag", [True, False], "bool", is_ordered=False),
        ChoiceParameterConfig("one", [7], "int"),
        DerivedParameterConfig("twice", "2 * b + 1", "float"),
    ]
    client = client_of(node_of(initial=1), parameters, "g", ["c >= -1"], ["b + n <= 6", "8 * step - n <= 0"])
    assert reading(client).problem.parameters == {
        "a": Real(1e-3, 1, log=True),
        "b": Real(0, 5),
        "n": Integer(1, 9),
        "step": Integer(0, 4),
        "kind": Choice(["u", "v", "w"]),
        "size": Integer(0, 2),
        "flag": Integer(0, 1),
    }
    for index, params in asked(client, 2).items():
        assert client._experiment.search_space.check_membership(params, raise_error=True)
        assert params["twice"] == 2 * params["b"] + 1
        client.complete_trial(index, raw_data={"g": params["b"], "c": 0.0})
    answer = client._generation_strategy._curr.recommend()  # pyright: ignore[reportAttributeAccessIssue]
    assert client._experiment.search_space.check_membership(dict(answer.params), raise_error=True)


@pytest.mark.parametrize(("objective", "sense"), [("-f", "minimize"), ("f", "maximize"), ("-2 * f", "minimize")])
def test_objective_and_limits_of_both_directions_are_read(objective: str, sense: str):
    limits = ["c >= -1", "c <= 5", "-2 * d >= -3", "e <= 0.25"]
    problem = reading(client_of(node_of(), BOX, objective, limits)).problem
    assert getattr(problem, sense) == "f"
    assert [str(each) for each in problem.constraints] == ["c >= -1", "c <= 5", "d <= 1.5", "e <= 0.25"]


def test_noise_is_what_data_come_with_unless_given():
    client = client_of(node_of())
    for x, error in ((0.1, 0.3), (0.2, 0.4)):
        client.complete_trial(client.attach_trial({"x": x, "y": 0.0}), raw_data={"f": (1.0, error), "c": 1.0})
    assert reading(client).problem.noise == {"f": pytest.approx((0.125) ** 0.5), "c": None}
    assert reading(client, noise={"f": 0.1}).problem.noise == {"f": 0.1, "c": None}


@pytest.mark.parametrize(
    ("objective", "limits", "message"),
    [
        ("-f, -g", (), "expects one metric"),
        ("2 * f + g", (), "expects one metric"),
        ("-f", ["c <= 0.9 * baseline"], "relative to a baseline"),
        ("-f", ["c + d <= 3"], "on several metrics"),
    ],
)
def test_what_it_cannot_ask_is_refused(objective: str, limits: list[str], message: str):
    client = client_of(node_of(), BOX, objective, ())
    client.attach_baseline({"x": 0.5, "y": 0.0})
    client.configure_optimization(objective, outcome_constraints=limits)
    with pytest.raises(ProblemError, match=message):
        asked(client)


def test_what_it_has_no_parameter_for_is_refused():
    def space(**given: Any) -> SearchSpace:
        return SearchSpace([RangeParameter("x", ParameterType.FLOAT, 0.1, 0.9, **given)])

    for given, message in [({"logit_scale": True}, "a logit"), ({"is_fidelity": True, "target_value": 0.9}, "fidel")]:
        with pytest.raises(ProblemError, match=message):
            read_space(space(**given))
    dependent = ChoiceParameterConfig("k", ["a", "b"], "str", is_ordered=False, dependent_parameters={"a": ["x"]})
    with pytest.raises(ProblemError, match="hierarchical"):
        asked(client_of(node_of(), [*BOX[:1], dependent]))
    with pytest.raises(ProblemError, match="an equation"):
        read_constraints([ParameterConstraint(equality="x == 1")], read_space(space()))
    steps = ChoiceParameterConfig("s", [1, 2, 4, 7], "int", is_ordered=True)
    with pytest.raises(ProblemError, match="even steps"):
        asked(client_of(node_of(), [*BOX, steps], constraints=["x + s <= 3"]))
    with pytest.raises(ProblemError, match=r"fixed_parameters were \{'x': 0.5\}"):
        client_of(node_of()).get_next_trials(max_trials=1, fixed_parameters={"x": 0.5})
    with pytest.raises(ProblemError, match="no optimization_config"):
        PeskyNode().update_generator_state(Experiment(space()), Experiment(space()).lookup_data())


def test_options_that_cannot_be_are_refused_at_once():
    with pytest.raises(ProblemError, match="unknown rule"):
        PeskyNode(rule="pecs")
    with pytest.raises(ProblemError, match="initial was 0"):
        PeskyNode(initial=0)


def test_without_noise_a_space_of_few_points_has_an_end():
    client = client_of(node_of(noise=0), [RangeParameterConfig("x", (0, 1), "int")], limits=())
    for index, params in asked(client, 2).items():
        client.complete_trial(index, {"f": params["x"]})
    with pytest.raises(SearchSpaceExhausted):
        asked(client)


def test_a_stored_client_goes_on_as_before(tmp_path: Path):
    node = PeskyNode(seed=5, initial=1, rule={"name": "random"}, model=GP(warp=False), noise={"f": 0.1})
    client = told(client_of(node))
    client.save_to_json_file(str(tmp_path / "client.json"))
    again = Client.load_from_json_file(str(tmp_path / "client.json"))
    loaded: Any = again._generation_strategy._curr
    assert (loaded._settings, loaded._declared) == (node._settings, node._declared)
    assert list(asked(again).values()) == list(asked(client).values())
    assert deepcopy(client._generation_strategy).clone_reset().name == "pesky"


@pytest.mark.parametrize(
    ("given", "message"), [({"rule": QUICK}, "the rule"), ({"rule": "eic", "model": lambda *_: None}, "the model")]
)
def test_what_cannot_be_stored_is_said(given: Any, message: str, tmp_path: Path):
    with pytest.raises(PeskyError, match=f"{message} .* cannot be stored"):
        client_of(PeskyNode(**given)).save_to_json_file(str(tmp_path / "client.json"))
