//! Follows every link that stays inside the site: to a file, and to the place
//! in it that the fragment names.

use std::collections::{HashMap, HashSet};

use scraper::{ElementRef, Html};

use super::{
    API, Kind, Page, Site, SourceLink, anchors, elements, page_of, read, refresh, source_links,
};
use crate::chapter::Chapter;
use crate::problem::{Problem, Problems, closest};

/// A link that leads nowhere.
struct Broken {
    message: String,
    hint: String,
}

/// What was found out about the API pages, which are read only when linked to.
type ApiAnchors = HashMap<String, HashSet<String>>;

impl Site {
    /// Links and other references that lead nowhere inside the site.
    ///
    /// A link that a chapter's author wrote is told with the chapter's line; what
    /// mdBook or the theme wrote, with the page. `api` says whether the API pages
    /// have to be there already; if not, links to them are passed over.
    #[must_use]
    pub fn links(&self, chapters: &[Chapter], api: bool) -> Problems {
        let mut problems = Problems::default();
        let mut api_anchors = ApiAnchors::new();
        let written: HashMap<String, (&Chapter, Vec<SourceLink>)> = chapters
            .iter()
            .map(|chapter| (page_of(&chapter.path), (chapter, source_links(chapter))))
            .collect();
        for (name, page) in self.pages.iter().filter(|(_, page)| page.kind != Kind::Print) {
            for reference in references(page) {
                let Some(broken) = self.follow(name, page, reference, api, &mut api_anchors) else {
                    continue;
                };
                problems.extend(self.blame(name, reference, &broken, written.get(name)));
            }
        }
        problems
    }

    /// The broken link as problems: one at each place where the author wrote it.
    fn blame(
        &self,
        name: &str,
        reference: &str,
        broken: &Broken,
        written: Option<&(&Chapter, Vec<SourceLink>)>,
    ) -> Vec<Problem> {
        let tell = |problem: Problem| match broken.hint.as_str() {
            "" => problem,
            hint => problem.hint(hint),
        };
        let places = written.map(|(chapter, links)| {
            let links = links.iter().filter(|link| link.rendered == reference);
            links
                .map(|link| {
                    let message = format!("link `{}`: {}", link.destination, broken.message);
                    tell(Problem::at(&chapter.file, link.line, message))
                })
                .collect::<Vec<_>>()
        });
        places.filter(|places| !places.is_empty()).unwrap_or_else(|| {
            let message = format!("link `{reference}`: {}", broken.message);
            vec![tell(Problem::in_file(self.path(name), message))]
        })
    }

    /// What is wrong with a reference from a page; nothing if it leads outside.
    fn follow(
        &self,
        name: &str,
        page: &Page,
        reference: &str,
        api: bool,
        api_anchors: &mut ApiAnchors,
    ) -> Option<Broken> {
        if has_scheme(reference) || reference.starts_with("//") {
            return None;
        }
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let path = path.split('?').next().unwrap_or_default();
        let base = if page.kind == Kind::NotFound { "" } else { name };
        let target = match self.target(base, &decoded(path)) {
            _ if path.is_empty() => name.to_owned(),
            Ok(target) => target,
            Err(broken) => return Some(broken),
        };
        let in_api = target == API || target.starts_with("api/");
        if in_api && !api {
            return None;
        }
        let Some(target) = self.file(&target) else {
            return Some(self.no_file(name, &target));
        };
        let fragment = decoded(fragment);
        if fragment.is_empty() || fragment == "top" || !target.ends_with(".html") {
            return None;
        }
        if in_api {
            let known = api_anchors.entry(target.clone()).or_insert_with(|| self.read_api(&target));
            return (!in_source_view(known, &fragment))
                .then(|| no_anchor(&target, &fragment, known));
        }
        let known = &self.pages.get(&target)?.anchors;
        (!known.contains(&fragment)).then(|| no_anchor(&target, &fragment, known))
    }

    /// The file of the site that a path names, seen from a page.
    fn target(&self, base: &str, path: &str) -> Result<String, Broken> {
        if path.starts_with('/') {
            return Err(Broken {
                message: "an address from the host's root".to_owned(),
                hint: "the site may lie in a folder of its host; write the path from the page"
                    .to_owned(),
            });
        }
        let mut parts: Vec<&str> = base.split('/').collect();
        parts.pop();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.pop().is_none() => {
                    return Err(Broken {
                        message: "leads out of the site".to_owned(),
                        hint: String::new(),
                    });
                }
                ".." => {}
                part => parts.push(part),
            }
        }
        Ok(parts.join("/"))
    }

    /// The file for a path: itself, or a folder's index.
    fn file(&self, path: &str) -> Option<String> {
        let index =
            if path.is_empty() { "index.html".to_owned() } else { format!("{path}/index.html") };
        [path.to_owned(), index].into_iter().find(|file| self.files.contains(file))
    }

    fn no_file(&self, from: &str, target: &str) -> Broken {
        let message = format!("the site has no `{target}`");
        if let Some(folder) = target.strip_suffix("README.html") {
            return Broken {
                message,
                hint: format!("mdBook makes a README.md `{folder}index.html`: link to `index.md`"),
            };
        }
        let depth = from.matches('/').count();
        let known = self.files.iter().filter(|file| !file.starts_with("api/"));
        let hint = match closest(target, known.map(String::as_str)) {
            Some(likely) => format!("did you mean `{}{likely}`?", "../".repeat(depth)),
            None => String::new(),
        };
        Broken { message, hint }
    }

    fn read_api(&self, file: &str) -> HashSet<String> {
        read(&self.path(file)).map(|text| anchors(&Html::parse_document(&text))).unwrap_or_default()
    }
}

fn no_anchor(target: &str, fragment: &str, known: &HashSet<String>) -> Broken {
    let hint = match closest(fragment, known.iter().map(String::as_str)) {
        Some(likely) => format!("did you mean `#{likely}`?"),
        None => String::new(),
    };
    Broken { message: format!("`{target}` has no place `#{fragment}`"), hint }
}

/// Whether an API page has the place; a source page also knows ranges of lines.
fn in_source_view(known: &HashSet<String>, fragment: &str) -> bool {
    let lines = fragment.split_once('-').filter(|(from, to)| {
        [from, to].iter().all(|line| line.bytes().all(|byte| byte.is_ascii_digit()))
    });
    known.contains(fragment)
        || lines.is_some_and(|(from, to)| known.contains(from) && known.contains(to))
}

/// Whether an address begins with a scheme, such as `https:` or `data:`.
fn has_scheme(address: &str) -> bool {
    address.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    })
}

/// The references of a page, each address once.
fn references(page: &Page) -> Vec<&str> {
    let mut seen = HashSet::new();
    let attributes = elements(&page.html).flat_map(|element| addresses(element));
    refresh(&page.html).into_iter().chain(attributes).filter(|each| seen.insert(*each)).collect()
}

fn addresses(element: ElementRef<'_>) -> Vec<&str> {
    let attribute = match element.value().name() {
        "a" | "area" | "link" => "href",
        "img" | "script" | "iframe" | "source" | "video" | "audio" | "track" | "embed" => "src",
        "object" => "data",
        _ => return Vec::new(),
    };
    let srcset = element.attr("srcset").into_iter().flat_map(|set| set.split(','));
    let srcset = srcset.filter_map(|each| each.split_whitespace().next());
    element.attr(attribute).map(str::trim).into_iter().chain(srcset).collect()
}

/// An address without its percent signs; as it is if that would not be UTF-8.
fn decoded(address: &str) -> String {
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| byte == b'%');
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| address.to_owned())
}
