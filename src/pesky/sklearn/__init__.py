"""scikit-learn's search over hyperparameters, under limits on what a model takes: time and size."""

from pesky.errors import PeskyError
from pesky.extras import to_install

try:
    from pesky.sklearn.search import ConstrainedSearchCV
except ModuleNotFoundError as missing:
    if missing.name is None or not missing.name.startswith("sklearn"):
        raise
    raise PeskyError(f"scikit-learn is not installed: {to_install('sklearn')}.") from missing

__all__ = ["ConstrainedSearchCV"]
