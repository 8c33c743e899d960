//! The worked examples of the book: one module a chapter, and in it one small
//! function for each value or family of values that the chapter quotes. All the
//! mathematics is in `attention`; nothing here knows of Markdown or HTML.

mod spell;

pub mod backward_pass_by_hand;
pub mod every_core_every_lane;
pub mod forward_pass;
pub mod learning_the_weights;
pub mod online_softmax;
pub mod queries_keys_values;
pub mod real_attention_patterns;
pub mod soft_lookup;
pub mod tiles;
pub mod why_divide_by_root_d;

use ledger::Ledger;

/// A statement of a chapter, checked; the error says in numbers why it is false.
pub type Claim = Result<(), String>;

/// The ledger with every value of the book.
///
/// ```
/// let ledger = worked::ledger();
/// assert_eq!(ledger.faults(), []);
/// assert!(ledger.get("qkv.the.attends.cat").is_some());
/// ```
#[must_use]
pub fn ledger() -> Ledger {
    let mut ledger = Ledger::new();
    soft_lookup::enter(&mut ledger);
    queries_keys_values::enter(&mut ledger);
    forward_pass::enter(&mut ledger);
    online_softmax::enter(&mut ledger);
    tiles::enter(&mut ledger);
    every_core_every_lane::enter(&mut ledger);
    why_divide_by_root_d::enter(&mut ledger);
    backward_pass_by_hand::enter(&mut ledger);
    learning_the_weights::enter(&mut ledger);
    real_attention_patterns::enter(&mut ledger);
    ledger
}

#[cfg(test)]
mod tests {
    use ledger::Value;

    #[test]
    fn every_value_can_be_computed_and_printed_alike_everywhere() {
        assert_eq!(super::ledger().faults(), []);
    }

    #[test]
    fn every_claim_holds() {
        for entry in super::ledger().entries() {
            if let Value::Claim(holds) = entry.value() {
                assert_eq!(holds, &Ok(()), "{}", entry.name());
            }
        }
    }

    #[test]
    fn every_value_says_what_it_is() {
        for entry in super::ledger().entries() {
            assert!(entry.description().is_some(), "{} has no description", entry.name());
        }
    }
}
