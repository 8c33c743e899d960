//! KaTeX's stylesheet and fonts, so that no page asks another host for them:
//! fetched once through npm, which checks them against the lockfile, and put
//! among the chapters' files, from where mdBook copies them to the site.
//! Rendering the formulas is mdbook-katex's part.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::problem::{Problem, Problems};
use crate::project::Project;

/// The version that mdbook-katex renders with: its markup and this stylesheet
/// belong together.
pub const KATEX_VERSION: &str = "0.16.4";

/// The one address on another host that a page may ask for, where the
/// stylesheet is not on the site.
pub(crate) const LINKED: &str = "https://cdn.jsdelivr.net/npm/katex@0.16.4/dist/katex.min.css";

/// The SHA-384 of that file, `dist/katex.min.css` in the npm package.
const INTEGRITY: &str = "sha384-vKruj+a13U8yHIkAyGgK1J3ArTLzrFGBbBc0tDp4ad/EyewESeXE/Iv67Aj8gKZ0";

const STYLESHEET: &str = "katex.min.css";
const STAMP: &str = "VERSION";

/// Where pages find KaTeX's stylesheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Katex {
    /// On the site itself, under `katex/`.
    Hosted,
    /// On a content delivery network, with an integrity hash.
    Linked {
        /// Why it is not on the site.
        reason: String,
    },
}

impl Katex {
    /// What stands at the top of a chapter with formulas: a `<link>` where the
    /// stylesheet is not on the site, nothing where it is, for then the theme
    /// links `katex/katex.min.css`.
    #[must_use]
    pub fn stylesheet(&self) -> String {
        match self {
            Katex::Hosted => String::new(),
            Katex::Linked { .. } => format!(
                "<link rel=\"stylesheet\" href=\"{LINKED}\" integrity=\"{INTEGRITY}\" \
                 crossorigin=\"anonymous\">\n\n"
            ),
        }
    }
}

/// Puts KaTeX's stylesheet and fonts among the chapters' files where they are
/// missing or of another version; they are fetched with `npm ci`, in the folder
/// above the chapters. Where that cannot be done, says so once and falls back
/// on linking the stylesheet; a later run puts it right.
///
/// # Errors
///
/// `package.json` pins another version of KaTeX, or the files cannot be
/// written.
pub fn katex(project: &Project) -> Result<Katex, Problems> {
    // One attempt a process: a server that rebuilds offline should not wait for
    // npm each time, nor repeat itself.
    static FALLBACKS: Mutex<Option<HashMap<PathBuf, Katex>>> = Mutex::new(None);
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let home = Home {
        root: project.root().to_owned(),
        source: project.source(),
        target: project.target().to_owned(),
        npm: vec![npm.into()],
    };
    if home.is_current() {
        return Ok(Katex::Hosted);
    }
    let mut fallbacks = FALLBACKS.lock().unwrap_or_else(PoisonError::into_inner);
    let fallbacks = fallbacks.get_or_insert_default();
    if let Some(katex) = fallbacks.get(project.root()) {
        return Ok(katex.clone());
    }
    let katex = home.provide()?;
    if let Katex::Linked { reason } = &katex {
        eprintln!(
            "KaTeX's stylesheet is linked from a content delivery network, not part of the site: \
             {reason}"
        );
        fallbacks.insert(project.root().to_owned(), katex.clone());
    }
    Ok(katex)
}

/// Where the files come from and go to.
struct Home {
    root: PathBuf,
    source: PathBuf,
    target: PathBuf,
    /// The program to run, and what comes before npm's own arguments.
    npm: Vec<OsString>,
}

impl Home {
    /// The folder that npm installs into.
    fn package(&self) -> &Path {
        self.source.parent().unwrap_or(&self.root)
    }

    fn installed(&self) -> PathBuf {
        self.package().join("node_modules/katex")
    }

    fn destination(&self) -> PathBuf {
        self.source.join("katex")
    }

    /// The stamp is written before the folder takes its place, so it vouches
    /// for the whole of it.
    fn is_current(&self) -> bool {
        fs::read_to_string(self.destination().join(STAMP))
            .is_ok_and(|version| version.trim() == KATEX_VERSION)
    }

    fn provide(&self) -> Result<Katex, Problems> {
        let manifest = self.package().join("package.json");
        if !manifest.is_file() {
            let reason = format!("there is no {} to fetch it with", self.shown(&manifest));
            return Ok(Katex::Linked { reason });
        }
        self.check_pin(&manifest)?;
        // Two runs at once would install over each other.
        let _lock = self.lock().map_err(|error| self.unwritable(&self.target, &error))?;
        if self.is_current() {
            return Ok(Katex::Hosted);
        }
        if installed_version(&self.installed()).as_deref() != Some(KATEX_VERSION)
            && let Err(reason) = self.install()
        {
            self.stand_in().map_err(|error| self.unwritable(&self.destination(), &error))?;
            return Ok(Katex::Linked { reason });
        }
        self.place().map_err(|error| self.unwritable(&self.destination(), &error))?;
        Ok(Katex::Hosted)
    }

    fn check_pin(&self, manifest: &Path) -> Result<(), Problem> {
        let file = self.relative(manifest);
        let text = fs::read_to_string(manifest)
            .map_err(|error| Problem::in_file(&file, format!("cannot be read: {error}")))?;
        let json: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| Problem::at(&file, error.line(), format!("not JSON: {error}")))?;
        let pin = json["dependencies"]["katex"].as_str();
        if pin == Some(KATEX_VERSION) {
            return Ok(());
        }
        let line = text.lines().position(|line| line.contains("\"katex\"")).map(|index| index + 1);
        let message = match pin {
            Some(pin) => format!("pins KaTeX {pin}, but formulas are rendered by {KATEX_VERSION}"),
            None => "does not pin KaTeX".to_owned(),
        };
        Err(Problem { line, ..Problem::in_file(file, message) }.hint(format!(
            "set `\"katex\": \"{KATEX_VERSION}\"` under \"dependencies\" and run `npm install` \
             there"
        )))
    }

    /// A lock that lasts as long as the file returned.
    fn lock(&self) -> io::Result<File> {
        fs::create_dir_all(&self.target)?;
        let file = File::create(self.target.join("katex.lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn install(&self) -> Result<(), String> {
        eprintln!("fetching KaTeX {KATEX_VERSION} (npm ci)");
        let result = Command::new(&self.npm[0])
            .args(&self.npm[1..])
            .args(["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"])
            .args(["--prefer-offline", "--loglevel=error"])
            // Without a network, fail soon.
            .args(["--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-timeout=30000"])
            .current_dir(self.package())
            .stdin(Stdio::null())
            .output();
        let output = match result {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err("npm is not installed (it comes with Node.js)".to_owned());
            }
            Err(error) => return Err(format!("npm cannot be run: {error}")),
        };
        if !output.status.success() {
            return Err(format!("npm ci failed: {}", reason_of(&output.stderr)));
        }
        match installed_version(&self.installed()) {
            Some(version) if version == KATEX_VERSION => Ok(()),
            other => Err(format!(
                "npm ci installed KaTeX {}, not {KATEX_VERSION}; run `npm install` in {}",
                other.as_deref().unwrap_or("nowhere"),
                self.shown(self.package())
            )),
        }
    }

    /// Copies the stylesheet and the fonts it asks for, and puts them in place
    /// as a whole.
    fn place(&self) -> io::Result<()> {
        let dist = self.installed().join("dist");
        let staging = tempfile::Builder::new().prefix(".katex-").tempdir_in(self.package())?;
        let new = staging.path().join("new");
        fs::create_dir_all(new.join("fonts"))?;
        let css = only_woff2(&fs::read_to_string(dist.join(STYLESHEET))?);
        fs::write(new.join(STYLESHEET), css)?;
        for font in fs::read_dir(dist.join("fonts"))? {
            let font = font?.path();
            if let (Some("woff2"), Some(name)) =
                (font.extension().and_then(OsStr::to_str), font.file_name())
            {
                fs::copy(&font, new.join("fonts").join(name))?;
            }
        }
        let licence = self.installed().join("LICENSE");
        if licence.is_file() {
            fs::copy(licence, new.join("LICENSE"))?;
        }
        fs::write(new.join(STAMP), format!("{KATEX_VERSION}\n"))?;
        let destination = self.destination();
        match fs::rename(&destination, staging.path().join("old")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(new, destination)
    }

    /// An empty stylesheet, without the stamp, for the theme's link not to lead
    /// nowhere.
    fn stand_in(&self) -> io::Result<()> {
        let stylesheet = self.destination().join(STYLESHEET);
        if stylesheet.exists() {
            return Ok(());
        }
        fs::create_dir_all(self.destination())?;
        fs::write(stylesheet, "/* Stands in for KaTeX's, which pages link from elsewhere. */\n")
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }

    fn shown(&self, path: &Path) -> String {
        self.relative(path).display().to_string()
    }

    fn unwritable(&self, path: &Path, error: &io::Error) -> Problem {
        Problem::in_file(self.relative(path), format!("KaTeX cannot be put here: {error}"))
            .hint("make the folder writable and see that the disk is not full")
    }
}

fn installed_version(package: &Path) -> Option<String> {
    let text = fs::read_to_string(package.join("package.json")).ok()?;
    let json: serde_json::Value = serde_json::from_str(&text).ok()?;
    json["version"].as_str().map(str::to_owned)
}

/// The line of npm's complaint that says why.
fn reason_of(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(|line| {
        line.trim_start_matches("npm ")
            .trim_start_matches("error")
            .trim_start_matches("ERR!")
            .trim()
    });
    // First come machine-readable codes, last the whereabouts of a log.
    let codes = ["code ", "errno ", "syscall ", "path ", "A complete log"];
    lines
        .filter(|line| !line.is_empty() && !codes.iter().any(|code| line.starts_with(code)))
        .map(str::to_owned)
        .next()
        .unwrap_or_else(|| "it gave no reason".to_owned())
}

/// The stylesheet without the font formats that only outdated browsers need.
fn only_woff2(css: &str) -> String {
    let mut rest = css;
    let mut kept = String::with_capacity(css.len());
    while let Some(start) = rest.find(",url(") {
        let (before, source) = rest.split_at(start);
        kept.push_str(before);
        let end = source[1..].find([',', ';', '}']).map_or(source.len(), |at| at + 1);
        if source[..end].contains(".woff2") {
            kept.push_str(&source[..end]);
        }
        rest = &source[end..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    const CSS: &str = "@font-face{font-family:A;src:url(fonts/A.woff2) format(\"woff2\"),\
        url(fonts/A.woff) format(\"woff\"),url(fonts/A.ttf) format(\"truetype\")}.katex{top:0}";

    /// A book whose `npm` is a script of ours: it notes that it was called and
    /// then does as told.
    fn home(script: &str) -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let source = root.join("book/src");
        fs::create_dir_all(&source).unwrap();
        let manifest = format!("{{\n\"dependencies\": {{\n\"katex\": \"{KATEX_VERSION}\"}}}}");
        fs::write(root.join("book/package.json"), manifest).unwrap();
        let npm = root.join("npm");
        fs::write(&npm, format!("echo called >> ../calls\n{script}")).unwrap();
        let target = root.join("target");
        (folder, Home { root, source, target, npm: vec!["sh".into(), npm.into()] })
    }

    fn install_script(version: &str) -> String {
        format!(
            "mkdir -p node_modules/katex/dist/fonts && cd node_modules/katex\n\
             echo '{{\"version\": \"{version}\"}}' > package.json\n\
             for f in A.woff2 A.woff A.ttf; do echo $f > dist/fonts/$f; done\n\
             cat > dist/katex.min.css <<'CSS'\n{CSS}\nCSS\n"
        )
    }

    fn calls(home: &Home) -> usize {
        fs::read_to_string(home.root.join("calls")).map_or(0, |text| text.lines().count())
    }

    #[test]
    fn what_npm_installs_is_put_among_the_chapters_with_woff2_only() {
        let (_folder, home) = home(&install_script(KATEX_VERSION));
        assert!(!home.is_current());
        assert_eq!(home.provide(), Ok(Katex::Hosted));
        let katex = home.source.join("katex");
        assert_eq!(
            fs::read_to_string(katex.join("katex.min.css")).unwrap().trim(),
            "@font-face{font-family:A;src:url(fonts/A.woff2) format(\"woff2\")}.katex{top:0}"
        );
        let fonts: Vec<_> = fs::read_dir(katex.join("fonts"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(fonts, ["A.woff2"]);
        assert!(home.is_current());
        assert_eq!(home.provide(), Ok(Katex::Hosted));
        assert_eq!(calls(&home), 1, "what is there is not fetched again");
        let left: Vec<_> = fs::read_dir(home.package())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name.to_string_lossy().starts_with('.'))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn another_version_is_replaced() {
        let (_folder, home) = home(&install_script(KATEX_VERSION));
        let katex = home.source.join("katex");
        fs::create_dir_all(&katex).unwrap();
        fs::write(katex.join(STAMP), "0.15.0\n").unwrap();
        fs::write(katex.join("old.css"), "").unwrap();
        assert_eq!(home.provide(), Ok(Katex::Hosted));
        assert!(!katex.join("old.css").exists());
    }

    #[test]
    fn an_installed_package_needs_no_npm() {
        let (_folder, mut home) = home(&install_script(KATEX_VERSION));
        home.install().unwrap();
        home.npm = vec!["no-such-npm-anywhere".into()];
        assert_eq!(home.provide(), Ok(Katex::Hosted));
    }

    #[test]
    fn without_npm_the_stylesheet_is_linked_and_a_later_run_heals_it() {
        let (_folder, mut home) = home(&install_script(KATEX_VERSION));
        let npm = std::mem::replace(&mut home.npm, vec!["no-such-npm-anywhere".into()]);
        let katex = home.provide().unwrap();
        let Katex::Linked { reason } = &katex else { panic!("{katex:?}") };
        assert!(reason.contains("npm is not installed"), "{reason}");
        let link = katex.stylesheet();
        assert!(link.contains("integrity=\"sha384-") && link.contains("crossorigin"), "{link}");
        assert!(link.contains(&format!("katex@{KATEX_VERSION}/")), "{link}");
        let stylesheet = home.source.join("katex/katex.min.css");
        assert!(fs::read_to_string(&stylesheet).unwrap().starts_with("/*"));
        home.npm = npm;
        assert_eq!(home.provide(), Ok(Katex::Hosted));
        assert!(fs::read_to_string(&stylesheet).unwrap().contains("@font-face"));
        assert_eq!(Katex::Hosted.stylesheet(), "");
    }

    #[test]
    fn npms_reason_is_passed_on() {
        let (_folder, home) = home(
            "echo 'npm error code EAI_AGAIN' >&2\necho 'npm error request failed: no network' >&2\n\
             exit 1",
        );
        let reason = "npm ci failed: request failed: no network".to_owned();
        assert_eq!(home.provide(), Ok(Katex::Linked { reason }));
    }

    #[test]
    fn an_install_of_another_version_is_refused() {
        let (_folder, home) = home(&install_script("0.17.0"));
        let Ok(Katex::Linked { reason }) = home.provide() else { panic!("linked expected") };
        assert!(reason.contains("0.17.0"), "{reason}");
    }

    #[test]
    fn a_wrong_pin_is_reported_with_its_line() {
        let (_folder, home) = home("");
        let manifest = "{\n  \"dependencies\": {\n    \"katex\": \"^0.17.0\"\n  }\n}\n";
        fs::write(home.package().join("package.json"), manifest).unwrap();
        let problems = home.provide().unwrap_err().to_string();
        assert!(problems.starts_with("book/package.json:3: pins KaTeX ^0.17.0"), "{problems}");
        assert_eq!(calls(&home), 0);
    }

    #[test]
    fn a_book_without_npm_packages_links() {
        let (_folder, home) = home("");
        fs::remove_file(home.package().join("package.json")).unwrap();
        assert!(matches!(home.provide(), Ok(Katex::Linked { .. })));
        assert_eq!(calls(&home), 0);
    }

    #[test]
    fn runs_at_once_install_once() {
        let (_folder, home) = home(&format!("sleep 0.1\n{}", install_script(KATEX_VERSION)));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(home.provide(), Ok(Katex::Hosted)));
            }
        });
        assert_eq!(calls(&home), 1);
    }

    #[test]
    fn a_stylesheet_may_end_in_a_source() {
        assert_eq!(only_woff2("src:url(a.woff2),url(a.woff)"), "src:url(a.woff2)");
        assert_eq!(only_woff2("src:url(a.eot),url(a.woff2);x"), "src:url(a.eot),url(a.woff2);x");
    }
}
