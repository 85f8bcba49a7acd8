"""What the study file of this folder calls."""

import math


def weight(params):
    return 0.5 * params["stages"] + (1.0 if params["solvent"] == "water" else 0.25)


def produce(params):
    if params["solvent"] == "none" and params["stages"] > 5:
        raise RuntimeError("the reactor ran dry")
    place = math.log10(params["rate"]) + 2
    return {"yield": params["stages"] / 8 - place**2 / 4, "impurity": 0.1 * params["stages"] - 0.1 * place}


def inspect(params):
    return params["rate"] < 0.3
