"""How far the realisations of a rule are, kept in a file between runs."""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch

from experiments.lockstep import Progressed, Told
from pesky.model.hyper import Hyperparameters


def save(path: Path, identity: str, state: Progressed) -> None:
    """Writes all of it or, when killed in between, leaves what was there before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {field.name: getattr(state, field.name) for field in fields(state)}
    previous = None if state.previous is None else tuple(part.cpu() for part in state.previous)
    content |= {"identity": identity, "told": asdict(state.told), "previous": previous}
    draft = path.with_name(f"{path.name}.part")
    torch.save(content, draft)
    draft.replace(path)


def load(path: Path, identity: str, device: str) -> Progressed | None:
    """What was saved, if it is of the same realisations of the same rule."""
    if not path.exists():
        return None
    content = torch.load(path, map_location="cpu", weights_only=True)
    if content.pop("identity") != identity:
        return None
    previous = content.pop("previous")
    moved = None if previous is None else Hyperparameters(*(part.to(device) for part in previous))
    return Progressed(**(content | {"told": Told(**content["told"]), "previous": moved}))
