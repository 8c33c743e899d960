//! The server with a builder that does as the tests tell it.

use super::*;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(20);

/// Copies `book/page.md` to `site/index.html`; a page with the word “broken” is
/// a problem.
struct Fake {
    root: PathBuf,
    served: Mutex<mpsc::Sender<SocketAddr>>,
    restarts: Mutex<mpsc::Sender<SocketAddr>>,
}

impl Builder for Fake {
    fn weave(&self) -> Result<(), Problems> {
        let text = fs::read_to_string(self.root.join("book/page.md")).unwrap();
        assert!(!text.contains("panic"), "told to");
        if text.contains("broken") {
            return Err(Problem::at("book/page.md", 1, "a <broken> word").hint("mend it").into());
        }
        let site = self.root.join("site");
        fs::create_dir_all(&site).unwrap();
        fs::write(site.join("index.html"), format!("<body>{text}</body>")).unwrap();
        fs::write(site.join("404.html"), "<body>no such page</body>").unwrap();
        fs::write(site.join("style.css"), "</body>").unwrap();
        Ok(())
    }

    fn served(&self, address: SocketAddr) {
        self.served.lock().unwrap().send(address).unwrap();
    }

    fn finish(&self) -> Result<(), Problems> {
        Ok(())
    }

    fn compile(&self) -> Result<Compiled, Problems> {
        match fs::read_to_string(self.root.join("crates/lib.rs")).unwrap().as_str() {
            "bad" => Err(Problem::at("crates/lib.rs", 1, "does not compile").into()),
            "new" => Ok(Compiled::Changed),
            _ => Ok(Compiled::Same),
        }
    }

    fn restart(&self, address: SocketAddr) -> io::Error {
        self.restarts.lock().unwrap().send(address).unwrap();
        io::Error::other("not in a test")
    }
}

struct Server {
    folder: tempfile::TempDir,
    address: SocketAddr,
    restarts: mpsc::Receiver<SocketAddr>,
}

impl Server {
    fn start(page: &str) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (file, text) in [("book/page.md", page), ("crates/lib.rs", ""), ("secret", "hush")] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        let watched = Watched {
            root: root.clone(),
            text: vec![root.join("book")],
            code: vec![root.join("crates")],
            ignored: vec![root.join("site")],
        };
        let options = Options { port: 0, site: root.join("site"), watched };
        let (served, addresses) = mpsc::channel();
        let (restarted, restarts) = mpsc::channel();
        let fake = Fake { root, served: served.into(), restarts: restarted.into() };
        // Ends with the tests.
        thread::spawn(|| run(options, Arc::new(fake)));
        let address = addresses.recv_timeout(PATIENCE).unwrap();
        Server { folder, address, restarts }
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.path(file), text).unwrap();
    }

    fn path(&self, file: &str) -> PathBuf {
        Path::new(self.folder.path()).join(file)
    }

    /// Sends a request as it stands, which no client would tidy up.
    fn request(&self, host: &str, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        stream
    }

    fn get(&self, path: &str) -> String {
        let mut response = String::new();
        self.request("localhost", path).read_to_string(&mut response).unwrap();
        response
    }

    fn events(&self) -> impl Iterator<Item = Value> + use<> {
        BufReader::new(self.request("localhost", "/__book/events"))
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| Some(serde_json::from_str(line.strip_prefix("data: ")?).unwrap()))
    }
}

/// The next status that the building settles on.
fn settled(events: &mut impl Iterator<Item = Value>) -> Value {
    events.find(|event| event["state"] != "building").expect("an event within the time")
}

#[test]
fn pages_are_served_with_the_live_script_and_never_kept() {
    let server = Server::start("hello");
    let page = server.get("/");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("cache-control: no-store"), "{page}");
    let script = page.find("<script src=\"/__book/live.js\" data-generation=").unwrap();
    assert!(page.find("hello").unwrap() < script && script < page.find("</body>").unwrap());
    let style = server.get("/style.css");
    assert!(style.contains("no-store") && !style.contains("script"), "{style}");
    let script = server.get("/__book/live.js");
    assert!(script.contains("text/javascript") && script.contains("EventSource"));
}

#[test]
fn an_unknown_page_is_the_books_404() {
    let page = Server::start("hello").get("/nowhere.html");
    assert!(page.starts_with("HTTP/1.1 404"), "{page}");
    assert!(page.contains("no such page") && page.contains("live.js"), "{page}");
}

#[test]
fn nothing_outside_the_site_is_served() {
    let server = Server::start("hello");
    assert_eq!(fs::read_to_string(server.path("secret")).unwrap(), "hush");
    for path in [
        "/../secret",
        "/..%2fsecret",
        "/%2e%2e/secret",
        "/%2e%2e%2fsecret",
        "/style.css/../../secret",
        "/..%5csecret",
        "//secret",
        "/%00../secret",
    ] {
        let answer = server.get(path);
        assert!(!answer.contains("hush"), "{path}: {answer}");
        assert!(!answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

#[test]
fn only_this_machine_is_answered() {
    let server = Server::start("hello");
    assert!(server.address.ip().is_loopback());
    for path in ["/", "/__book/events", "/__book/live.js"] {
        let mut answer = String::new();
        server.request("evil.example", path).read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
        assert!(!answer.contains("hello"));
    }
}

#[test]
fn a_change_rebuilds_and_tells_the_pages() {
    let server = Server::start("hello");
    let mut events = server.events();
    let first = settled(&mut events);
    assert_eq!(first["state"], "ready");
    assert!(server.get("/").contains(first["generation"].as_str().unwrap()));
    server.write("book/page.md", "changed");
    let second = settled(&mut events);
    assert_eq!(second["state"], "ready");
    assert_ne!(first["generation"], second["generation"]);
    assert!(server.get("/").contains("changed"));
}

#[test]
fn an_error_is_shown_and_healed() {
    let server = Server::start("hello");
    let mut events = server.events();
    let good = settled(&mut events);
    server.write("book/page.md", "broken");
    let error = settled(&mut events);
    assert_eq!(error["state"], "error");
    assert_eq!(error["problems"][0]["place"], "book/page.md:1");
    assert_eq!(error["problems"][0]["message"], "a <broken> word");
    assert!(server.get("/").contains("hello"), "the last good page is served on");
    server.write("book/page.md", "panic");
    let panicked = settled(&mut events);
    assert_eq!(panicked["state"], "error");
    assert!(panicked["problems"][0]["message"].as_str().unwrap().contains("told to"));
    server.write("book/page.md", "mended");
    let healed = settled(&mut events);
    assert_eq!(healed["state"], "ready");
    assert_ne!(healed["generation"], good["generation"]);
    assert!(server.get("/").contains("mended"));
}

#[test]
fn without_a_first_build_a_page_says_why_and_recovers() {
    let server = Server::start("broken");
    let page = server.get("/any/page.html");
    assert!(page.starts_with("HTTP/1.1 503"), "{page}");
    assert!(page.contains("book/page.md:1: a &lt;broken> word; mend it"), "{page}");
    assert!(page.contains("data-generation=\"\""), "any good build reloads it: {page}");
    let mut events = server.events();
    assert_eq!(settled(&mut events)["state"], "error");
    server.write("book/page.md", "hello");
    assert_eq!(settled(&mut events)["state"], "ready");
    assert!(server.get("/").contains("hello"));
}

#[test]
fn a_change_to_code_is_compiled_and_the_program_restarted() {
    let server = Server::start("hello");
    let mut events = server.events();
    let first = settled(&mut events);
    server.write("crates/lib.rs", "bad");
    let failed = settled(&mut events);
    assert_eq!(failed["problems"][0]["place"], "crates/lib.rs:1");
    assert_eq!(failed["generation"], first["generation"], "the pages are as they were");
    server.write("crates/lib.rs", "new");
    assert_eq!(server.restarts.recv_timeout(PATIENCE).unwrap(), server.address);
    let failed = settled(&mut events);
    let message = failed["problems"][0]["message"].as_str().unwrap();
    assert!(message.contains("cannot be started anew: not in a test"), "{message}");
    server.write("crates/lib.rs", "comment");
    let healed = events.find(|event| event["problems"] == serde_json::json!([])).unwrap();
    assert_eq!(healed["state"], "ready");
}

#[test]
fn a_taken_port_names_the_remedy() {
    let server = Server::start("hello");
    let port = server.address.port();
    let options = Options { port, site: server.path("site"), watched: Watched::default() };
    let (sender, _receiver) = mpsc::channel();
    let fake =
        Fake { root: server.path(""), served: sender.clone().into(), restarts: sender.into() };
    let error = run(options, Arc::new(fake)).unwrap_err();
    assert!(matches!(error, ServeError::Taken(taken) if taken == port));
    assert!(error.to_string().contains("--port"), "{error}");
}
