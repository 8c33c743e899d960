//! The pages over HTTP: files of the site and nothing else, each page with the
//! script that lets it reload and show problems.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt as _};
use tower_http::services::{ServeDir, ServeFile};

use super::status::{Board, Status};

const LIVE: &str = include_str!("live.js");

#[derive(Clone)]
struct Site {
    folder: PathBuf,
    board: Arc<Board>,
}

pub(super) fn router(folder: PathBuf, board: Arc<Board>) -> Router {
    let files = ServeDir::new(&folder).not_found_service(ServeFile::new(folder.join("404.html")));
    let site = Site { folder, board };
    Router::new()
        .fallback_service(files)
        .layer(middleware::from_fn_with_state(site.clone(), enliven))
        .route("/__book/live.js", get(live_script))
        .route("/__book/events", get(events))
        .layer(middleware::from_fn(guard))
        .with_state(site)
}

/// Answers only requests that name this machine. Another site's page can have
/// its own name point here; its requests still carry that name. Nothing is to
/// be kept by the browser, for the next build may change it.
async fn guard(request: Request, next: Next) -> Response {
    if !names_loopback(request.headers()) {
        let reason = "This server answers only to localhost and 127.0.0.1.\n";
        return (StatusCode::FORBIDDEN, reason).into_response();
    }
    let mut response = next.run(request).await;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn names_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host.and_then(|host| host.parse::<Authority>().ok()) else { return false };
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

async fn live_script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], LIVE)
}

/// The status now, and again whenever it changes.
async fn events(
    State(site): State<Site>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let statuses = WatchStream::new(site.board.listen());
    // After a restart of the server, pages should be back soon.
    let retry = Duration::from_millis(500);
    let events = statuses.map(move |status| Ok(Event::default().retry(retry).data(status.json())));
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// Adds the live script to pages; where there is no site yet, says why.
async fn enliven(State(site): State<Site>, request: Request, next: Next) -> Response {
    let status = site.board.now();
    let method = request.method().clone();
    if !site.folder.join("index.html").is_file() {
        return (StatusCode::SERVICE_UNAVAILABLE, Html(waiting_page(&status))).into_response();
    }
    let response = next.run(request).await;
    if method == Method::GET
        && response.status() != StatusCode::PARTIAL_CONTENT
        && is_page(&response)
    {
        with_script(response, &status.generation()).await
    } else {
        response
    }
}

fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/html"))
}

async fn with_script(response: Response, generation: &str) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(page) = to_bytes(body, usize::MAX).await else {
        return (StatusCode::INTERNAL_SERVER_ERROR, "The page could not be read.\n")
            .into_response();
    };
    // The length is another one now.
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(add_script(&page, &script(generation))))
}

fn script(generation: &str) -> String {
    format!("<script src=\"/__book/live.js\" data-generation=\"{generation}\" defer></script>\n")
}

/// Puts the script before the last `</body>`, or at the end where there is none.
fn add_script(page: &[u8], script: &str) -> Vec<u8> {
    let end = b"</body>";
    let at = page.windows(end.len()).rposition(|window| window == end).unwrap_or(page.len());
    [&page[..at], script.as_bytes(), &page[at..]].concat()
}

/// What is shown in place of any page until there is one.
fn waiting_page(status: &Status) -> String {
    let mut problems = String::new();
    for problem in status.problems() {
        let _ = writeln!(problems, "{}", escape(&problem.to_string()));
    }
    let script = script("");
    format!(
        "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>The book is not built yet</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 40rem; margin: 4rem auto; padding: 0 1rem; font: 1.1rem/1.6 sans-serif; }}
pre {{ white-space: pre-wrap; }}
</style>
</head>
<body>
<h1>The book is not built yet</h1>
<p>Its pages appear here by themselves as soon as they can be woven.</p>
<noscript><pre>{problems}</pre></noscript>
{script}</body>
</html>
"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let answered = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            names_loopback(&headers)
        };
        for host in ["localhost", "LOCALHOST:3000", "127.0.0.1:3000", "[::1]:3000"] {
            assert!(answered(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:3000", "10.0.0.1", "", "a b"] {
            assert!(!answered(host), "{host}");
        }
        assert!(!names_loopback(&HeaderMap::new()));
    }

    #[test]
    fn the_script_stands_before_the_end_of_the_body() {
        let text = |page: &str| String::from_utf8(add_script(page.as_bytes(), "<S>")).unwrap();
        assert_eq!(
            text("<code></body></code></body></html>"),
            "<code></body></code><S></body></html>"
        );
        assert_eq!(text("fragment"), "fragment<S>");
    }
}
