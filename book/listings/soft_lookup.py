"""A soft lookup in PyTorch: the menu of drinks."""

import torch


def look_up(query, keys, values, temperature=1.0):
    """Query (d), keys (n, d), values (n, d_v): an average of the values (d_v)."""
    scores = keys @ query                             # how alike: (n)
    weights = (scores / temperature).softmax(dim=-1)  # shares of 1: (n)
    return weights @ values                           # the average: (d_v)


# One row a drink: sweet, bitter; then coins, minutes, spoons of sugar.
KEYS = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.0, 0.0]])
VALUES = torch.tensor([[3., 1., 2.], [4., 6., 3.], [2., 4., 0.], [1., 0., 0.]])
QUERY = torch.tensor([1.0, 0.8])

if __name__ == "__main__":
    print("  ".join(f"{number:.2f}" for number in look_up(QUERY, KEYS, VALUES)))
