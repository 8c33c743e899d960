"""Attention in tiles, in PyTorch: one causal head, without its matrix of scores."""

import math

import torch

from attention import W_K, W_Q, W_V, X


def attention_in_tiles(q, k, v, block=2, tile=2):
    """Causal attention: q and k are (T, d), v is (T, d_v), the result (T, d_v)."""
    tokens, d = q.shape
    output = torch.zeros(tokens, v.shape[1])
    for start in range(0, tokens, block):
        queries = torch.arange(start, min(start + block, tokens))
        # Nothing met: one partial result for each query of the block.
        largest = torch.full((len(queries), 1), -math.inf)
        total = torch.zeros(len(queries), 1)
        mixed = torch.zeros(len(queries), v.shape[1])
        for first in range(0, tokens, tile):
            if first > queries[-1]:
                break  # above the diagonal: never computed
            keys = torch.arange(first, min(first + tile, tokens))
            # Steps 2 to 4 of the recipe, for this tile alone.
            scores = q[queries] @ k[keys].T / math.sqrt(d)
            scores = scores.masked_fill(keys > queries[:, None], -math.inf)
            # Fade what was there, and add what this tile brings.
            new = torch.maximum(largest, scores.max(dim=1, keepdim=True).values)
            fade, exponentials = (largest - new).exp(), (scores - new).exp()
            total = total * fade + exponentials.sum(dim=1, keepdim=True)
            mixed = mixed * fade + exponentials @ v[keys]
            largest = new
        output[queries] = mixed / total
    return output


if __name__ == "__main__":
    print(attention_in_tiles(X @ W_Q, X @ W_K, X @ W_V))
