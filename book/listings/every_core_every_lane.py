"""The fused attention of PyTorch, on the toy head: the call that is timed in the book."""

import torch
from torch.nn.functional import scaled_dot_product_attention

from attention import W_K, W_Q, W_V, X


def attend(q, k, v):
    """Causal attention: q and k are (H, T, d), v is (H, T, d_v), the result (H, T, d_v)."""
    with torch.inference_mode():
        return scaled_dot_product_attention(q, k, v, is_causal=True)


if __name__ == "__main__":
    # One head, in front of which stands an axis of heads.
    print(attend((X @ W_Q)[None], (X @ W_K)[None], (X @ W_V)[None]))
