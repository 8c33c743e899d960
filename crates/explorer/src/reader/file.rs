//! A file of weights, taken apart by what the engine has already: its reader of
//! JSON. The crate for this format would be a third of what a page downloads; the
//! tests hold the two against each other.

use super::index;
use crate::json::Value;
use learning::reader::Reader;
use learning::weights::{NOTE, Tensor, Unreadable, from_tensors};

/// The model of a file: eight bytes with the length of a header, the header in
/// JSON, and behind it the numbers.
pub(super) fn open(bytes: &[u8]) -> Result<Reader, Unreadable> {
    let file = File::read(bytes)
        .map_err(|reason| Unreadable::Broken { reason: reason.to_owned(), bytes: bytes.len() })?;
    let (model, made) = from_tensors(file.note(), |name| file.tensor(name))?;
    Ok(Reader::new(model, made))
}

struct File<'a> {
    header: Value,
    numbers: &'a [u8],
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8]) -> Result<File<'a>, &'static str> {
        let (length, rest) = bytes.split_first_chunk().ok_or("it is too short")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let parts = length.and_then(|length| rest.split_at_checked(length));
        let (header, numbers) = parts.ok_or("its header is cut off")?;
        let header = std::str::from_utf8(header).ok().and_then(Value::read);
        let file = File { header: header.ok_or("its header is not JSON")?, numbers };
        match file.end() {
            Some(end) if end == numbers.len() => Ok(file),
            _ => Err("its header speaks of other numbers than there are"),
        }
    }

    /// Where the last of the numbers ends that the header speaks of.
    fn end(&self) -> Option<usize> {
        let Value::Object(members) = &self.header else { return None };
        let matrices = members.iter().filter(|(name, _)| name != "__metadata__");
        matrices
            .map(|(_, matrix)| Some(offsets(matrix)?[1]))
            .try_fold(0, |end, next| Some(next?.max(end)))
    }

    fn note(&self) -> &str {
        let entry = self.header.get("__metadata__").and_then(|entries| entries.text(NOTE).ok());
        entry.unwrap_or("")
    }

    fn tensor(&self, name: &str) -> Option<Tensor<'a>> {
        let matrix = self.header.get(name)?;
        let [start, end] = offsets(matrix)?;
        Some(Tensor {
            dtype: matrix.text("dtype").ok()?.to_owned(),
            shape: counts(matrix.get("shape")?)?,
            data: self.numbers.get(start..end)?,
        })
    }
}

/// Where the numbers of a matrix begin and end.
fn offsets(matrix: &Value) -> Option<[usize; 2]> {
    counts(matrix.get("data_offsets")?)?.try_into().ok()
}

/// A list of whole numbers.
fn counts(list: &Value) -> Option<Vec<usize>> {
    let Value::List(numbers) = list else { return None };
    let count = |number: &Value| match number {
        Value::Number(number) => index(*number),
        _ => None,
    };
    numbers.iter().map(count).collect()
}
