"""Lengthscales of options that were hardly tried: those of the others of their choice (METHOD 10).

Each option has a lengthscale of its own, of which only values with that option tell. With that of its prior hardly
anything that is known of the others would hold for it: what is best with one acid says where to try another.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from pesky.model.evidence import profile_likelihood
from pesky.model.hyper import Hyperparameters, datum_noise
from pesky.model.kernel import Kernel
from pesky.observations import Observations

FEW = 3
"""Values from which on an option's own lengthscale is believed, and told from."""
CONTRADICTED = 1.0
"""Nats by which the values of a row must speak against the lengthscales of the others."""
MOST = 400
"""Values of a row that are asked."""


def as_others(kernel: Kernel, o: Observations, h: Hyperparameters, choices: Sequence[slice]) -> Hyperparameters:
    """The same, where no values speak against it with the mean lengthscale of the options that were tried enough.

    Of these there must be two: a single one tells nothing of how different options are.
    """
    tried, is_number = ((o.X > 0.5) & o.mask[..., None]).sum(-2), o.likelihoods.is_gaussian[:, None].to(o.X.device)
    log_l = h.lengthscale.log()
    for columns in choices:
        is_told = tried[:, columns] >= FEW
        mean = torch.where(is_told, log_l[..., columns], 0.0).sum(-1, keepdim=True)
        mean = mean / is_told.sum(-1, keepdim=True).clamp(min=1)
        # of the latent function of a yes or no values are not looked at
        is_open = ~is_told & (is_told.sum(-1, keepdim=True) > 1) & (is_number | (tried[:, columns] == 0))
        log_l[..., columns] = torch.where(is_open, mean, log_l[..., columns])
    others = h._replace(lengthscale=log_l.exp())
    if torch.equal(others.lengthscale, h.lengthscale):
        return h
    likelihood = _log_likelihood(kernel, o, others)
    is_taken = ~is_number | (likelihood >= _log_likelihood(kernel, o, h) - CONTRADICTED)[..., None]
    return h._replace(lengthscale=torch.where(is_taken, others.lengthscale, h.lengthscale))


def _log_likelihood(kernel: Kernel, o: Observations, h: Hyperparameters) -> Float[Tensor, "*b j"]:
    some = o.thinned(MOST)
    noise = datum_noise(h.noise, h.amplitude, some.relative_noise)
    return profile_likelihood(kernel, some.X, some.y, some.mask, h, noise).log_likelihood
