"""The toy head learns in PyTorch: a hundred steps of gradient descent."""

import torch

from attention import W_K, W_Q, W_V, X, attention
from backward_pass_by_hand import TARGET


def learn(steps, rate=0.1):
    """The weights W_Q, W_K and W_V after so many steps."""
    weights = [matrix.clone().requires_grad_() for matrix in (W_Q, W_K, W_V)]
    optimizer = torch.optim.SGD(weights, lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = 0.5 * (attention(X, *weights)[-1] - TARGET).square().sum()
        loss.backward()
        optimizer.step()
    return [matrix.detach() for matrix in weights]


if __name__ == "__main__":
    for steps in (0, 1, 10, 100):
        loss = 0.5 * (attention(X, *learn(steps))[-1] - TARGET).square().sum()
        print(f"after {steps:3} steps: loss {loss:.3f}")
