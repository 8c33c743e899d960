use std::fs;
use std::path::Path;
use std::sync::Arc;

use mdbook_driver::MDBook;
use scraper::{Html, Selector};

use super::*;

fn typesetter() -> Typesetter {
    Typesetter::new(options("output = \"htmlAndMathml\"\n").unwrap())
}

fn options(table: &str) -> Result<KatexOptions, Problems> {
    let folder = tempfile::tempdir().unwrap();
    let book_toml = format!("[book]\ntitle = \"A\"\n\n[preprocessor.katex]\n{table}");
    fs::write(folder.path().join("book.toml"), book_toml).unwrap();
    fs::write(folder.path().join("macros.txt"), "\\Q:{\\htmlClass{query}{Q}}\n").unwrap();
    fs::write(folder.path().join("broken.txt"), "a comment\n\\Q:{Q}\n\\K{K}\n").unwrap();
    KatexOptions::read(folder.path())
}

fn told(text: &str) -> Vec<String> {
    typesetter().check(Path::new("a.md"), text).iter().map(ToString::to_string).collect()
}

#[test]
fn formulas_are_found_where_they_stand() {
    let text = "Let $x$ be `$y$`, cost \\$5.\n\n$$\na_{ij}\n$$\n";
    let Scanned { formulas, slips } = typesetter().scan(text);
    assert_eq!(slips, []);
    let found: Vec<_> = formulas.iter().map(|f| (f.tex, f.display)).collect();
    assert_eq!(found, [("x", false), ("\na_{ij}\n", true)]);
    for formula in formulas {
        assert_eq!(&text[formula.range.clone()], formula.tex);
        let fence = if formula.display { "$$" } else { "$" };
        assert_eq!(text[formula.outer], format!("{fence}{}{fence}", formula.tex));
    }
}

#[test]
fn broken_tex_is_told_with_its_line() {
    assert_eq!(
        told(
            "Good $x$.\n\nBad $\\foo$.\n\n$$\n\\begin{bmatrix}\nx^2^3\n\\end{bmatrix}\n$$\n\n$\\frac{1$\n"
        ),
        [
            "a.md:3: TeX: Undefined control sequence: \\foo at `\\foo`",
            "a.md:7: TeX: Double superscript at `…in{bmatrix} x^2^3 \\end{bmatrix}…`",
            "a.md:11: TeX: Unexpected end of input in a macro argument, expected '}' at the end of the formula",
        ]
    );
}

#[test]
fn positions_count_as_javascript_counts() {
    assert_eq!(byte_of("𝛼é\\foo", 1), Some(0));
    assert_eq!(byte_of("𝛼é\\foo", 4), Some("𝛼é".len()));
    assert_eq!(byte_of("x", 9), None);
}

#[test]
fn dollar_signs_without_a_partner_are_told() {
    let close = r"close it, or write `\$` for a dollar sign";
    let unclosed = format!("a.md:2: nothing closes this formula; {close}");
    assert_eq!(told("Good $x$.\nBad $y.\n"), std::slice::from_ref(&unclosed));
    assert_eq!(told("Good $x$.\n$$ y.\n"), [unclosed]);
    assert_eq!(told("$"), [format!("a.md:1: nothing closes this formula; {close}")]);
    assert_eq!(
        told("It costs $5.\n\nOr $\\foo$.\n"),
        [format!("a.md:1: this formula runs on across a blank line; {close}")]
    );
    assert_eq!(
        told("From $5 to $6.\n"),
        [
            "a.md:1: this formula begins or ends with a space; take the space out, or write `\\$` for a dollar sign"
        ]
    );
}

#[test]
fn what_hides_a_formula_or_makes_one_of_code_is_told() {
    let one = |text: &str| {
        let told = told(text);
        assert_eq!(told.len(), 1, "{told:?}");
        told[0].clone()
    };
    assert!(one("$x$, a ` alone\n\n$y$\n").starts_with("a.md:1: nothing closes this backtick"));
    assert!(one("~~~sh\necho $A$\n~~~\n").contains("inside a block of code"));
    assert!(one("> $$\n> x\n> $$\n").contains("begins with `>`"));
    assert_eq!(told("````md\n``` $x$\n````\n\n`` ` `` and `\\` and $x$, \\`\n"), [""; 0]);
}

#[test]
fn a_known_formula_is_not_typeset_again() {
    let typesetter = typesetter();
    let formula = typesetter.scan("$x$").formulas.remove(0);
    let first = typesetter.html(&formula).unwrap();
    let second = typesetter.html(&formula).unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    let displayed = typesetter.scan("$$x$$").formulas.remove(0);
    assert!(typesetter.html(&displayed).unwrap().contains("katex-display"));
}

#[test]
fn the_text_of_formulas_is_sealed_and_their_tags_are_not() {
    assert_eq!(
        seal("<a b=\"c_d > | *e*\">_x*\\\\ &lt;y&amp; `z`\n|1.</a>"),
        "<a b=\"c_d > &#124; *e*\">&#95;x&#42;&#92;&#92; &lt;y&amp; &#96;z&#96; &#124;1&#46;</a>"
    );
    assert_eq!(seal("a & b"), "a &#38; b");
}

#[test]
fn options_are_read_with_their_macros() {
    let options = options(
        "output = \"htmlAndMathml\"\nmacros = \"macros.txt\"\ntrust = true\nafter = [\"weave\"]\n",
    );
    let typesetter = Typesetter::new(options.unwrap());
    let formula = typesetter.scan("$\\Q$").formulas.remove(0);
    assert!(typesetter.html(&formula).unwrap().contains("class=\"enclosing query\""));
}

#[test]
fn a_command_that_needs_trust_is_an_error_without_it() {
    let told = told("$\\htmlClass{a}{b}$");
    assert!(told[0].contains("`trust = true`"), "{told:?}");
}

#[test]
fn wrong_options_are_told_with_their_lines() {
    let told = |table: &str| options(table).unwrap_err().to_string();
    assert_eq!(
        told("output = \"html\"\nmarcos = \"x\"\nleqno = 1\n"),
        "book.toml:6: unknown option `marcos` in [preprocessor.katex]; did you mean `macros`?\n\
         book.toml:7: option `leqno` in [preprocessor.katex]: invalid type: integer `1`, expected a boolean"
    );
    assert!(told("output = \"xml\"\n").starts_with("book.toml:5: option `output`"));
    assert!(
        told("leqno = true\ninline-delimiter = { left = \"\", right = \"$\" }\n")
            .starts_with("book.toml:6:")
    );
    assert!(told("throw-on-error = false\n").starts_with("book.toml:5:"));
    assert!(told("include-src = true\npre-render = false\n").lines().count() == 2);
    assert!(told("output = \n").starts_with("book.toml:5:"));
    let renderer = told("renderer = [\"html\"]\n");
    assert!(renderer.ends_with("did you mean `renderers`?"), "{renderer}");
}

#[test]
fn macros_that_mdbook_katex_would_panic_at_are_told() {
    let told = |table: &str| options(table).unwrap_err().to_string();
    let missing = told("trust = true\nmacros = \"missing.txt\"\n");
    assert!(missing.starts_with("book.toml:6: macros `missing.txt` cannot be read"), "{missing}");
    assert_eq!(
        told("macros = \"broken.txt\"\n"),
        "broken.txt:3: macro `\\K{K}` has no colon; write `\\command:TeX`"
    );
}

#[test]
fn a_book_without_options_has_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    assert!(KatexOptions::read(folder.path()).is_ok());
}

const NASTY: [&str; 9] = [
    r"a_{ij} * b_{ij} * c_{ij}",
    r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
    r"\left|x\right| < |y| > 0",
    r"\{ x_1, (a)_b, (c)_d \}",
    r"f(x)_{[1]}^{[2]} \lt `x`",
    r"\text{it's -- ``quoted''... www.example.com <b>}",
    r"\overrightarrow{AB} \sqrt{\frac{~a~}{b}} \& \# 1.",
    r"[x^n](f + g)",
    r"\widehat{x}!",
];

/// Markdown around formulas: prose, a table, a list, a quotation, a heading.
fn page(formulas: &[&str]) -> String {
    let mut page = "# Formulas\n\n".to_owned();
    for tex in formulas {
        page.push_str(&format!(
            "In *prose* ${tex}$, twice_ ${tex}$_.\n\n| a | b |\n|---|---|\n| ${tex}$ | *x* |\n\n\
             1. item ${tex}$\n\n   $$\n   {tex}\n   $$\n\n> ${tex}$\n\n## Of ${tex}$ {{#x}}\n\n"
        ));
    }
    page
}

#[test]
fn formulas_reach_the_page_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("src")).unwrap();
    fs::write(
        root.join("book.toml"),
        "[book]\ntitle = \"A\"\n[preprocessor.katex]\noutput = \"htmlAndMathml\"\nno-css = true\n\
         [output.html]\nsmart-punctuation = true\n",
    )
    .unwrap();
    fs::write(root.join("src/SUMMARY.md"), "- [A](a.md)\n").unwrap();
    fs::write(root.join("src/a.md"), page(&NASTY)).unwrap();

    let typesetter = Arc::new(Typesetter::new(KatexOptions::read(root).unwrap()));
    let mut book = MDBook::load(root).unwrap();
    book.with_preprocessor(Math::new(typesetter));
    book.build().unwrap();

    let html = fs::read_to_string(root.join("book/a.html")).unwrap();
    let html = Html::parse_document(&html);
    let select = |css: &str| Selector::parse(css).unwrap();
    let annotations: Vec<String> = html
        .select(&select("main annotation"))
        .map(|annotation| annotation.text().collect::<String>().trim().to_owned())
        .collect();
    let written: Vec<&str> = NASTY.iter().flat_map(|tex| [*tex; 7]).collect();
    assert_eq!(annotations, written);
    assert_eq!(html.select(&select("main td .katex")).count(), NASTY.len());
    assert_eq!(html.select(&select("main .katex em, main .katex code")).count(), 0);
    assert_eq!(html.select(&select("main h2 > a > .katex")).count(), NASTY.len());
}

#[test]
fn a_book_with_broken_tex_is_not_built() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("src")).unwrap();
    fs::write(root.join("book.toml"), "[preprocessor.katex]\n").unwrap();
    fs::write(root.join("src/SUMMARY.md"), "- [A](a.md)\n- [B](b.md)\n").unwrap();
    fs::write(root.join("src/a.md"), "\n$\\foo$\n").unwrap();
    fs::write(root.join("src/b.md"), "$x\n").unwrap();
    let mut book = MDBook::load(root).unwrap();
    book.with_preprocessor(Math::new(Arc::new(Typesetter::new(KatexOptions::default()))));
    let error = book.build().unwrap_err().to_string();
    assert!(error.contains("a.md:2: TeX: Undefined control sequence"), "{error}");
    assert!(error.contains("b.md:1: nothing closes this formula"), "{error}");
    assert!(!root.join("book/a.html").exists());
}
