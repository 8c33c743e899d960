"""The peers in Python. Reads one request a line, answers each with one line.

Inputs are the same each time. A run is timed from the call to the result,
nothing else; PyTorch on a CPU returns when it is done.
"""

import json
import sys
import time

import numpy
import torch


def random(heads, tokens, dim, generator):
    return torch.randn(1, heads, tokens, dim, generator=generator)


def prepare_sdpa(q, k, v, causal):
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda: attend(q, k, v, is_causal=causal)


def prepare_lines(q, k, v, causal):
    closed = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)

    def run():
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if causal:
            scores = scores.masked_fill(closed, float("-inf"))
        return torch.softmax(scores, dim=-1) @ v

    return run


def prepare_numpy(q, k, v, causal):
    q, k, v = (tensor[0].numpy() for tensor in (q, k, v))
    closed = numpy.triu(numpy.ones((q.shape[1], k.shape[1]), dtype=bool), 1)

    def run():
        scores = q @ k.transpose(0, 2, 1) / numpy.float32(q.shape[-1] ** 0.5)
        if causal:
            scores[:, closed] = -numpy.inf
        weights = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights @ v

    return run


def with_gradient(run, inputs):
    """Forward and backward. The loss is the sum of the output."""
    for tensor in inputs:
        tensor.requires_grad_()

    def both():
        with torch.enable_grad():
            output = run()
            return torch.autograd.grad(output, inputs, torch.ones_like(output))

    return both


PREPARE = {"sdpa": prepare_sdpa, "lines": prepare_lines, "numpy": prepare_numpy}


def timed(run):
    start = time.perf_counter()
    run()
    return {"seconds": time.perf_counter() - start}


def main():
    runs = {}
    torch.set_grad_enabled(False)
    for line in sys.stdin:
        request = json.loads(line)
        ask = request["ask"]
        if ask == "versions":
            torch.set_num_threads(request["threads"])
            answer = {"torch": torch.__version__, "numpy": numpy.__version__}
        elif ask == "prepare":
            case = request["case"]
            generator = torch.Generator().manual_seed(11)
            q, k, v = (
                random(case["heads"], tokens, case["dim"], generator)
                for tokens in (case["queries"], case["keys"], case["keys"])
            )
            if case.get("bf16"):
                q, k, v = (tensor.to(torch.bfloat16) for tensor in (q, k, v))
            run = PREPARE[request["peer"]](q, k, v, case["causal"])
            runs[request["peer"]] = with_gradient(run, (q, k, v)) if case.get("gradient") else run
            answer = {"ready": True}
        elif ask == "run":
            answer = timed(runs[request["peer"]])
        else:
            size = request["size"]
            a, b = torch.randn(size, size), torch.randn(size, size)
            answer = timed(lambda: a @ b)
        print(json.dumps(answer), flush=True)


main()
