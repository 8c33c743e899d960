"""Compares the PyTorch listing with the values that the book's Rust code computed.

Run it with `python3 book/listings/test_attention.py`. It reads the numbers from
`book/values.lock`, as they are shown on the page. Where torch is not installed
it says so and succeeds: nothing was compared, and it does not claim otherwise.
"""

import sys
import tomllib
from pathlib import Path

LISTINGS = Path(__file__).resolve().parent
LOCK = LISTINGS.parent / "values.lock"
# Half a unit of the last digit shown, and room for single precision.
HALF = {0: 0.5, 1: 0.05, 2: 0.005}
ROUNDING = 1e-5


def read_table(text):
    """A matrix as the lock shows it: its rows of numbers, and the digits shown."""
    rows = []
    digits = set()
    for line in text.strip("\n").split("\n")[1:]:  # the first line names the columns
        label, *numbers = line.replace("\u2212", "-").replace("\u221e", "inf").split()
        shown = [word for word in [label, *numbers] if is_number(word)]
        # A label of two words leaves more than the numbers: they come last.
        rows.append([float(word) for word in shown])
        digits.update(len(word.partition(".")[2]) for word in shown if "inf" not in word)
    if len(digits) != 1:
        raise SystemExit(f"{LOCK}: a table shows its numbers with {sorted(digits)} digits")
    return rows, digits.pop()


def is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def compare(name, locked, tensor):
    """The faults found between a locked matrix and the listing's own."""
    rows, digits = read_table(locked[name]["shown"])
    if [len(rows), len(rows[0])] != list(tensor.shape):
        return [f"{name}: the book has {len(rows)} rows of {len(rows[0])}, "
                f"the listing {tuple(tensor.shape)}"]
    faults = []
    for i, (row, own_row) in enumerate(zip(rows, tensor.tolist())):
        for j, (book, own) in enumerate(zip(row, own_row)):
            if abs(book - own) > HALF[digits] + ROUNDING:
                faults.append(f"{name}[{i}, {j}]: the book shows {book}, the listing has {own:.6f}")
    return faults


def main():
    try:
        import torch  # noqa: F401
    except ImportError:
        print("torch is not installed: the PyTorch listing was not compared")
        return 0
    sys.path.insert(0, str(LISTINGS))
    import attention as listing

    with LOCK.open("rb") as file:
        locked = tomllib.load(file)
    pairs = {
        "qkv.x": listing.X,
        "qkv.w-q": listing.W_Q,
        "qkv.w-k": listing.W_K,
        "qkv.w-v": listing.W_V,
        "qkv.output": listing.attention(listing.X, listing.W_Q, listing.W_K, listing.W_V),
    }
    missing = [name for name in pairs if name not in locked]
    if missing:
        print(f"{LOCK} has no {', '.join(missing)}: run `cargo book bless`")
        return 1
    faults = [fault for name, tensor in pairs.items() for fault in compare(name, locked, tensor)]
    for fault in faults:
        print(fault)
    if not faults:
        print(f"the PyTorch listing agrees with the book: {len(pairs)} matrices compared, "
              f"torch {torch.__version__}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
