"""The small transformer in PyTorch: its file of weights, and the way through it."""

import json
import struct
from pathlib import Path

import torch

FILE = Path(__file__).resolve().parents[1] / "src" / "widgets" / "patterns.safetensors"
HEADS = 4


def read_weights(path):
    """A safetensors file: the length of its header, the header in JSON, the numbers."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__")
    weights = {}
    for name, about in header.items():
        start, end = (8 + length + offset for offset in about["data_offsets"])
        numbers = torch.frombuffer(bytearray(data[start:end]), dtype=torch.float32)
        weights[name] = numbers.reshape(about["shape"])
    return weights


def normalise(x, gain):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * gain


def read(tokens, weights, off=()):
    """What each head attends to, (layers, H, T, T), and the chances of each next word, (T, words)."""
    x = weights["embedding"][tokens] + weights["positions"][: len(tokens)]
    future = torch.ones(len(tokens), len(tokens), dtype=torch.bool).triu(1)
    maps = []
    for layer in range(2):
        w = {name: weights[f"layers.{layer}.{name}"] for name in ("norm", "w_q", "w_k", "w_v", "w_o")}
        n = normalise(x, w["norm"])
        # (T, H·d) → (H, T, d): each head has columns of its own.
        q, k, v = ((n @ w[name]).unflatten(-1, (HEADS, -1)).transpose(0, 1) for name in ("w_q", "w_k", "w_v"))
        scores = (q @ k.transpose(1, 2)) / q.shape[-1] ** 0.5
        attention = scores.masked_fill(future, -torch.inf).softmax(-1)
        output = attention @ v
        for off_layer, head in off:
            if off_layer == layer:
                output[head] = 0
        # What the heads found is added to what was there: the residual stream.
        x = x + output.transpose(0, 1).flatten(1) @ w["w_o"]
        maps.append(attention)
    scores = normalise(x, weights["norm"]) @ weights["unembedding"]
    return torch.stack(maps), scores.softmax(-1)
