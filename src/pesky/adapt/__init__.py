"""pesky from where you are: Optuna, Ax, MLflow; each is imported when it is used, and not before."""
