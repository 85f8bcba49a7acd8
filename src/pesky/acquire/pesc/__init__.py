"""Predictive entropy search with constraints, in the order of the paper: options, samples of x*, conditioning, gain."""
