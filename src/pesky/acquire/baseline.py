"""What the rules that look at no measurement share."""

from jaxtyping import Float, Int
from torch import Tensor

from pesky.acquire.rule import Scene
from pesky.chance import lanes, uniform


def preference(scene: Scene, row: Int[Tensor, "*#w"]) -> Float[Tensor, "*w j"]:
    """Almost all worth to one row; the rest decides, by chance, where no task measures that row."""
    rows, w = scene.belief.amplitude.shape[-1], lanes(scene.generator)
    weight = 1e-6 * uniform(scene.generator, *w, rows, like=scene.belief.points)
    return weight.scatter(-1, (row.to(weight.device) % rows).expand(w)[..., None], 1.0)
