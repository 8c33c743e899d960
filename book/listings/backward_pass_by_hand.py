"""The backward pass of the toy head in PyTorch, which derives it by itself."""

import torch

from attention import W_K, W_Q, W_V, X, attention

TARGET = torch.tensor([2.0, 0.0, 0.0])


def gradients():
    """The loss, and its gradients: of X, W_Q, W_K and W_V."""
    inputs = [matrix.clone().requires_grad_() for matrix in (X, W_Q, W_K, W_V)]
    output = attention(*inputs)
    # How far the last row misses the target.
    loss = 0.5 * (output[-1] - TARGET).square().sum()
    loss.backward()
    return loss.detach(), [matrix.grad for matrix in inputs]


if __name__ == "__main__":
    loss, (d_x, d_w_q, d_w_k, d_w_v) = gradients()
    print(f"loss {loss:.4f}", "dW_Q", d_w_q, sep="\n")
