"""scikit-learn's search over hyperparameters, under limits on what a model takes: time and size."""

from pesky.errors import PeskyError

try:
    from pesky.sklearn.search import ConstrainedSearchCV
except ModuleNotFoundError as missing:
    if missing.name is None or not missing.name.startswith("sklearn"):
        raise
    raise PeskyError("scikit-learn is not installed: pip install -c constraints.txt 'pesky[sklearn]'.") from missing

__all__ = ["ConstrainedSearchCV"]
