//! Writing JSON. A type says which members it has; `object!` makes of that how
//! it is written.

use std::fmt::Write as _;

/// What can be written as JSON.
pub(crate) trait Json {
    /// Writes it at the end of a text.
    fn write(&self, text: &mut String);

    /// Whether a member with this value is left out of its object.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A value as JSON.
pub(crate) fn written(value: &dyn Json) -> String {
    let mut text = String::new();
    value.write(&mut text);
    text
}

/// Implements [`Json`] for structs: `object!(Num { shown, exact as value, from })`
/// writes the field `value` as the member `exact`.
macro_rules! object {
    ($type:ty { $($member:ident $(as $field:ident)?),+ $(,)? }) => {
        impl $crate::json::Json for $type {
            fn write(&self, text: &mut String) {
                $crate::json::write::members(
                    text,
                    &[$((stringify!($member), &$crate::json::object!(@ self $member $($field)?))),+],
                );
            }
        }
    };
    (@ $self:ident $member:ident) => { $self.$member };
    (@ $self:ident $member:ident $field:ident) => { $self.$field };
}
pub(crate) use object;

/// Writes an object.
pub(crate) fn members(text: &mut String, members: &[(&str, &dyn Json)]) {
    text.push('{');
    let mut separator = "";
    for (name, value) in members.iter().filter(|(_, value)| !value.is_absent()) {
        text.push_str(separator);
        name.write(text);
        text.push(':');
        value.write(text);
        separator = ",";
    }
    text.push('}');
}

/// Writes a list.
pub(crate) fn elements<'a>(text: &mut String, elements: &mut dyn Iterator<Item = &'a dyn Json>) {
    text.push('[');
    let mut separator = "";
    for element in elements {
        text.push_str(separator);
        element.write(text);
        separator = ",";
    }
    text.push(']');
}

impl Json for str {
    fn write(&self, text: &mut String) {
        text.push('"');
        for letter in self.chars() {
            match letter {
                '"' | '\\' => text.extend(['\\', letter]),
                '\0'..='\u{1f}' => {
                    // Writing to a String cannot fail.
                    let _ = write!(text, "\\u{:04x}", u32::from(letter));
                }
                _ => text.push(letter),
            }
        }
        text.push('"');
    }
}

impl Json for &str {
    fn write(&self, text: &mut String) {
        (**self).write(text);
    }
}

impl Json for String {
    fn write(&self, text: &mut String) {
        self.as_str().write(text);
    }
}

impl Json for bool {
    fn write(&self, text: &mut String) {
        text.push_str(if *self { "true" } else { "false" });
    }
}

impl Json for usize {
    fn write(&self, text: &mut String) {
        let _ = write!(text, "{self}");
    }
}

impl Json for i64 {
    fn write(&self, text: &mut String) {
        let _ = write!(text, "{self}");
    }
}

/// The fewest digits that give the same float again, with an exponent where
/// there would be many zeros; infinities, which JSON lacks, as texts.
impl Json for f64 {
    fn write(&self, text: &mut String) {
        let size = self.abs();
        if !self.is_finite() {
            ledger::number(*self, 0).write(text);
        } else if size == 0.0 || (1e-5..1e15).contains(&size) {
            let _ = write!(text, "{self}");
        } else {
            let _ = write!(text, "{self:e}");
        }
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, text: &mut String) {
        elements(text, &mut self.iter().map(|element| element as &dyn Json));
    }
}

/// Nothing is not written at all.
impl<T: Json> Json for Option<T> {
    fn write(&self, text: &mut String) {
        if let Some(value) = self {
            value.write(text);
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}
