"""One attention head in PyTorch: the six steps of the chapter, and its toy head."""

import math

import torch


def attention(x, w_q, w_k, w_v):
    """Causal self-attention: x is (T, d_model), the result (T, d_v)."""
    # 1. Project: two of shape (T, d), one of (T, d_v).
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    # 2. Score: (T, T).
    scores = q @ k.T
    # 3. Scale: divide by the root of d.
    scores = scores / math.sqrt(q.shape[-1])
    # 4. Mask: close the keys above the diagonal, which come later.
    later = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)
    scores = scores.masked_fill(later, -math.inf)
    # 5. Softmax: each row adds up to 1.
    weights = scores.softmax(dim=-1)
    # 6. Mix: (T, d_v).
    return weights @ v


TOKENS = ["The", "cat", "sat", "on", "the"]

# One row a token: thing, action, small word, first token.
X = torch.tensor([
    [0.1, 0.0, 0.9, 1.0],
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.3, 0.8, 0.0],
    [0.1, 0.0, 0.9, 0.0],
])
# One row a meaning.
W_Q = torch.tensor([[0., 2., 0.], [1., 0., 1.], [2., 0., 0.], [0., 0., 1.]])
W_K = torch.tensor([[1., 0., 0.], [0., 2., 0.], [-1., 0., 0.], [0., 0., 1.]])
W_V = torch.tensor([[2., 0., 0.], [0., 1., 0.], [0., 0., 1.], [0., 0., 0.]])

if __name__ == "__main__":
    for token, row in zip(TOKENS, attention(X, W_Q, W_K, W_V)):
        print(f"{token:4}", "  ".join(f"{number:5.2f}" for number in row))
