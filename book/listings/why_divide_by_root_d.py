"""The slopes of softmax in PyTorch, and what the scale does to them."""

import math

import torch


def slopes(scores):
    """How each weight (row) changes with each score (column): scores (T), result (T, T)."""
    return torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), scores)


D = 64
SCALED = torch.tensor([1.0, 0.5, 0.0])
UNSCALED = SCALED * math.sqrt(D)

if __name__ == "__main__":
    print("scaled", slopes(SCALED), "unscaled", slopes(UNSCALED), sep="\n")
    for d in [1, 64, 1024]:
        scores = (torch.randn(2000, d) * torch.randn(2000, d)).sum(dim=-1)
        print(f"d = {d}: variance {scores.var():.1f}, scaled {(scores / math.sqrt(d)).var():.2f}")
