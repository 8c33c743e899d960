#!/usr/bin/env bash
# How long `cargo book test` and the stock `mdbook test` take on the same book
# with 60 snippets, each time after an edit of one chapter. Prints the times and
# their medians; the exit code is 1 if ours takes more than a third. Both do
# more than compile: `cargo book test` also computes every value and renders and
# checks every page, `mdbook test` also has the chapters woven.
#
#   tests/compare-snippet-speed.sh [rounds]
#
# Works on a copy of the book under target/, which is kept for the next time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly SNIPPETS=60
readonly PER_CHAPTER=12
readonly ROUNDS=${1:-5}
readonly COPY=$PWD/target/snippet-speed
readonly LIBS=$COPY/target/snippet-libs

export CARGO_TARGET_DIR=$COPY/target

# The book as it stands here, committed or not, without what an earlier run
# added to the copy.
copy_book() {
    mkdir -p "$COPY"
    find "$COPY" -mindepth 1 -maxdepth 1 ! -name target -exec rm -rf {} +
    git ls-files -z --cached --others --exclude-standard |
        while IFS= read -rd '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
        tar --create --null --files-from=- | tar --extract --directory "$COPY"
}

# Every `rust` fence of a chapter, with its output fence if it has one, into a
# file of its own: FOLDER/CHAPTER.1, FOLDER/CHAPTER.2, ...
extract_snippets() {
    local chapter=$1 folder=$2
    awk -v prefix="$folder/$(basename "$chapter" .md)." '
        !inside && /^```rust/        { file = prefix (++count); inside = 1; print > file; next }
        !inside && /^```text,output/ { inside = 1; print "\n" $0 > file; next }
        inside                       { print > file; if (/^```$/) inside = 0; next }
    ' "$chapter"
}

# Adds chapters that hold copies of the real snippets, until there are enough.
add_chapters() {
    local folder chapter number=0 missing
    folder=$(mktemp -d)
    while IFS= read -r chapter; do
        extract_snippets "$chapter" "$folder"
    done < <(find book/src -name '*.md' | sort)
    local real=("$folder"/*)
    [[ -e ${real[0]} ]] || { echo "the book has no snippets to copy" >&2; exit 2; }
    missing=$((SNIPPETS - ${#real[@]}))
    mkdir book/src/speed
    printf '\n# Speed\n\n' >>book/src/SUMMARY.md
    for ((index = 0; index < missing; index++)); do
        if ((index % PER_CHAPTER == 0)); then
            number=$((number + 1))
            chapter=book/src/speed/copies-$number.md
            printf '# Copies %d\n\nPrograms of the book.\n' "$number" >"$chapter"
            printf -- '- [Copies %d](speed/copies-%d.md)\n' "$number" "$number" >>book/src/SUMMARY.md
        fi
        { echo; cat "${real[index % ${#real[@]}]}"; } >>"$chapter"
    done
    rm -r "$folder"
    echo "${#real[@]} snippets of the book and $missing copies"
}

# One more line of prose, and one more in the first snippet below it.
edit_chapter() {
    sed --in-place "0,/^\`\`\`rust.*/s//Edit $1.\n\n&\n# \/\/ Edit $1./" book/src/speed/copies-1.md
}

# Runs a command and sets `elapsed` to the milliseconds it took; shows what it
# said if it fails.
measure() {
    local log=$COPY/target/log started
    started=$(date +%s%N)
    "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "failed: $*" >&2; exit 2; }
    elapsed=$((($(date +%s%N) - started) / 1000000))
}

median() {
    printf '%s\n' "$@" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

copy_book
cd "$COPY"
add_chapters
echo "Building, and testing once to warm up"
cargo build --quiet
rm -rf "$LIBS"
cargo build --quiet --package attention --target-dir "$LIBS"
measure cargo book test
measure mdbook test -L "$LIBS/debug/deps"

ours=() stock=()
for ((round = 1; round <= ROUNDS; round++)); do
    edit_chapter "$round a"
    measure cargo book test
    ours+=("$elapsed")
    edit_chapter "$round b"
    measure mdbook test -L "$LIBS/debug/deps"
    stock+=("$elapsed")
    echo "round $round: cargo book test ${ours[-1]} ms, mdbook test ${stock[-1]} ms"
done

readonly OURS=$(median "${ours[@]}") STOCK=$(median "${stock[@]}")
echo "medians: cargo book test $OURS ms, mdbook test $STOCK ms"
awk -v ours="$OURS" -v stock="$STOCK" 'BEGIN {
    printf "ratio: %.2f (at most 0.33 is wanted)\n", ours / stock
    exit ours * 3 > stock
}'
