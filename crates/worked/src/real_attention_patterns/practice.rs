//! What goes wrong when heads are looked at: maps that explain little, heads with
//! several tasks, distances never seen in training.

use learning::Random;
use learning::grammar::Text;
use learning::patterns::{Sample, abilities};
use learning::training::SIZES;
use learning::vocabulary::{STOP, WORDS};
use ledger::Ledger;
use ndarray::Array2;

use super::ablation::{ABILITIES, row};
use super::found::NAMES;
use super::{measured, reader};

/// How many words are said before they are said again, where the model has never
/// seen so many.
pub const FAR: usize = 20;

/// Enters the values of this file.
pub fn enter(ledger: &mut Ledger) {
    let names: Vec<String> = NAMES.iter().map(|name| format!("without {name}")).collect();
    ledger
        .enter("patterns.each", each_head)
        .rows(&names)
        .columns(&ABILITIES)
        .about("what the model can do without each of its heads");
    ledger.enter("patterns.far", far).about("a number of words never seen in training to repeat");
    ledger
        .enter("patterns.far.copies", far_copies)
        .about("how often it copies where so many words repeat");
}

/// What the model can do without each of its heads.
///
/// # Errors
///
/// Those of [`measured`].
pub fn each_head() -> Result<Array2<f64>, String> {
    let rows: Vec<[f64; 4]> = measured()?.without.iter().map(row).collect();
    Ok(Array2::from(rows))
}

/// [`FAR`]
#[must_use]
pub fn far() -> usize {
    FAR
}

/// How often the model copies where [`FAR`] words repeat.
///
/// # Errors
///
/// Those of [`reader`].
pub fn far_copies() -> Result<f64, String> {
    let mut random = Random::seeded(5);
    let repeats = (0..32).map(|_| Text { words: repeat(&mut random), agreements: Vec::new() });
    let sample = Sample { sentences: Vec::new(), held_out: Vec::new(), repeats: repeats.collect() };
    let abilities =
        abilities(reader()?.model(), &sample, &[]).map_err(|error| error.to_string())?;
    Ok(abilities.copying)
}

/// [`FAR`] words by chance, again and again.
fn repeat(random: &mut Random) -> Vec<usize> {
    let block: Vec<usize> = (0..FAR).map(|_| 1 + random.below(WORDS.len() - 1)).collect();
    let again = block.iter().cycle().copied();
    std::iter::once(STOP).chain(again).take(SIZES.context + 1).collect()
}
