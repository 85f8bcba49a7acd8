"""A generation node for Ax: its experiments, with their outcome constraints, decided by pesky."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from pesky.acquire.base import Rule
from pesky.acquire.registry import rule_of
from pesky.answer import advice
from pesky.errors import PeskyError, ProblemError
from pesky.extras import to_install
from pesky.inference.inference import FitBotorch
from pesky.model.surrogate import GP
from pesky.problem.fields import whole
from pesky.problem.task import Failures, checked_failures
from pesky.run.budget import Exhausted
from pesky.store import Datum
from pesky.study import Recommendation, Study
from pesky.study.asked_elsewhere import begin
from pesky.study.optuna_reading import TASK

try:
    from ax.core.data import Data
    from ax.core.experiment import Experiment
    from ax.core.generator_run import GeneratorRun
    from ax.core.observation import ObservationFeatures
    from ax.exceptions.core import SearchSpaceExhausted
    from ax.generation_strategy.external_generation_node import ExternalGenerationNode
    from ax.generation_strategy.transition_criterion import TransitionCriterion
    from ax.storage.json_store.decoder import object_from_json
    from ax.storage.json_store.registry import CORE_DECODER_REGISTRY, CORE_ENCODER_REGISTRY
except ImportError as missing:
    raise PeskyError(f"Ax 1 is not installed, whose node this is: {to_install('ax')}.") from missing

from pesky.adapt.ax_reading import ExperimentReading, check_noise, read_experiment

__all__ = ["PeskyNode"]

_IN_AX = {
    advice.CONFIRM: "`client.attach_trial(dict(answer.params))`",
    advice.ENQUEUE: "`client.attach_trial(params)`",
    advice.BEST: "`client.get_best_parameterization()`",
    advice.WHAT_IF: "",
}


class PeskyNode(ExternalGenerationNode):
    """A node for `client.set_generation_strategy(GenerationStrategy(name="pesky", nodes=[PeskyNode()]))`.

    It decides every trial, the first ones as well, unless other nodes go before it. Objective, outcome constraints,
    parameters and constraints on parameters are the experiment's. Each metric is a function that is learnt by itself,
    also from trials that told it alone; trials that are running are taken into account, failed and abandoned ones are
    not asked again.

    Args:
        seed: The same seed and the same trials give the same questions.
        initial: Points of a Latin hypercube, or trials in their place, before the model decides.
        rule: How points are chosen, as in `pesky.Study`.
        model: The model of the metrics, as in `pesky.Study`.
        noise: The standard deviation of every metric's noise, or of each by its name; 0 if there is none. If not given,
            that of the standard errors that data came with, or inferred where they came without.
        failures: "learn" makes the success of a trial a constraint of its own, "random" one that holds by chance;
            "record" only avoids where it failed.
        name: What the node is called.
        transition_criteria: When Ax goes on to another node, where there are several.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        initial: int = 3,
        rule: str | Mapping[str, Any] | Rule = "pesc",
        model: GP | FitBotorch | None = None,
        noise: float | Mapping[str, float | None] | None = None,
        failures: Failures = "record",
        name: str = "pesky",
        transition_criteria: Sequence[TransitionCriterion] | None = None,
    ) -> None:
        # where there is noise a place may be worth a second trial: what to avoid is the study's to say
        super().__init__(name=name, should_deduplicate=False, transition_criteria=transition_criteria)
        checked_failures("failures", failures)
        rule_of(rule)  # what is wrong with these is said now, and not at the first trial
        check_noise(noise)
        given = {"seed": whole("seed", seed), "initial": whole("initial", initial, 1)}
        self._settings: dict[str, Any] = {**given, "rule": rule, "model": model}
        self._declared: dict[str, Any] = {"noise": noise, "failures": failures}
        self._knows: tuple[Study, ExperimentReading] | None = None
        self._asked: list[dict[str, Any]] = []
        """The arms that were asked for since, as they went to Ax."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_knows": None, "_asked": []}

    def recommend(self) -> Recommendation:
        """What all trials so far say: the best point where every constraint holds, and how sure that is.

        It need not have been a trial: `client.attach_trial(dict(answer.params))` makes it one.
        """
        study, reading = self._learn(self.experiment, self.experiment.lookup_data())
        answer = study.recommend()
        return replace(answer, params=reading.space.write(answer.params), advice=_in_ax(answer.advice))

    def update_generator_state(self, experiment: Experiment, data: Data) -> None:
        """Know the problem of the experiment, and what its trials told."""
        self._knows, self._asked = self._learn(experiment, data), []

    def get_next_candidate(self, pending_parameters: list[Any]) -> dict[str, Any]:
        """The parameters of the next trial, given those that are pending."""
        assert self._knows is not None, "Ax updates the state of a node before it asks"
        study, reading = self._knows
        there = [dict(e.params) for e in study.evaluations.values()]
        for each in pending_parameters:  # of other nodes, in this very call; all else is known from the experiment
            params = reading.space.read(each)
            if each not in self._asked and params is not None and params not in there:
                begin(study, Datum(TASK, params, {}))
                there.append(params)
        try:
            arm = reading.space.write(study.ask().params)
        except Exhausted as error:  # without noise, a space of few points has an end
            raise SearchSpaceExhausted(str(error)) from error
        self._asked.append(arm)
        return arm

    def _gen(
        self,
        experiment: Experiment,
        data: Data | None = None,
        n: int | None = None,
        pending_observations: dict[str, list[ObservationFeatures]] | None = None,
        **generator_gen_kwargs: Any,
    ) -> GeneratorRun:
        fixed = generator_gen_kwargs.get("fixed_features")
        if fixed is not None and fixed.parameters:  # which Ax would leave out without a word
            raise ProblemError(
                f"fixed_parameters were {fixed.parameters!r}: PeskyNode expects none; attach a trial, "
                "client.attach_trial({...}), or make a search space with one value for them."
            )
        return super()._gen(experiment, data, n, pending_observations, **generator_gen_kwargs)

    def _learn(self, experiment: Experiment, data: Data) -> tuple[Study, ExperimentReading]:
        reading = read_experiment(experiment, data, **self._declared)
        study = Study(reading.problem, **self._settings)
        reading.take_in(study, experiment)
        return study, reading

    @classmethod
    def deserialize_init_args(cls, args: dict[str, Any], *registries: Any, **others: Any) -> dict[str, Any]:
        """The arguments of a node that Ax stored."""
        found = super().deserialize_init_args(args)
        if criteria := found.get("transition_criteria"):
            found["transition_criteria"] = object_from_json(criteria, *registries, **others)
        return {**found, "model": GP(**found["model"])} if "model" in found else found


def _in_ax(said: str) -> str:
    """Advice with what Ax has in place of what a study has."""
    for ours, theirs in _IN_AX.items():
        said = said.replace(ours, theirs)
    return said


def _stored(node: PeskyNode) -> dict[str, Any]:
    """What Ax keeps of a node, in files and databases: its arguments."""
    settings: dict[str, Any] = {**node._settings, **node._declared}
    rule, model = settings["rule"], settings["model"]
    if not isinstance(rule, str | Mapping):
        raise PeskyError(
            f"the rule {rule!r} cannot be stored: expected one by its name, like rule={{'name': {rule.name!r}, ...}}."
        )
    if model is not None and not (isinstance(model, GP) and isinstance(model.hyperparameters, str)):
        raise PeskyError(
            f"the model {model!r} cannot be stored: expected GP(...) without hyperparameters of its own. Without "
            "storage, any model will do."
        )
    plain = {key: dict(each) if isinstance(each, Mapping) else each for key, each in settings.items()}
    plain["model"] = None if model is None else asdict(model)
    return {
        "__type": "PeskyNode",
        **plain,
        "name": node.name,
        "transition_criteria": list(node.transition_criteria) or None,
    }


CORE_ENCODER_REGISTRY[PeskyNode] = _stored
CORE_DECODER_REGISTRY["PeskyNode"] = PeskyNode
