"""What the rules that look at no measurement share."""

from jaxtyping import Float, Int
from torch import Tensor

from pesky.acquire.base import Context
from pesky.numerics.rng import lanes, uniform


def preference(context: Context, row: Int[Tensor, "*#w"]) -> Float[Tensor, "*w j"]:
    """Almost all worth to one row; the rest decides, by chance, where no task measures that row."""
    rows, w = context.belief.amplitude.shape[-1], lanes(context.generator)
    weight = 1e-6 * uniform(context.generator, *w, rows, like=context.belief.points)
    return weight.scatter(-1, (row.to(weight.device) % rows).expand(w)[..., None], 1.0)
