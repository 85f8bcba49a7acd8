"""Gaussian algebra, factors and expectation propagation: for what knowing x* would change, and for likelihoods.

Pure tensor functions with any leading batch dimensions. Nothing here knows of optimization: torch alone.
"""
