//! Reading requests and writing answers. What is missing or of another kind is
//! an error that names it.

use serde_json::{Map, Value};

/// Why a request cannot be answered, as a sentence.
pub(crate) type Unreadable = String;

/// A member of an object.
pub(crate) fn member<'a>(object: &'a Value, name: &str) -> Result<&'a Value, Unreadable> {
    object.get(name).ok_or_else(|| format!("The request has no member `{name}`."))
}

/// A member that is a text.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> Result<&'a str, Unreadable> {
    member(object, name)?.as_str().ok_or_else(|| format!("`{name}` is not a text."))
}

/// A member that is true or false.
pub(crate) fn flag(object: &Value, name: &str) -> Result<bool, Unreadable> {
    member(object, name)?.as_bool().ok_or_else(|| format!("`{name}` is neither true nor false."))
}

/// A member that is a whole number.
pub(crate) fn whole(object: &Value, name: &str) -> Result<i64, Unreadable> {
    member(object, name)?.as_i64().ok_or_else(|| format!("`{name}` is not a whole number."))
}

/// A member that is a row or column, counted from 0.
pub(crate) fn index(object: &Value, name: &str) -> Result<usize, Unreadable> {
    usize::try_from(whole(object, name)?).map_err(|_| format!("`{name}` is below 0."))
}

/// A member that is a number.
pub(crate) fn float(object: &Value, name: &str) -> Result<f64, Unreadable> {
    member(object, name)?.as_f64().ok_or_else(|| format!("`{name}` is not a number."))
}

/// A member that is a list of texts.
pub(crate) fn texts(object: &Value, name: &str) -> Result<Vec<String>, Unreadable> {
    let list = member(object, name)?;
    all_texts(list).ok_or_else(|| format!("`{name}` is not a list of texts."))
}

/// A member that is a list of rows of texts.
pub(crate) fn table(object: &Value, name: &str) -> Result<Vec<Vec<String>>, Unreadable> {
    let rows = member(object, name)?.as_array();
    rows.and_then(|rows| rows.iter().map(all_texts).collect())
        .ok_or_else(|| format!("`{name}` is not a list of rows of texts."))
}

fn all_texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

/// An object with these members.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// Adds a member to an object.
pub(crate) fn with(value: Value, name: &str, member: impl Into<Value>) -> Value {
    let mut members = match value {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    members.insert(name.to_owned(), member.into());
    Value::Object(members)
}

/// A list, each element made of one of these.
pub(crate) fn list<T>(
    elements: impl IntoIterator<Item = T>,
    write: impl FnMut(T) -> Value,
) -> Value {
    Value::Array(elements.into_iter().map(write).collect())
}

/// A number with all of its digits; infinities, which JSON lacks, as texts.
pub(crate) fn exact(number: f64) -> Value {
    if number.is_finite() { number.into() } else { ledger::number(number, 0).into() }
}
