//! Finds what a page would ask of another host. A link that the reader may
//! follow asks for nothing until then.

use scraper::ElementRef;

use super::{Site, elements};
use crate::problem::{Problem, Problems};

/// Attributes whose address a browser fetches by itself.
const FETCHED: [&str; 5] = ["src", "poster", "data", "ping", "background"];

/// Elements whose `href` is fetched, or decides what others fetch.
const FETCHING: [&str; 5] = ["link", "base", "image", "use", "feImage"];

/// What a `<link>` may say of another host's page without fetching it.
const MERELY_NAMED: [&str; 7] =
    ["canonical", "alternate", "author", "license", "me", "bookmark", "help"];

impl Site {
    /// Everything that a page or style sheet would request from another host.
    ///
    /// One style sheet may be allowed, by its exact address; the link to it must
    /// then carry an integrity hash.
    #[must_use]
    pub fn hosts(&self, allowed: Option<&str>) -> Problems {
        let mut problems = Problems::default();
        for (name, page) in &self.pages {
            for element in elements(&page.html) {
                for address in requests(element) {
                    let permitted = allowed == Some(address)
                        && element.attr("rel") == Some("stylesheet")
                        && element.attr("integrity").is_some_and(|hash| !hash.is_empty());
                    if !permitted {
                        problems.push(self.request(name, element.value().name(), address));
                    }
                }
            }
        }
        for (name, css) in &self.styles {
            let outside = css_requests(css).into_iter().filter(|address| is_elsewhere(address));
            problems.extend(outside.map(|address| self.request(name, "the style sheet", address)));
        }
        problems
    }

    fn request(&self, name: &str, what: &str, address: &str) -> Problem {
        let what = if what.contains(' ') { what.to_owned() } else { format!("<{what}>") };
        Problem::in_file(self.path(name), format!("{what} asks another host for {address}"))
            .hint("put the file into the site")
    }
}

/// The addresses on other hosts that an element makes a browser fetch.
fn requests(element: ElementRef<'_>) -> Vec<&str> {
    let name = element.value().name();
    let mut found: Vec<&str> = Vec::new();
    for (attribute, value) in element.value().attrs() {
        match attribute {
            "href" if FETCHING.contains(&name) && !is_merely_named(element) => found.push(value),
            "srcset" | "imagesrcset" => {
                found.extend(value.split(',').filter_map(|each| each.split_whitespace().next()));
            }
            "content" if element.attr("http-equiv") == Some("refresh") => {
                found.extend(value.split_once('=').map(|(_, address)| address.trim()));
            }
            "style" => found.extend(css_requests(value)),
            attribute if FETCHED.contains(&attribute) => found.push(value),
            _ => {}
        }
    }
    if name == "style" {
        found.extend(element.text().flat_map(css_requests));
    }
    found.retain(|address| is_elsewhere(address));
    found
}

fn is_merely_named(element: ElementRef<'_>) -> bool {
    element.value().name() == "link"
        && element
            .attr("rel")
            .is_some_and(|rel| rel.split_whitespace().all(|word| MERELY_NAMED.contains(&word)))
}

/// Whether an address names a host: `//host/…`, or a scheme that goes over the
/// network.
fn is_elsewhere(address: &str) -> bool {
    let address = address.trim();
    let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    address.starts_with("//")
        || scheme.is_some_and(|s| ["http", "https", "ws", "wss", "ftp"].contains(&s.as_str()))
}

/// The addresses in `url(…)` and `@import "…"`, comments left out.
fn css_requests(css: &str) -> Vec<&str> {
    let code = css.split("/*").enumerate().map(|(index, part)| match index {
        0 => part,
        _ => part.split_once("*/").map_or("", |(_, code)| code),
    });
    code.flat_map(|code| {
        let urls = code.split("url(").skip(1).filter_map(|rest| rest.split(')').next());
        let imports = code.split("@import").skip(1).filter_map(|rest| rest.split(';').next());
        let imports = imports.filter(|import| !import.contains("url("));
        urls.chain(imports).map(|address| {
            let address = address.trim();
            match address.chars().next() {
                Some(quote @ ('"' | '\'')) => address[1..].split(quote).next().unwrap_or_default(),
                _ => address,
            }
        })
    })
    .collect()
}
