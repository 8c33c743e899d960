//! The weaver's directives in a chapter's text: `{{value qkv.the.attends.cat}}`
//! and its kin. TeX has double braces of its own, so a directive is matched
//! strictly: one of the known words, a space, an argument without braces.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::chapter::Chapter;
use crate::problem::{Problem, Problems, closest};

/// What a directive asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number or text in a line of prose or in a formula.
    Value,
    /// The mark behind a sentence that code holds true.
    Claim,
    /// A value as TeX, for a formula.
    Tex,
    /// A decimal that is not computed: a version, a section.
    Literal,
    /// How many values, claims, snippets, tests or chapters there are.
    Count,
    /// A table of numbers.
    Matrix,
    /// A plot.
    Figure,
    /// Something to try out.
    Widget,
    /// An item of a crate.
    Source,
    /// A generated table of everything that is checked.
    Checked,
}

const WORDS: [(&str, Kind); 10] = [
    ("value", Kind::Value),
    ("claim", Kind::Claim),
    ("tex", Kind::Tex),
    ("literal", Kind::Literal),
    ("count", Kind::Count),
    ("matrix", Kind::Matrix),
    ("figure", Kind::Figure),
    ("widget", Kind::Widget),
    ("source", Kind::Source),
    ("checked", Kind::Checked),
];

impl Kind {
    fn from_word(word: &str) -> Option<Kind> {
        WORDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }

    /// Whether the directive stands on a line of its own.
    fn is_block(self) -> bool {
        matches!(self, Kind::Matrix | Kind::Figure | Kind::Widget | Kind::Source | Kind::Checked)
    }
}

/// A directive and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directive {
    pub(crate) kind: Kind,
    pub(crate) argument: String,
    /// The bytes that what it asks for takes the place of: caption included.
    pub(crate) range: Range<usize>,
    pub(crate) line: usize,
    /// The bytes of the caption of a block directive.
    pub(crate) caption: Option<Range<usize>>,
}

static PATTERN: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\{\{([a-z]+)[ \t]+([^{}\n]*?)[ \t]*\}\}"));
static CAPTION: LazyLock<Regex> = LazyLock::new(|| regex(r"\A\n: ((?:[^\n]+)(?:\n  [^\n]+)*)"));

pub(crate) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that the tests compile")
}

/// Finds the directives of a chapter, in order. `formulas` are the bytes of its
/// formulas, in which an unknown word between double braces is TeX's own.
pub(crate) fn find(chapter: &Chapter, formulas: &[Range<usize>]) -> (Vec<Directive>, Problems) {
    let mut directives: Vec<Directive> = Vec::new();
    let mut problems = Problems::default();
    for found in PATTERN.captures_iter(&chapter.text) {
        let (whole, word, argument) = (found.get_match(), &found[1], &found[2]);
        if chapter.in_code(whole.start()) {
            continue;
        }
        let line = chapter.line_of(whole.start());
        let Some(kind) = Kind::from_word(word) else {
            if !formulas.iter().any(|formula| formula.contains(&whole.start())) {
                problems.push(unknown_word(chapter, line, word));
            }
            continue;
        };
        let mut directive = Directive {
            kind,
            argument: argument.to_owned(),
            range: whole.range(),
            line,
            caption: None,
        };
        if kind.is_block() {
            match widen_to_block(&chapter.text, &mut directive) {
                Ok(()) => {}
                Err(hint) => {
                    problems.push(
                        Problem::at(
                            &chapter.file,
                            line,
                            format!("`{{{{{word} …}}}}` must stand on a line of its own"),
                        )
                        .hint(hint),
                    );
                    continue;
                }
            }
        }
        directives.push(directive);
    }
    // What stands in a caption is woven with its caption.
    let captions: Vec<_> = directives.iter().filter_map(|d| d.caption.clone()).collect();
    directives.retain(|d| !captions.iter().any(|caption| caption.contains(&d.range.start)));
    (directives, problems)
}

/// The directives within a caption, with ranges relative to it. Only those that
/// fit into a line: `find` has told of the others.
pub(crate) fn find_in_caption(text: &str, line: usize) -> Vec<Directive> {
    PATTERN
        .captures_iter(text)
        .filter_map(|found| {
            let kind = Kind::from_word(&found[1]).filter(|kind| !kind.is_block())?;
            Some(Directive {
                kind,
                argument: found[2].to_owned(),
                range: found.get_match().range(),
                line,
                caption: None,
            })
        })
        .collect()
}

fn unknown_word(chapter: &Chapter, line: usize, word: &str) -> Problem {
    let problem = Problem::at(&chapter.file, line, format!("unknown directive `{{{{{word} …}}}}`"));
    match closest(word, WORDS.iter().map(|(known, _)| *known)) {
        Some(known) => problem.hint(format!("did you mean `{known}`?")),
        None => problem.hint("put it between backticks if it is meant as text"),
    }
}

/// A block directive begins its line, ends it, and may be followed by a line
/// `: caption`, which goes on over lines indented by two spaces.
fn widen_to_block(text: &str, directive: &mut Directive) -> Result<(), &'static str> {
    let Range { start, end } = directive.range;
    if start > 0 && !text[..start].ends_with('\n') {
        return Err("begin a new line before it");
    }
    let rest = &text[end..];
    if !rest.is_empty() && !rest.starts_with('\n') {
        return Err("begin a new line after it; a caption follows on the next line, behind `: `");
    }
    if let Some(caption) = CAPTION.captures(rest).and_then(|found| found.get(1)) {
        directive.caption = Some(end + caption.start()..end + caption.end());
        directive.range.end = end + caption.end();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn found(text: &str) -> (Vec<Directive>, Vec<String>) {
        let chapter = Chapter::new("Test", Path::new("src"), Path::new("a.md"), text);
        let formulas: Vec<_> =
            text.find('$').map(|start| start..text.rfind('$').unwrap()).into_iter().collect();
        let (directives, problems) = find(&chapter, &formulas);
        (directives, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn directives_are_found_in_prose_tables_and_formulas_but_not_in_code() {
        let (directives, problems) = found(
            "A {{value a.b}} and `{{value no.no}}`.\n\n```rust\n{{value no.no}}\n```\n\n\
             | {{value c.d}} |\n|---|\n\n$x = {{value e.f}} {{x y}}$\n",
        );
        let told: Vec<_> = directives.iter().map(|d| (d.argument.as_str(), d.line)).collect();
        assert_eq!(told, [("a.b", 1), ("c.d", 7), ("e.f", 10)]);
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn an_unknown_word_is_an_error_with_a_suggestion() {
        let (_, problems) = found("One\n\n{{valeu a.b}} and {{zzz a}}\n");
        assert_eq!(
            problems,
            [
                "src/a.md:3: unknown directive `{{valeu …}}`; did you mean `value`?",
                "src/a.md:3: unknown directive `{{zzz …}}`; put it between backticks if it is meant as text"
            ]
        );
    }

    #[test]
    fn a_block_takes_its_caption_with_what_is_in_it() {
        let text = "Text\n\n{{matrix a.b}}\n: The weights: {{value c.d}}\n  and more\n\nEnd\n";
        let (directives, problems) = found(text);
        assert_eq!(problems, Vec::<String>::new());
        let [matrix] = &directives[..] else { panic!("{directives:?}") };
        let caption = &text[matrix.caption.clone().unwrap()];
        assert_eq!(caption, "The weights: {{value c.d}}\n  and more");
        assert_eq!(&text[matrix.range.end..], "\n\nEnd\n");
        let inner = find_in_caption(caption, 4);
        assert_eq!(&caption[inner[0].range.clone()], "{{value c.d}}");
    }

    #[test]
    fn a_block_within_a_line_is_an_error() {
        let (directives, problems) = found("See {{matrix a.b}}\n\n{{figure a.b}} there\n");
        assert_eq!(directives, []);
        assert_eq!(problems.len(), 2);
        assert!(problems[0].contains("begin a new line before it"), "{problems:?}");
        assert!(problems[1].contains("begin a new line after it"), "{problems:?}");
    }
}
