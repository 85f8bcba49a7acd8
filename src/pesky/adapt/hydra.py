"""A sweeper for Hydra: jobs are launched where most is to be learnt, and return the outcomes that they measured."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pesky.errors import DataError, PeskyError
from pesky.extras import to_install
from pesky.problem import Choice, Integer, Option, Parameter, Problem, Real, Task
from pesky.run.budget import Exhausted
from pesky.run.first_failures import FirstFailures
from pesky.run.leases import Leases
from pesky.store import Evaluation, Limit
from pesky.store.sql.url import hidden, url_of
from pesky.store.transitions import counts
from pesky.study import Recommendation, Study

try:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import IntervalSweep, Override, RangeSweep
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
except ImportError as missing:
    raise PeskyError(f"Hydra is not installed, whose sweeper this is: {to_install('hydra')}.") from missing

if TYPE_CHECKING:
    from hydra_plugins.pesky_sweeper import PeskySweeper

log = logging.getLogger(__name__)
LEASE = 60.0
"""Seconds after which the jobs of a sweep that was killed are free to be launched by another."""


@dataclass(frozen=True)
class Swept:
    """One parameter of a sweep: what it is called in overrides, and what it may be."""

    key: str
    parameter: Parameter
    texts: tuple[str, ...] = ()
    """The options of a choice as they are written in overrides."""

    def override(self, value: Option) -> str:
        """What tells a job this value."""
        if not isinstance(self.parameter, Choice):
            return f"{self.key}={value!r}"
        return f"{self.key}={dict(zip(self.parameter.options, self.texts, strict=True))[value]}"


def sweep(sweeper: "PeskySweeper", arguments: Sequence[str]) -> Recommendation:
    """The recommendation of a study whose evaluations are Hydra's jobs; errors are Hydra's, who prints them as such."""
    try:
        return _Sweep(sweeper, arguments).run()
    except PeskyError as error:
        raise HydraException(f"pesky: {error}") from error


class _Sweep:
    def __init__(self, sweeper: "PeskySweeper", arguments: Sequence[str]) -> None:
        given: Any = sweeper.options
        assert sweeper.config is not None
        assert sweeper.hydra_context is not None
        self.sweeper, self.n_jobs, self.limit = sweeper, given["n_jobs"], Limit(given["evaluations"])
        self.folder = Path(sweeper.config.hydra.sweep.dir)
        self.folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(sweeper.config, self.folder / "multirun.yaml")
        lines = [f"{key}={value}" for key, value in given["params"].items()]
        parser = OverridesParser.create(config_loader=sweeper.hydra_context.config_loader)
        last = {each.get_key_element(): each for each in parser.parse_overrides([*lines, *arguments])}
        self.fixed = [str(each.input_line) for each in last.values() if not each.is_sweep_override()]
        swept = [each for each in last.values() if each.is_sweep_override()]
        self.swept = {str(each.key_or_group): _swept(each, parser) for each in swept}
        storage = given["storage"] or str(self.folder / "study.db")
        url = storage if "://" in storage else url_of(Path(storage).resolve())
        problem = _problem({name: each.parameter for name, each in self.swept.items()}, given)
        self.study = Study(problem, storage=url, name=given["name"], rule=given["rule"], seed=given["seed"])
        log.info(
            "study %r in %s, %d of %d jobs",
            given["name"],
            hidden(url),
            len(self.study.evaluations),
            self.limit.evaluations,
        )
        self.jobs = 0

    def run(self) -> Recommendation:
        held: dict[int, int] = {}
        leases, failures = Leases(self.study, LEASE, held.copy), FirstFailures(self.study.problem)
        leases.begin()
        try:
            leases.free_orphans()
            while asked := self._asked(leases.worker):
                held.update({e.id: e.attempts for e in asked})
                for e, job in zip(asked, self._launched(asked), strict=True):
                    failures.note(self._told(e, job))
                held.clear()
                if failures.why_stop(self.study.evaluations.values()):
                    raise HydraException("the first jobs all failed in the same way, so no more are launched.")
        finally:
            leases.end(5.0)
        return self._answered()

    def _asked(self, worker: str) -> list[Evaluation]:
        """The next jobs; the last of all measures what would be recommended, if nobody has."""
        assert self.limit.evaluations is not None
        left = self.limit.evaluations - sum(map(counts, self.study.evaluations.values()))
        count, is_last = min(self.n_jobs, max(left - 1, 1)), left <= 1
        try:
            return self.study.ask(count, worker=worker, lease=LEASE, limit=self.limit, confirm=is_last)
        except Exhausted:
            return []

    def _launched(self, asked: Sequence[Evaluation]) -> Sequence[Any]:
        batch = [[*self.fixed, *(self.swept[name].override(each) for name, each in e.params.items())] for e in asked]
        self.sweeper.validate_batch_is_legal(batch)
        assert self.sweeper.launcher is not None
        jobs = self.sweeper.launcher.launch(batch, initial_job_idx=self.jobs)
        self.jobs += len(jobs)
        return jobs

    def _told(self, e: Evaluation, job: Any) -> Evaluation:
        """The evaluation with what the job returned, or with why it failed; what it left out is not waited for."""
        try:
            told = self.study.tell(e, self._outcomes(job.return_value))
        except Exception as error:  # whatever a job raises is a result
            log.warning("job of #%d failed: %s: %s", e.id, type(error).__name__, error)
            return self.study.fail(e, f"{type(error).__name__}: {error}")
        if told.is_open:
            self.study.abandon(e)
        return told

    def _outcomes(self, returned: object) -> Mapping[str, Any]:
        if isinstance(returned, Mapping):
            return returned
        names = [name for name in self.study.problem.outcomes if name not in self.study.problem.known]
        if names == [self.study.problem.objective] and isinstance(returned, int | float):
            return {names[0]: returned}
        expected = ", ".join(f"{name!r}: ..." for name in names)
        raise DataError(f"the job returned {returned!r}: expected its outcomes, like {{{expected}}}.")

    def _answered(self) -> Recommendation:
        """The recommendation, also in the sweep's folder for programs."""
        answer = self.study.recommend()
        log.info("%s", answer)
        said = {"name": "pesky", "best_params": dict(answer.params), "best_value": answer.expected, **answer.to_dict()}
        OmegaConf.save(OmegaConf.create(said), self.folder / "optimization_results.yaml")
        return answer


def _problem(parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> Problem:
    stated = {name: given[name] for name in ("minimize", "maximize", "constraints", "noise")}
    problem = Problem(parameters, **stated)
    tasks = {name: Task(each.outcomes, failures=given["failures"]) for name, each in problem.tasks.items()}
    return Problem(parameters, **stated, tasks=tasks)


def _swept(override: Override, parser: OverridesParser) -> Swept:
    """The parameter that an override sweeps over: an interval, whole numbers one by one, or options."""
    key, value = override.get_key_element(), override.value()
    if isinstance(value, IntervalSweep):
        low, high, log_scale = value.start, value.end, "log" in value.tags
        is_whole = isinstance(low, int) and isinstance(high, int)
        return Swept(key, (Integer if is_whole else Real)(low, high, log=log_scale))  # pyright: ignore[reportArgumentType]
    if isinstance(value, RangeSweep):
        start, stop = value.start, value.stop
        if value.step != 1 or not isinstance(start, int) or not isinstance(stop, int):
            raise DataError(f"{override.input_line}: expected a range of whole numbers one by one, or an interval.")
        return Swept(key, Integer(start, stop - 1, log="log" in value.tags))
    if getattr(value, "shuffle", False):
        value.shuffle = False  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess]
    texts = tuple(override.sweep_string_iterator())
    options = [parser.parse_override(f"{key}={text}").value() for text in texts]
    plain = [each if isinstance(each, str | int | float) else text for each, text in zip(options, texts, strict=True)]
    return Swept(key, Choice(plain), texts)  # null and lists are known as they are written
