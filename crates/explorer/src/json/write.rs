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
pub(crate) fn elements(text: &mut String, elements: &mut dyn Iterator<Item = &dyn Json>) {
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

impl<T: Json, const N: usize> Json for [T; N] {
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

/// What was read, written again.
#[cfg(feature = "worked")]
impl Json for super::Value {
    fn write(&self, text: &mut String) {
        use super::Value;
        match self {
            Value::Null => text.push_str("null"),
            Value::Flag(flag) => flag.write(text),
            Value::Number(number) => number.write(text),
            Value::Text(letters) => letters.write(text),
            Value::List(values) => values.write(text),
            Value::Object(pairs) => {
                let pairs: Vec<_> =
                    pairs.iter().map(|(name, value)| (name.as_str(), value as &dyn Json)).collect();
                members(text, &pairs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pair {
        first: Option<usize>,
        second: Vec<f64>,
    }

    object!(Pair { left as first, second });

    #[test]
    fn what_is_absent_is_left_out() {
        let pair = |first| Pair { first, second: vec![1.5, f64::NEG_INFINITY] };
        assert_eq!(written(&pair(None)), r#"{"second":[1.5,"−∞"]}"#);
        assert_eq!(written(&pair(Some(3))), r#"{"left":3,"second":[1.5,"−∞"]}"#);
        assert_eq!(written(&Vec::<f64>::new()), "[]");
    }

    #[test]
    fn texts_are_read_again_by_another_library() {
        let text: String =
            (0..0x300).filter_map(char::from_u32).chain("\u{2028}🐈".chars()).collect();
        assert_eq!(serde_json::from_str::<String>(&written(&text)).unwrap(), text);
    }

    #[test]
    fn floats_are_read_again_to_the_bit() {
        let mut bits = 1_u64;
        for _ in 0..100_000 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let number = f64::from_bits(bits);
            if number.is_finite() {
                let text = written(&number);
                assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits(), "{text}");
                assert!(serde_json::from_str::<f64>(&text).is_ok() && text.len() < 26, "{text}");
            }
        }
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1e-5, "0.00001"),
            (1.5e-7, "1.5e-7"),
            (123456.0, "123456"),
            (1e15, "1e15"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        ] {
            assert_eq!(written(&number), text);
        }
    }
}
