"""What knowing the constrained minimizer x* would change: Gaussian algebra, factors, expectation propagation.

Pure tensor functions with any leading batch dimensions. Nothing here knows of optimization: torch alone.
"""
