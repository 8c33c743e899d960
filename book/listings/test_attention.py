"""Compares the PyTorch listings with the values that the book's Rust code computed.

Run it with `python3 book/listings/test_attention.py`. It reads the numbers from
`book/values.lock`, as they are shown on the page. Where torch is not installed
it says so and succeeds: nothing was compared, and it does not claim otherwise.
"""

import re
import sys
import tomllib
from pathlib import Path

LISTINGS = Path(__file__).resolve().parent
LOCK = LISTINGS.parent / "values.lock"
# Half a unit of the last digit shown, and room for single precision.
HALF = {0: 0.5, 1: 0.05, 2: 0.005, 3: 0.0005}
ROUNDING = 1e-5


def read_table(text):
    """A matrix or vector as the lock shows it: its rows of numbers, and the digits shown."""
    lines = text.replace("\u2212", "-").strip("\n").split("\n")[1:]  # the first names the columns
    # Two spaces or more stand between columns, one in a label such as "Llama 2 7B".
    shown = [[word for word in re.split(" {2,}", line) if is_number(word)] for line in lines]
    digits = {len(word.partition(".")[2]) for row in shown for word in row}
    if len(digits) != 1:
        raise SystemExit(f"{LOCK}: a table shows its numbers with {sorted(digits)} digits")
    return [[float(word) for word in row] for row in shown], digits.pop()


def is_number(word):
    try:
        float(word)
    except ValueError:
        return False  # the row's label
    return True


def compare(name, locked, tensor):
    """How the book's matrix differs from the listing's, in words: nothing if it doesn't."""
    rows, digits = read_table(locked[name]["shown"])
    own_rows = tensor.reshape(-1, tensor.shape[-1]).tolist()
    if [len(row) for row in rows] != [len(row) for row in own_rows]:
        return [f"{name}: the book has {len(rows)} rows of {len(rows[0])} numbers, "
                f"the listing's shape is {tuple(tensor.shape)}"]
    return [
        f"{name}[{i}, {j}]: the book shows {book}, the listing has {own:.6f}"
        for i, (row, own_row) in enumerate(zip(rows, own_rows))
        for j, (book, own) in enumerate(zip(row, own_row))
        if not abs(book - own) <= HALF[digits] + ROUNDING
    ]


def maps(listing, locked):
    """The attention maps of the chapter: found head, words and numbers from the lock."""
    shown = lambda name: locked[name]["shown"]
    numbers = {word: number for number, word in enumerate(shown("patterns.vocabulary").split())}
    weights = listing.read_weights(listing.FILE)
    found = {}
    for pattern in ("previous", "induction", "subject"):
        name = f"patterns.map.{pattern}"
        words = [line.split()[0] for line in shown(name).strip("\n").split("\n")[1:]]
        layer, head = (int(part) - 1 for part in shown(f"patterns.{pattern}.head").split("."))
        attention, _ = listing.read([numbers[word] for word in words], weights)
        found[name] = attention[layer, head]
    return found


def main():
    try:
        import torch
    except ImportError:
        print("torch is not installed: the PyTorch listings were not compared")
        return 0
    sys.path.insert(0, str(LISTINGS))
    import attention
    import backward_pass_by_hand
    import every_core_every_lane
    import forward_pass
    import learning_the_weights
    import online_softmax
    import real_attention_patterns
    import soft_lookup
    import tiles
    import why_divide_by_root_d

    with LOCK.open("rb") as file:
        locked = tomllib.load(file)
    _, (d_x, d_w_q, d_w_k, d_w_v) = backward_pass_by_hand.gradients()
    pairs = {
        "lookup.keys": soft_lookup.KEYS,
        "lookup.values": soft_lookup.VALUES,
        "lookup.query": soft_lookup.QUERY,
        "lookup.answer": soft_lookup.look_up(
            soft_lookup.QUERY, soft_lookup.KEYS, soft_lookup.VALUES
        ),
        "qkv.x": attention.X,
        "qkv.w-q": attention.W_Q,
        "qkv.w-k": attention.W_K,
        "qkv.w-v": attention.W_V,
        "qkv.output": attention.attention(
            attention.X, attention.W_Q, attention.W_K, attention.W_V
        ),
        "root.jacobian": why_divide_by_root_d.slopes(why_divide_by_root_d.SCALED),
        "root.jacobian.large": why_divide_by_root_d.slopes(why_divide_by_root_d.UNSCALED),
        "back.target": backward_pass_by_hand.TARGET,
        "back.d-x": d_x,
        "back.d-w-q": d_w_q,
        "back.d-w-k": d_w_k,
        "back.d-w-v": d_w_v,
        "learn.toy.w-q": learning_the_weights.learn(100)[0],
        "cost.models.token": torch.tensor([
            forward_pass.cost_of_a_token(model, context)
            for model, context in forward_pass.MODELS.values()
        ], dtype=torch.float64),
        "tiles.output": tiles.attention_in_tiles(
            attention.X @ attention.W_Q, attention.X @ attention.W_K, attention.X @ attention.W_V
        ),
        "lanes.toy": every_core_every_lane.attend(*(
            (attention.X @ w)[None] for w in (attention.W_Q, attention.W_K, attention.W_V)
        ))[0],
        "online.finished": online_softmax.finish(
            online_softmax.met(online_softmax.KEYS, online_softmax.VALUES)
        ),
        "online.answers": torch.stack([
            online_softmax.finish(
                online_softmax.met(online_softmax.KEYS[:n], online_softmax.VALUES[:n])
            )
            for n in range(1, len(online_softmax.KEYS) + 1)
        ]),
    }
    pairs.update(maps(real_attention_patterns, locked))
    missing = [name for name in pairs if name not in locked]
    if missing:
        print(f"{LOCK} has no {', '.join(missing)}: run `cargo book bless`")
        return 1
    faults = [fault for name, tensor in pairs.items() for fault in compare(name, locked, tensor)]
    for fault in faults:
        print(fault)
    if not faults:
        print(f"the PyTorch listings agree with the book: {len(pairs)} matrices and vectors "
              f"compared, torch {torch.__version__}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
