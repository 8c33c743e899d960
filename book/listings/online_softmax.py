"""Softmax without the whole row, in PyTorch: partial results, and their merge."""

import math

import torch


def empty(d_v):
    """No key met: largest score, sum, and output before its division."""
    return -math.inf, 0.0, torch.zeros(d_v)


def exp_below(score, largest):
    """exp(score - largest), where a score of -inf counts nothing."""
    return 0.0 if score == -math.inf else math.exp(score - largest)


def merge(a, b):
    """What two partial results have met, together."""
    largest = max(a[0], b[0])
    fade_a, fade_b = exp_below(a[0], largest), exp_below(b[0], largest)
    return largest, a[1] * fade_a + b[1] * fade_b, a[2] * fade_a + b[2] * fade_b


def absorb(partial, score, value):
    """Meets one key: it is a partial result of its own."""
    return merge(partial, (score, exp_below(score, score), value))


def finish(partial):
    """The weighted average of the values met; zeros if no key was open."""
    _, total, output = partial
    return output / total if total > 0 else output


# The query of the last "the", and the keys and values of the sentence.
QUERY = torch.tensor([1.8, 0.2, 0.0])
KEYS = torch.tensor([
    [-0.8, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [-0.8, 0.6, 0.0], [-0.8, 0.0, 0.0],
])
VALUES = torch.tensor([
    [0.2, 0.0, 0.9], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.3, 0.8], [0.2, 0.0, 0.9],
])


def met(keys, values):
    """The partial result of the query over these keys, met one by one."""
    partial = empty(values.shape[1])
    for key, value in zip(keys, values):
        score = (QUERY @ key).item() / math.sqrt(len(key))
        partial = absorb(partial, score, value)
    return partial


if __name__ == "__main__":
    print(finish(met(KEYS, VALUES)))
    print(finish(merge(met(KEYS[:2], VALUES[:2]), met(KEYS[2:], VALUES[2:]))))
