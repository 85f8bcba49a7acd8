"""The sweeper `pesky` of Hydra, which finds it here; what it does is in `pesky.adapt.hydra`, imported to sweep."""

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional  # noqa: UP035 (Hydra reads them)

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf


@dataclass
class PeskySweeperConf:
    """What can be said below `hydra.sweeper`."""

    _target_: str = "hydra_plugins.pesky_sweeper.PeskySweeper"
    params: Dict[str, Any] = field(default_factory=dict)  # noqa: UP006
    """What to sweep over, as on the command line: {lr: "tag(log, interval(1e-5, 1e-1))"}."""
    minimize: Optional[str] = None  # noqa: UP045
    """The objective, an outcome that jobs return; or `maximize`."""
    maximize: Optional[str] = None  # noqa: UP045
    constraints: List[str] = field(default_factory=list)  # noqa: UP006
    """Limits on outcomes, or on parameters: ["latency_ms <= 2"]."""
    noise: Any = None
    """The standard deviation of outcomes, one for all or one for each; inferred if not given."""
    failures: str = "record"
    """Of jobs that raise: "record" them, "learn" where they do and keep away, or how often, if by chance: "random"."""
    evaluations: int = 20
    """Jobs in all, those of earlier sweeps of the same study included."""
    n_jobs: int = 1
    """Jobs that are launched at once."""
    storage: Optional[str] = None  # noqa: UP045
    """A file, or the URL of a database, where the study is kept; study.db in the sweep's folder if not given."""
    name: str = "${hydra.job.name}"
    """The study's."""
    rule: str = "pesc"
    seed: int = 0


class PeskySweeper(Sweeper):
    """Launches jobs where most is to be learnt of the best point that holds every limit."""

    def __init__(self, **options: Any) -> None:
        self.options = OmegaConf.to_container(OmegaConf.create(options), resolve=True)
        self.config: DictConfig | None = None
        self.hydra_context: HydraContext | None = None
        self.launcher: Launcher | None = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Take what Hydra gives, and make the launcher."""
        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: List[str]) -> Any:  # noqa: UP006
        """The recommendation, once all jobs are done."""
        from pesky.adapt.hydra import sweep

        return sweep(self, arguments)


ConfigStore.instance().store(group="hydra/sweeper", name="pesky", node=PeskySweeperConf, provider="pesky")
