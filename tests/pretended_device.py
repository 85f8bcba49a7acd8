"""An accelerator that is not there: tensors that pretend to be on one, and every place where they meet others.

What is computed is computed by the processor. Tensors whose device is `THERE` are marked, and so is whatever is made of
them; an operation that a real accelerator would refuse is noted, with the line of the package that asked for it.
"""

import traceback
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

THERE = torch.device("cpu", 7)
"""What the device of a marked tensor is said to be."""
HERE = torch.device("cpu")
MIXED = {Tensor.to, Tensor.copy_, Tensor.type_as}
"""Operations that take tensors of two devices, to move them."""
INDEXED = {Tensor.__getitem__, Tensor.__setitem__}
"""What is there can be indexed by what is here, not the other way round."""
LEAVING = {Tensor.tolist, Tensor.item, Tensor.cpu}
FROM_PROCESSOR = {Tensor.numpy, Tensor.__array__}


def tensors_in(given: Any) -> Iterable[Tensor]:
    """All tensors in nested sequences and mappings."""
    if isinstance(given, Tensor):
        yield given
    elif isinstance(given, Mapping):
        for each in given.values():
            yield from tensors_in(each)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        for each in given:
            yield from tensors_in(each)


def is_there(tensor: Tensor) -> bool:
    return getattr(tensor, "pretends", False)


class PretendedDevice(TorchFunctionMode):
    """Notes in `mixed` what a real accelerator would refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.mixed: set[str] = set()
        self.is_used = False

    def __torch_function__(self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if getattr(function, "__self__", None) is Tensor.device and args and is_there(args[0]):
            return THERE
        if function is torch.device:
            return function(*args, **kwargs)
        given = list(tensors_in((args, kwargs)))
        wanted = self._device(function, args, kwargs)
        if function is Tensor.to:
            found = function(args[0], *(HERE if each == THERE else each for each in args[1:]), **_here(kwargs))
            goes = wanted == THERE if wanted is not None else is_there(args[0])
            if found is args[0] and goes != is_there(found):
                found = found.clone() if not found.requires_grad else found * 1
        else:
            self._check(function, given)
            found = function(*(HERE if each is THERE else each for each in args), **_here(kwargs))
            goes = wanted == THERE if wanted is not None else any(map(is_there, given))
            goes = goes and function not in LEAVING
        if function in LEAVING and isinstance(found, Tensor):
            found = found.clone()
        for each in tensors_in(found):
            if goes:
                each.pretends = self.is_used = True  # pyright: ignore[reportAttributeAccessIssue]
        return found

    def _device(self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> torch.device | None:
        """Where the result is asked to be; None where it is with what it is made of."""
        asked = kwargs.get("device")
        if asked is None and function is Tensor.to:
            for each in (*args[1:], *kwargs.values()):
                if isinstance(each, Tensor):
                    return THERE if is_there(each) else HERE
                asked = each if isinstance(each, (str, torch.device)) else asked
        return None if asked is None else torch.device(asked)

    def _check(self, function: Any, given: Sequence[Tensor]) -> None:
        there, here = [t for t in given if is_there(t)], [t for t in given if not is_there(t) and t.dim() > 0]
        is_moved = function in MIXED or (function in INDEXED and is_there(given[0]))
        if there and ((here and not is_moved) or function in FROM_PROCESSOR):
            frame = [each for each in traceback.extract_stack() if "/src/pesky/" in each.filename][-1:]
            where = [f"{each.filename.split('/src/')[-1]}:{each.lineno}: {each.line}" for each in frame]
            self.mixed.add(f"{getattr(function, '__name__', function)} at {' '.join(where) or 'the test'}")


def _here(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: HERE if each == THERE else each for name, each in kwargs.items()} if kwargs else {}
