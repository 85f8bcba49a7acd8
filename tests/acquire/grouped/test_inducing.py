"""Inducing points: whether a few values fix all others, and the coordinates of these values."""

import torch
from small_beliefs import make_belief

from pesky.acquire.grouped.inducing import select_inducing_points, whiten


def test_inducing_points_fix_the_values_at_all_cells():
    belief = make_belief(2, 8, 2, lengthscale=0.5)
    axis = torch.linspace(0, 1, 15)
    cells = torch.cartesian_prod(axis, axis)
    points, counts = select_inducing_points(belief, cells, 200)
    assert counts == [len(points)]
    assert len(points) < 100
    _, loadings = whiten(belief, points)(cells)
    left = belief.variance(cells) - loadings.square().sum(-2)
    assert left.max() < 1e-6
    assert left.min() > -1e-6


def test_each_next_point_is_where_most_variance_remains():
    """As a loop that conditions on the points before."""
    belief = make_belief(1, 4, 1, lengthscale=0.3)
    cells = torch.linspace(0, 1, 25)[:, None]
    points, counts = select_inducing_points(belief, cells, 6)
    assert counts == [6]
    covariance = belief.covariance(cells, cells)[0]
    for point in points:
        i = int((cells - point).abs().sum(-1).argmin())
        variance = covariance.diagonal()
        assert float(variance[i]) >= (1 - 1e-5) * float(variance.max())
        covariance = covariance - covariance[:, i, None] * covariance[None, i] / covariance[i, i]


def test_coordinates_are_standard_normal_though_points_coincide():
    belief = make_belief(2, 6, 2, lengthscale=0.4)
    points = torch.rand(12, 2, generator=torch.Generator().manual_seed(0))
    points = torch.cat([points, points[:3], points[3:6] + 1e-9])
    _, loadings = whiten(belief, points)(points)
    # values = mean + loadings^T e, so that their covariance is loadings^T loadings
    torch.testing.assert_close(loadings.mT @ loadings, belief.covariance(points, points), rtol=0, atol=1e-7)


def test_coordinates_of_points_far_apart_are_those_of_a_triangular_factor():
    """A fraction of the time of principal axes; as standard normal as theirs, and as good for values in between."""
    belief = make_belief(2, 6, 2, lengthscale=0.1)
    points = torch.cartesian_prod(*[torch.linspace(0.1, 0.9, 4)] * 2)
    coordinates = whiten(belief, points)
    assert bool((coordinates.whitening.triu(1) == 0).all())
    X = torch.rand(20, 2, generator=torch.Generator().manual_seed(0))
    _, loadings = coordinates(X)
    with_points = belief.covariance(X, points)
    explained = with_points @ torch.linalg.solve(belief.covariance(points, points), with_points.mT)
    torch.testing.assert_close(loadings.mT @ loadings, explained, rtol=0, atol=1e-9)
