//! What the compiler made of the innermost loop of the scores: counted in the
//! listing of the chapter.

use ledger::Ledger;

/// The loop, as the compiler wrote it.
const LISTING: &str = include_str!("../../../../book/listings/inner_loop.s");
/// How many numbers of single precision a register of 512 bits holds.
pub(super) const LANES: usize = 16;

/// Enters the counts.
pub fn enter(ledger: &mut Ledger) {
    ledger
        .enter("lanes.assembly.multiplications", multiplications)
        .about("the multiplications with addition in the listing, each of 16 lanes");
    ledger.enter("lanes.assembly.loads", loads).about("the loads in the listing");
    ledger
        .enter("lanes.assembly.rest", rest)
        .about("the other instructions in the listing: counting, comparing, going back");
    ledger
        .enter("lanes.assembly.operations", operations)
        .about("the floating-point operations in one turn of the loop");
}

/// The instructions: every line that is indented.
fn instructions() -> impl Iterator<Item = &'static str> {
    LISTING
        .lines()
        .filter(|line| line.starts_with([' ', '\t']))
        .filter_map(|line| line.split_whitespace().next())
}

/// The multiplications with addition.
#[must_use]
pub fn multiplications() -> usize {
    instructions().filter(|name| name.starts_with("vfmadd")).count()
}

/// The loads: a whole register, or one number into every lane.
#[must_use]
pub fn loads() -> usize {
    instructions().filter(|name| name.starts_with("vmov") || name.starts_with("vbroadcast")).count()
}

/// All other instructions.
#[must_use]
pub fn rest() -> usize {
    instructions().count() - multiplications() - loads()
}

/// Operations in one turn: a multiplication and an addition in each lane.
#[must_use]
pub fn operations() -> usize {
    multiplications() * LANES * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four rows of 64 sums, 16 in a register; four loads for 64 queries, and
    /// one for the component of each key.
    #[test]
    fn the_loop_is_what_the_kernel_asks_for() {
        assert_eq!(multiplications(), 4 * 64 / LANES);
        assert_eq!(loads(), 64 / LANES + 4);
        assert_eq!(operations(), 4 * 64 * 2);
        let whole = LISTING.lines().filter(|line| line.contains("vfmadd"));
        assert!(whole.clone().all(|line| line.matches("%zmm").count() == 3), "{LISTING}");
    }
}
