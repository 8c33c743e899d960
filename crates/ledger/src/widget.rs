//! What a page needs to show a widget: which element it is, what stands there
//! where no script runs, and the data that it starts with. How it looks and
//! moves is not told here.

/// Something to try out on a page, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widget {
    /// The custom element that shows it, such as `attention-head`.
    pub element: String,
    /// A sentence that stands in its place without JavaScript and in print.
    pub fallback: String,
    /// What the widget starts with, in JSON.
    pub data: String,
}

impl Widget {
    /// Whether a browser takes the element's name for a custom element, and
    /// what is wrong if not.
    pub(crate) fn check(&self) -> Result<(), String> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let starts = self.element.starts_with(|c: char| c.is_ascii_lowercase());
        if starts && self.element.contains('-') && self.element.bytes().all(plain) {
            return Ok(());
        }
        Err(format!("`{}` is not the name of a custom element", self.element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_has_a_hyphen_and_starts_with_a_letter() {
        let checked = |element: &str| {
            let widget = Widget {
                element: element.to_owned(),
                fallback: String::new(),
                data: "{}".to_owned(),
            };
            widget.check()
        };
        assert_eq!(checked("attention-head"), Ok(()));
        for wrong in ["head", "Attention-Head", "-head", "a-<b>", ""] {
            assert!(checked(wrong).is_err(), "{wrong}");
        }
    }
}
