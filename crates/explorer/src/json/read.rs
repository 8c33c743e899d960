//! Reading JSON, and taking from it what is wanted: what is missing or of
//! another kind is an error that names it.

/// Why a request cannot be answered, as a sentence.
pub(crate) type Unreadable = String;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Flag(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Reads a whole text; None if it is not JSON, or nested too deeply.
    pub(crate) fn read(text: &str) -> Option<Value> {
        let mut reader = Reader { rest: text };
        let value = reader.value(0)?;
        reader.skip_space();
        reader.rest.is_empty().then_some(value)
    }

    /// A member of an object, if it has it; the last, if it has it twice.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let Value::Object(members) = self else { return None };
        members.iter().rev().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    /// A member of an object.
    pub(crate) fn member(&self, name: &str) -> Result<&Value, Unreadable> {
        self.get(name).ok_or_else(|| format!("The request has no member `{name}`."))
    }

    /// A member that is a text.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Unreadable> {
        match self.member(name)? {
            Value::Text(text) => Ok(text),
            _ => Err(other_kind(name, "a text")),
        }
    }

    /// A member that is true or false.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Unreadable> {
        match self.member(name)? {
            Value::Flag(flag) => Ok(*flag),
            _ => Err(other_kind(name, "true or false")),
        }
    }

    /// A member that is a number.
    pub(crate) fn number(&self, name: &str) -> Result<f64, Unreadable> {
        match self.member(name)? {
            Value::Number(number) => Ok(*number),
            _ => Err(other_kind(name, "a number")),
        }
    }

    /// A member that is a whole number.
    pub(crate) fn whole(&self, name: &str) -> Result<i64, Unreadable> {
        const LARGEST: f64 = 1e15;
        let number = self.number(name)?;
        if number.abs() > LARGEST || number.trunc() != number {
            return Err(other_kind(name, "a whole number"));
        }
        Ok(number as i64)
    }

    /// A member that is a row or column, counted from 0.
    pub(crate) fn index(&self, name: &str) -> Result<usize, Unreadable> {
        usize::try_from(self.whole(name)?).map_err(|_| other_kind(name, "0 or more"))
    }

    /// A member that is a list of texts.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, Unreadable> {
        self.member(name)?.all_texts().ok_or_else(|| other_kind(name, "a list of texts"))
    }

    /// A member that is a list of rows of texts.
    pub(crate) fn table(&self, name: &str) -> Result<Vec<Vec<String>>, Unreadable> {
        let Value::List(rows) = self.member(name)? else {
            return Err(other_kind(name, "a list of rows"));
        };
        let rows: Option<_> = rows.iter().map(Value::all_texts).collect();
        rows.ok_or_else(|| other_kind(name, "a list of rows of texts"))
    }

    fn all_texts(&self) -> Option<Vec<String>> {
        let Value::List(elements) = self else { return None };
        let text = |element: &Value| match element {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        elements.iter().map(text).collect()
    }
}

fn other_kind(name: &str, kind: &str) -> Unreadable {
    format!("`{name}` is not {kind}.")
}

/// No request is nested more deeply than this.
const DEEPEST: u8 = 16;

/// What is still to be read.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Takes a piece of text, if it comes next.
    fn takes(&mut self, piece: &str) -> bool {
        let rest = self.rest.strip_prefix(piece);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn letter(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = self.rest.get(letter.len_utf8()..)?;
        Some(letter)
    }

    fn value(&mut self, depth: u8) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.skip_space();
        if self.takes("{") {
            self.object(depth)
        } else if self.takes("[") {
            self.list(depth)
        } else if self.takes("\"") {
            self.text().map(Value::Text)
        } else if self.takes("true") {
            Some(Value::Flag(true))
        } else if self.takes("false") {
            Some(Value::Flag(false))
        } else if self.takes("null") {
            Some(Value::Null)
        } else {
            self.number().map(Value::Number)
        }
    }

    fn object(&mut self, depth: u8) -> Option<Value> {
        let mut members = Vec::new();
        self.skip_space();
        if self.takes("}") {
            return Some(Value::Object(members));
        }
        loop {
            self.skip_space();
            let name = if self.takes("\"") { self.text()? } else { return None };
            self.skip_space();
            if !self.takes(":") {
                return None;
            }
            members.push((name, self.value(depth + 1)?));
            self.skip_space();
            if self.takes("}") {
                return Some(Value::Object(members));
            }
            if !self.takes(",") {
                return None;
            }
        }
    }

    fn list(&mut self, depth: u8) -> Option<Value> {
        let mut elements = Vec::new();
        self.skip_space();
        if self.takes("]") {
            return Some(Value::List(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.skip_space();
            if self.takes("]") {
                return Some(Value::List(elements));
            }
            if !self.takes(",") {
                return None;
            }
        }
    }

    /// What follows the first quotation mark.
    fn text(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.letter()? {
                '"' => return Some(text),
                '\\' => text.push(self.escaped()?),
                '\0'..='\u{1f}' => return None,
                letter => text.push(letter),
            }
        }
    }

    /// What follows a backslash.
    fn escaped(&mut self) -> Option<char> {
        Some(match self.letter()? {
            letter @ ('"' | '\\' | '/') => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => self.by_number()?,
            _ => return None,
        })
    }

    /// A letter by its number; large ones come in two halves.
    fn by_number(&mut self) -> Option<char> {
        let first = self.four_digits()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        let second = if self.takes("\\u") { self.four_digits()? } else { return None };
        let low = (0xdc00..0xe000).contains(&second).then(|| second - 0xdc00)?;
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + low)
    }

    fn four_digits(&mut self) -> Option<u32> {
        let mut number = 0;
        for _ in 0..4 {
            number = number * 16 + self.letter()?.to_digit(16)?;
        }
        Some(number)
    }

    /// A number, to fifteen digits: more than any place on a plane needs, and
    /// the library's own reader of floats is a large one.
    fn number(&mut self) -> Option<f64> {
        let negative = self.takes("-");
        let mut digits = Digits::default();
        let whole = self.digits(&mut digits);
        if whole == 0 || (whole > 1 && digits.leading_zero) {
            return None;
        }
        let mut exponent = 0;
        if self.takes(".") {
            exponent = -self.digits(&mut digits);
            if exponent == 0 {
                return None;
            }
        }
        if self.takes("e") || self.takes("E") {
            exponent += self.exponent()?;
        }
        let size = digits.scaled(exponent);
        size.is_finite().then_some(if negative { -size } else { size })
    }

    /// Reads digits and returns how many there were.
    fn digits(&mut self, digits: &mut Digits) -> i32 {
        let mut count = 0;
        while let Some(digit) = self.rest.chars().next().and_then(|letter| letter.to_digit(10)) {
            self.letter();
            digits.push(digit);
            count += 1;
        }
        count
    }

    fn exponent(&mut self) -> Option<i32> {
        let negative = self.takes("-");
        if !negative {
            self.takes("+");
        }
        let mut digits = Digits::default();
        if self.digits(&mut digits) == 0 {
            return None;
        }
        let size = i32::try_from(digits.number).unwrap_or(i32::MAX).min(1000);
        Some(if negative { -size } else { size })
    }
}

/// The digits of a number, as far as they are kept.
#[derive(Default)]
struct Digits {
    number: u64,
    kept: u8,
    /// How many more there were.
    lost: i32,
    any: bool,
    leading_zero: bool,
}

impl Digits {
    fn push(&mut self, digit: u32) {
        const MOST: u8 = 15;
        self.leading_zero |= !self.any && digit == 0;
        self.any = true;
        if self.kept == MOST {
            self.lost += 1;
            return;
        }
        self.number = self.number * 10 + u64::from(digit);
        self.kept += u8::from(self.number > 0);
    }

    /// The digits times a power of ten.
    fn scaled(&self, exponent: i32) -> f64 {
        let exponent = exponent + self.lost;
        let mut size = self.number as f64;
        let mut power = 1.0;
        for _ in 0..exponent.unsigned_abs().min(400) {
            power *= 10.0;
        }
        if exponent < 0 {
            size /= power;
        } else if size > 0.0 {
            size *= power;
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::Value;
    use serde_json::Value as Theirs;

    /// What another library reads, in our words.
    fn theirs(text: &str) -> Option<Value> {
        fn ours(value: Theirs) -> Value {
            match value {
                Theirs::Null => Value::Null,
                Theirs::Bool(flag) => Value::Flag(flag),
                Theirs::Number(number) => Value::Number(number.as_f64().unwrap()),
                Theirs::String(text) => Value::Text(text),
                Theirs::Array(elements) => Value::List(elements.into_iter().map(ours).collect()),
                Theirs::Object(members) => Value::Object(
                    members.into_iter().map(|(name, value)| (name, ours(value))).collect(),
                ),
            }
        }
        serde_json::from_str(text).ok().map(ours)
    }

    #[test]
    fn json_is_read_as_another_library_reads_it() {
        for text in [
            "null",
            "true",
            "false",
            " [ ] ",
            "{ }",
            "\t[1 , 2]\r\n",
            r#"{"a":{"b":[null]}}"#,
            "0",
            "-0",
            "1",
            "10",
            "-1.5",
            "0.125",
            "1e3",
            "1E-2",
            "2.5e+1",
            "123456789012345",
            "0.000001",
            "1e22",
            "1e-22",
            r#""""#,
            r#""a\"b\\c\/d\b\f\n\r\t""#,
            r#""\u0041\u00e9\u732b""#,
            r#""\ud83d\udc08""#,
            "\"猫\"",
            "",
            " ",
            "tru",
            "nul",
            "01",
            "-",
            "-a",
            "+1",
            ".5",
            "5.",
            "1e",
            "1e+",
            "1.e1",
            "--1",
            "1e999",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1",
            "]",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{a:1}"#,
            r#"{"a" 1}"#,
            r#"{"a":1"#,
            r#"""#,
            r#""\x""#,
            r#""\u12""#,
            r#""\ud83d""#,
            r#""\ud83d\u0041""#,
            r#""\udc08""#,
            "\"\n\"",
            "1 1",
            "NaN",
            "Infinity",
            "'a'",
            "[1]x",
        ] {
            assert_eq!(Value::read(text), theirs(text), "{text}");
        }
    }

    /// A byte of a request changed, taken away or put in, over and over.
    #[test]
    fn nonsense_is_refused_where_another_library_refuses_it() {
        let request =
            r#"{"ask":"head","state":{"x":[["0.1","\u0031"],[]],"mask":true,"n":-1.5e1}}"#;
        let letters = b"{}[]\",:\\0.e-tn ";
        for place in 0..request.len() {
            for &letter in letters {
                let (before, after) = request.as_bytes().split_at(place);
                let letter = [letter];
                for bytes in [[before, &letter, &after[1..]], [before, &letter, after]] {
                    let text = String::from_utf8(bytes.concat()).unwrap();
                    let same = match (Value::read(&text), theirs(&text)) {
                        // Members in another order, or twice: compare one by one.
                        (Some(ours), Some(theirs)) => match &theirs {
                            Value::Object(members) => {
                                members.iter().all(|(name, _)| ours.get(name).is_some())
                            }
                            _ => ours == theirs,
                        },
                        (ours, theirs) => ours == theirs,
                    };
                    assert!(same, "{text}");
                }
            }
        }
    }

    #[test]
    fn numbers_are_read_to_fifteen_digits() {
        let number = |text: &str| match Value::read(text) {
            Some(Value::Number(number)) => number,
            other => panic!("{other:?}"),
        };
        for (text, expected) in [
            ("0.123456789012345678", 0.123456789012345),
            ("12345678901234567", 12345678901234500.0),
            ("0.00000000000000000000012345", 1.2345e-22),
            ("1e-400", 0.0),
            ("0e400", 0.0),
        ] {
            let apart = (number(text) - expected).abs();
            assert!(apart <= 1e-15 * expected, "{text}: {apart}");
        }
    }

    #[test]
    fn a_member_that_comes_twice_counts_the_second_time() {
        let value = Value::read(r#"{"a":"1","b":2,"a":"3"}"#).unwrap();
        assert_eq!(value.text("a"), Ok("3"));
        assert_eq!(value.text("b"), Err("`b` is not a text.".to_owned()));
        assert_eq!(value.text("c"), Err("The request has no member `c`.".to_owned()));
    }

    #[test]
    fn whole_numbers_are_whole() {
        let whole = |text: &str| Value::read(&format!(r#"{{"n":{text}}}"#)).unwrap().whole("n");
        assert_eq!(whole("-3"), Ok(-3));
        assert_eq!(whole("1e3"), Ok(1000));
        assert_eq!(whole("2.0"), Ok(2));
        for text in ["0.5", "1e16", "\"1\"", "null"] {
            assert!(whole(text).is_err(), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_before_it_uses_up_the_stack() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Value::read(&nested(16)).is_some());
        assert!(Value::read(&nested(18)).is_none());
        assert!(Value::read(&"[".repeat(1_000_000)).is_none());
    }
}
