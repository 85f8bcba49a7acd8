"""Measurements of accuracy, of optimization and of speed, each against the field's peers."""
