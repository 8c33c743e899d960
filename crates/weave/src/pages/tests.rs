use std::fs;
use std::path::Path;

use mdbook_driver::MDBook;
use tempfile::TempDir;

use super::*;
use crate::chapter::Chapter;

fn page(head: &str, main: &str) -> String {
    format!(
        "<!DOCTYPE HTML><html lang=\"en\"><head><title>A title</title>\
         <meta name=\"description\" content=\"What it is.\">{head}</head>\
         <body><main>{main}</main></body></html>"
    )
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The problems that a check finds in a site of one page and some other files.
fn told(head: &str, main: &str, check: impl Fn(&Site) -> Problems) -> Vec<String> {
    let folder = folder(&[
        ("part/a.html", &page(head, main)),
        ("part/b.html", &page("", "<h2 id=\"a-place\">B</h2>")),
        ("index.html", &page("", "")),
        ("style.css", "@import \"https://a.example/a.css\"; /* url(http://b.example) */ a{}"),
        ("api/x/index.html", "<a href=#4 id=4>4</a><a id=9><i id=\"method.f\"></i>{{left here}}"),
    ]);
    let site = Site::read(folder.path()).unwrap();
    let prefix = folder.path().join("part").to_string_lossy().into_owned() + "/";
    let problems = check(&site);
    problems.iter().map(|problem| problem.to_string().replace(&prefix, "")).collect()
}

fn hosts(head: &str, main: &str) -> Vec<String> {
    let of_page =
        |told: Vec<String>| told.into_iter().filter(|t| t.starts_with("a.html")).collect();
    of_page(told(head, main, |site| site.hosts(Some("https://cdn.example/k.css"))))
}

#[test]
fn whatever_asks_another_host_is_told() {
    for (head, main, element) in [
        ("<script src=\"https://x.example/a.js\"></script>", "", "<script>"),
        ("<link rel=\"stylesheet\" href=\"//x.example/a.css\">", "", "<link>"),
        ("<link rel=\"preconnect\" href=\"https://x.example\">", "", "<link>"),
        ("<base href=\"https://x.example/\">", "", "<base>"),
        ("<style>a { background: url('https://x.example/a.png') }</style>", "", "<style>"),
        ("<style>@import \"https://x.example/a.css\";</style>", "", "<style>"),
        ("<meta http-equiv=\"refresh\" content=\"0; URL=https://x.example\">", "", "<meta>"),
        ("", "<img src=\"HTTP://x.example/a.png\">", "<img>"),
        ("", "<img src=\"a.png\" srcset=\"a.png 1x, https://x.example/b.png 2x\">", "<img>"),
        ("", "<iframe src=\"https://x.example\"></iframe>", "<iframe>"),
        ("", "<video poster=\"https://x.example/a.png\"></video>", "<video>"),
        ("", "<object data=\"https://x.example/a\"></object>", "<object>"),
        ("", "<embed src=\"https://x.example/a\">", "<embed>"),
        ("", "<p style=\"background: url(https://x.example/a)\">", "<p>"),
        ("", "<svg><image xlink:href=\"https://x.example/a\"/></svg>", "<image>"),
        ("", "<svg><use href=\"https://x.example/a#b\"/></svg>", "<use>"),
        ("", "<a href=\"#\" ping=\"https://x.example\">x</a>", "<a>"),
    ] {
        let told = hosts(head, main);
        assert_eq!(told.len(), 1, "{head}{main}: {told:?}");
        assert!(
            told[0].starts_with(&format!("a.html: {element} asks another host for")),
            "{told:?}"
        );
    }
}

#[test]
fn what_asks_no_other_host_is_not_told() {
    let head = "<link rel=\"canonical\" href=\"https://x.example/\">\
        <link rel=\"stylesheet\" href=\"https://cdn.example/k.css\" integrity=\"sha384-x\">";
    let main = "<a href=\"https://x.example\">x</a><img src=\"data:image/png;base64,xx\">\
        <svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\
        <math xmlns=\"http://www.w3.org/1998/Math/MathML\"></math>";
    assert_eq!(hosts(head, main), [""; 0]);
    let unhashed = "<link rel=\"stylesheet\" href=\"https://cdn.example/k.css\">";
    assert_eq!(hosts(unhashed, "").len(), 1);
}

#[test]
fn style_sheets_are_looked_at_too() {
    let told = told("", "", |site| site.hosts(None));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("style.css: the style sheet asks another host for https://a.example"));
}

#[test]
fn directives_left_over_are_told_and_code_is_not() {
    let left = |main: &str| told("", main, Site::unresolved);
    assert!(left("<p>It is {{value a.b}}.</p>")[0].starts_with("a.html: `{{value a.b}}`"));
    assert_eq!(left("<img alt=\"{{ #include x }}\">").len(), 1);
    let fine = "<code>{{value a}}</code><pre>{{a b}}</pre><script>{{a b}}</script>\
        <p>{{}} {{ 1 }} x}}</p>\
        <span class=\"katex\">{{a}}<annotation>{{b}}</annotation></span>";
    assert_eq!(left(fine), [""; 0]);
}

#[test]
fn formulas_that_did_not_come_out_are_told() {
    let left = |main: &str| told("", main, Site::mangled);
    assert_eq!(
        left("<p>So $a<em>{ij} * b</em>{ij}$ is</p>"),
        ["a.html: `$a{ij} * b{ij}$` was left as it is, not typeset"]
    );
    assert_eq!(left("<ul><li>$$ x $$</li></ul>").len(), 1);
    assert_eq!(left("<p><span class=\"katex-error\">\\foo</span></p>").len(), 1);
    let fine = "<p>From $5 to $6.</p><p><code>$x^2$</code> <span class=\"katex\">$x^2$</span></p>";
    assert_eq!(left(fine), [""; 0]);
}

#[test]
fn formulas_are_compared_with_those_that_were_written() {
    let main = "<annotation>a_{1}\n b</annotation><annotation>c \\\\ d</annotation>";
    let compare = |written: &[&str]| {
        let written: Vec<String> = written.iter().map(|&tex| tex.to_owned()).collect();
        told("", main, |site| site.formulas(Path::new("part/a.md"), &written))
    };
    assert_eq!(compare(&["\na_{1} b", r"c \\ d"]), [""; 0]);
    assert_eq!(
        compare(&["a_{1} b", r"c \\\\ d"]),
        ["a.html: formula 2 is not the one that was written\n    on the page: c \\\\ d\n    \
          written: c \\\\\\\\ d"]
    );
    assert_eq!(compare(&["a_{1} b"]), ["a.html: the page shows 2 formulas, and 1 were written"]);
    let missing = told("", "", |site| site.formulas(Path::new("x.md"), &[]));
    assert!(missing[0].ends_with("x.html: the chapter's page is missing"), "{missing:?}");
}

fn links(main: &str, api: bool) -> Vec<String> {
    told("", main, |site| site.links(&[], api))
}

#[test]
fn links_that_lead_nowhere_are_told() {
    let one = |main: &str| {
        let told = links(main, true);
        assert_eq!(told.len(), 1, "{main}: {told:?}");
        told[0].clone()
    };
    assert_eq!(
        one("<a href=\"bb.html\">b</a>"),
        "a.html: link `bb.html`: the site has no `part/bb.html`; did you mean `../part/b.html`?"
    );
    assert_eq!(
        one("<a href=\"b.html#a-plaice\">b</a>"),
        "a.html: link `b.html#a-plaice`: `part/b.html` has no place `#a-plaice`; did you mean `#a-place`?"
    );
    assert!(one("<a href=\"#nowhere\">b</a>").contains("`part/a.html` has no place `#nowhere`"));
    assert!(one("<img src=\"no.png\">").contains("the site has no `part/no.png`"));
    assert!(one("<a href=\"../../b\">b</a>").contains("leads out of the site"));
    assert!(one("<a href=\"/part/b.html\">b</a>").contains("from the host's root"));
    assert!(one("<a href=\"../README.html\">b</a>").contains("link to `index.md`"));
    assert!(one("<a href=\"../api/y/\">b</a>").contains("the site has no `api/y`"));
    assert!(one("<a href=\"../api/x/index.html#4-8\">b</a>").contains("has no place `#4-8`"));
}

#[test]
fn links_that_lead_somewhere_are_not_told() {
    let fine = "<h2 id=\"here\"><a href=\"#here\" name=\"there\">h</a></h2><a href=\"#there\">t</a>\
        <a href=\"b.html?x=1#a%2Dplace\">b</a><a href=\"../\">up</a><a href=\"..\">up</a>\
        <a href=\"mailto:a@b.example\">m</a><a href=\"//x.example/y\">x</a><a href=\"#\">top</a>\
        <a href=\"../api/x/index.html#4-9\">l</a><a href=\"../api/x/#method.f\">f</a>\
        <img src=\"data:image/png;base64,xx\">";
    assert_eq!(links(fine, true), [""; 0]);
    assert_eq!(links("<a href=\"../api/not/built.html#x\">b</a>", false), [""; 0]);
}

#[test]
fn a_broken_link_of_a_chapter_is_told_with_its_line() {
    let text =
        "# A\n\nSee [b](b.md#a-plaice) and\n[a picture](../no.png).\n\n<a href=\"bb.md\">b</a>\n";
    let chapter = Chapter::new("A", Path::new("book/src"), Path::new("part/a.md"), text);
    let main =
        "<a href=\"b.html#a-plaice\">b</a><a href=\"../no.png\">x</a><a href=\"bb.html\">b</a>";
    let told = told("", main, |site| site.links(std::slice::from_ref(&chapter), true));
    let starts = [
        "book/src/part/a.md:3: link `b.md#a-plaice`",
        "book/src/part/a.md:4: link `../no.png`",
        "book/src/part/a.md:6: link `bb.md`",
    ];
    assert_eq!(told.len(), 3, "{told:?}");
    for (problem, start) in told.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}");
    }
}

#[test]
fn links_are_read_from_markdown_and_html_but_not_from_code() {
    let text = "[a](x/README.md)\n`[b](c.md)`\n![c](c.png) <img src=\"d.png\"> [e][e]\n\n[e]: https://e.example/e.md\n";
    let links = source_links(&Chapter::new("A", Path::new("src"), Path::new("a.md"), text));
    let found: Vec<_> =
        links.iter().map(|l| (l.line, l.destination.as_str(), l.rendered.as_str())).collect();
    assert_eq!(
        found,
        [
            (1, "x/README.md", "x/README.html"),
            (3, "c.png", "c.png"),
            (3, "d.png", "d.png"),
            (3, "https://e.example/e.md", "https://e.example/e.md"),
        ]
    );
}

#[test]
fn a_page_without_title_or_description_is_told() {
    let folder = folder(&[
        ("a.html", "<html><head><title> </title></head></html>"),
        ("b.html", &page("", "")),
        ("toc.html", "<html></html>"),
        ("old.html", "<meta http-equiv=\"refresh\" content=\"0; URL=b.html\">"),
    ]);
    let told = Site::read(folder.path()).unwrap().metadata().to_string();
    let told: Vec<&str> = told.lines().map(|line| line.rsplit('/').next().unwrap()).collect();
    assert_eq!(told, ["a.html: the page has no description", "a.html: the page has no title"]);
}

#[test]
fn a_chapter_that_the_summary_does_not_name_is_told() {
    let folder = folder(&[
        ("book/src/SUMMARY.md", ""),
        ("book/src/404.md", ""),
        ("book/src/part/named.md", ""),
        ("book/src/part/nmaed.md", ""),
        ("book/src/picture.svg", ""),
    ]);
    let told = orphans(folder.path(), Path::new("book/src"), [Path::new("part/named.md")]);
    assert_eq!(
        told.to_string(),
        "book/src/part/nmaed.md: SUMMARY.md does not name this chapter; \
         add it there (it names `part/named.md`), or remove the file"
    );
}

#[test]
fn a_folder_or_page_that_cannot_be_read_is_told() {
    let folder = folder(&[("a.html", "")]);
    fs::write(folder.path().join("b.html"), [0xff, 0xfe]).unwrap();
    let told = Site::read(folder.path()).unwrap_err().to_string();
    assert!(told.contains("b.html: cannot be read") && told.lines().count() == 1, "{told}");
    let told = Site::read(&folder.path().join("missing")).unwrap_err().to_string();
    assert!(told.ends_with("build the book first"), "{told}");
}

const CARD: Card = Card { description: "All of \"it\" & <more>.", image: Some(("x.png", "X")) };

#[test]
fn a_page_gets_its_own_description_and_a_card() {
    let finished = finish(&page("", "<p>content=\"\"</p>"), &CARD);
    let html = Html::parse_document(&finished);
    let content = |css: &str| {
        let found = select(&html, css);
        assert_eq!(found.len(), 1, "{css}");
        found[0].attr("content").unwrap().to_owned()
    };
    assert_eq!(content("head > meta[name=description]"), CARD.description);
    assert_eq!(content("head > meta[property='og:description']"), CARD.description);
    assert_eq!(content("head > meta[property='og:title']"), "A title");
    assert_eq!(content("head > meta[property='og:image']"), "x.png");
    assert_eq!(content("head > meta[property='og:image:alt']"), "X");
    assert_eq!(content("head > meta[property='og:type']"), "article");
    assert_eq!(content("head > meta[name='twitter:card']"), "summary_large_image");
    assert_eq!(finish(&finished, &CARD), finished);
    assert!(finished.ends_with("<main><p>content=\"\"</p></main></body></html>"));

    let bare = "<head><title>T &amp; U</title></head>";
    let finished = finish(bare, &CARD);
    assert!(finished.contains("name=\"description\" content=\"All of &quot;it"), "{finished}");
    assert!(finished.contains("content=\"T &amp; U\""), "{finished}");
    assert_eq!(finish("no page", &CARD), "no page");
}

#[test]
fn the_first_paragraph_describes_a_chapter() {
    let chapter = "Before.\n\n# Title\n\n<p class=\"x\">html</p>\n\nA *query* `q` meets\n\
        <a href=\"#\">0.51</a> of $\\frac{\\Q}{\\sqrt{d}}$, it <a class=\"claim\">✓</a> does.\n\nNext.\n";
    assert_eq!(describe(chapter), "A query q meets 0.51 of Q/√d, it does.");
    assert_eq!(describe("No heading.\n"), "");
    let long = format!("# T\n\n{}\n", "word ".repeat(60));
    let described = describe(&long);
    assert!(described.chars().count() <= 160 && described.ends_with("word…"), "{described}");
    assert!(described.chars().count() > 150);
}

/// What mdBook itself writes has to pass, all of its pages.
#[test]
fn a_book_as_mdbook_builds_it_is_clean() {
    let folder = folder(&[
        (
            "book.toml",
            "[book]\ntitle = \"A book\"\ndescription = \"About.\"\n[output.html.redirect]\n\
             \"/old.html\" = \"part/a.html\"\n[output.html.playground]\nrunnable = false\n",
        ),
        ("src/SUMMARY.md", "[Start](README.md)\n\n- [A](part/a.md)\n  - [B](part/b.md)\n"),
        ("src/README.md", "# Start\n\nSee [a](part/a.md#two-words), a note[^1].\n\n[^1]: Note.\n"),
        (
            "src/part/a.md",
            "# A\n\n## Two words\n\n[Up](../index.md), ![p](../p.png)\n\n```rust\nfn main() {}\n```\n",
        ),
        ("src/part/b.md", "# B\n\n## A\n\n## A\n\n[Twice](#a-1) `{{code}}`\n"),
        ("src/p.png", ""),
    ]);
    MDBook::load(folder.path()).unwrap().build().unwrap();
    let site = Site::read(&folder.path().join("book")).unwrap();
    assert_eq!(site.chapters().count(), 3);
    for problems in [
        site.hosts(None),
        site.unresolved(),
        site.mangled(),
        site.links(&[], true),
        site.metadata(),
        site.formulas(Path::new("README.md"), &[]),
    ] {
        assert_eq!(problems.to_string(), "");
    }
}
