//! A headless browser, driven by the WebDriver protocol: HTTP requests to `chromedriver`.
//!
//! In: a user's actions. Out: the state of the page. The browser's files are in a temporary folder, which is removed with
//! it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Browsers run one at a time, because drawing times are measured.
static ONE: Mutex<()> = Mutex::new(());

/// A browser with one page.
pub struct Browser {
    driver: Child,
    /// Kept open, because the driver may write more output.
    _output: BufReader<ChildStdout>,
    port: u16,
    session: String,
    folder: PathBuf,
    _one: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts a browser with a window of this size. The error names the missing program.
    pub fn start(width: u32, height: u32) -> Result<Browser, String> {
        let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let driver = program("chromedriver")?;
        let chromium = program("chromium")?;
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let (port, output) = port_of(driver.stdout.take().expect("the driver's output is read"));
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("azulejo-explorer-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the browser");
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            &format!("--user-data-dir={}", folder.display()),
            &format!("--window-size={width},{height}"),
        ];
        let options = json!({ "binary": chromium, "args": arguments });
        let wanted = json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let mut browser =
            Browser { driver, _output: output, port, session: String::new(), folder, _one: one };
        let body = json!({ "capabilities": { "alwaysMatch": wanted } });
        let answer = browser.request("POST", "/session", &body);
        let id = answer["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}"));
        browser.session = format!("/session/{id}");
        browser.resize(width, height);
        Ok(browser)
    }

    /// Opens a page from a file.
    pub fn open(&self, page: &Path) {
        self.post("/url", json!({ "url": format!("file://{}", page.display()) }));
    }

    /// Writes a page into a file of the browser's folder and opens it.
    pub fn open_text(&self, name: &str, page: &str) {
        let file = self.folder.join(format!("{name}.html"));
        std::fs::write(&file, page).expect("the page is written");
        self.open(&file);
    }

    /// Resizes the window's viewport.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.chrome("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sets the preferred colour scheme, light or dark.
    pub fn prefer(&self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.chrome("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
    }

    /// Runs a script's body in the page, and returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// The texts that a script returns.
    pub fn texts(&self, script: &str) -> Vec<String> {
        let value = self.run(script);
        let list = value.as_array().unwrap_or_else(|| panic!("`{script}` gives {value}"));
        list.iter().map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_string)).collect()
    }

    /// The numbers that a script returns.
    pub fn numbers(&self, script: &str) -> Vec<u32> {
        self.texts(script).iter().map(|text| text.trim().parse().expect("a number")).collect()
    }

    /// Moves the pointer to the middle of the first element that matches a selector.
    pub fn point_at(&self, selector: &str) {
        let (x, y) = self.middle(selector);
        self.point(x, y, false);
    }

    /// Clicks the middle of the first element that matches a selector.
    pub fn click(&self, selector: &str) {
        let (x, y) = self.middle(selector);
        self.point(x, y, true);
    }

    /// Moves the pointer, and clicks if `clicks` is set.
    pub fn point(&self, x: i64, y: i64, clicks: bool) {
        let mut actions =
            vec![json!({ "type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport" })];
        if clicks {
            actions.push(json!({ "type": "pointerDown", "button": 0 }));
            actions.push(json!({ "type": "pointerUp", "button": 0 }));
        }
        let pointer = json!({ "type": "pointer", "id": "mouse", "actions": actions });
        self.post("/actions", json!({ "actions": [pointer] }));
    }

    /// Presses keys one after another: characters, or special keys by their WebDriver codes.
    pub fn press(&self, keys: &str) {
        let strokes = keys.chars().flat_map(|key| {
            let key = key.to_string();
            [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
        });
        let strokes: Vec<Value> = strokes.collect();
        self.post("/actions", json!({ "actions": [{ "type": "key", "id": "keys", "actions": strokes }] }));
    }

    /// The errors and warnings on the console.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", json!({ "type": "browser" }));
        let entries = log.as_array().cloned().unwrap_or_default();
        let bad =
            entries.iter().filter(|entry| matches!(entry["level"].as_str(), Some("SEVERE" | "WARNING")));
        bad.map(|entry| entry["message"].to_string()).collect()
    }

    /// A screenshot of the window, in PNG.
    pub fn picture(&self) -> Vec<u8> {
        let answer = self.request("GET", &format!("{}/screenshot", self.session), &Value::Null);
        base64(answer.as_str().expect("a picture"))
    }

    fn middle(&self, selector: &str) -> (i64, i64) {
        let script = format!(
            "const box = document.querySelector({}).getBoundingClientRect();
             return [Math.round(box.x + Math.min(box.width, 400) / 2), Math.round(box.y + box.height / 2)];",
            json!(selector)
        );
        let at = self.run(&script);
        (at[0].as_i64().expect("a place"), at[1].as_i64().expect("a place"))
    }

    fn chrome(&self, command: &str, parameters: Value) {
        self.post("/goog/cdp/execute", json!({ "cmd": command, "params": parameters }));
    }

    fn post(&self, path: &str, body: Value) -> Value {
        self.request("POST", &format!("{}{path}", self.session), &body)
    }

    /// Sends a request and returns the value of the response.
    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).expect("the driver reads");
        let answer = answer(&mut BufReader::new(stream));
        let mut answer: Value = serde_json::from_slice(&answer).expect("the driver answers in JSON");
        let value = answer["value"].take();
        let is_error = value.get("error").is_some() && value.get("stacktrace").is_some();
        assert!(!is_error, "{method} {path}: {}", value["message"]);
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A second panic while unwinding would abort the process.
        if !std::thread::panicking() && !self.session.is_empty() {
            self.request("DELETE", &self.session, &Value::Null);
        } else if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let head = format!("DELETE {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", self.session, self.port);
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
            let _ = stream.read(&mut [0; 512]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A program's path.
fn program(name: &str) -> Result<PathBuf, String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| {
        format!("there is no {name} on this machine (Debian: apt-get install chromium chromium-driver)")
    })
}

/// The port that the driver prints when it starts to listen.
fn port_of(output: ChildStdout) -> (u16, BufReader<ChildStdout>) {
    let mut lines = BufReader::new(output);
    let mut line = String::new();
    while lines.read_line(&mut line).expect("the driver says its port") > 0 {
        if let Some((_, port)) = line.trim().trim_end_matches('.').rsplit_once("successfully on port ") {
            return (port.parse().expect("a port"), lines);
        }
        line.clear();
    }
    panic!("chromedriver ended before it listened");
}

/// Reads the body of a response.
fn answer(stream: &mut BufReader<TcpStream>) -> Vec<u8> {
    let mut length = 0;
    let mut line = String::new();
    while stream.read_line(&mut line).expect("the driver answers") > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().expect("a length");
        }
        line.clear();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("the whole answer");
    body
}

/// Decodes base 64.
fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bits, mut n_bits, mut out) = (0u32, 0, Vec::with_capacity(text.len() / 4 * 3));
    for value in text.bytes().filter_map(digit) {
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push((bits >> n_bits) as u8);
        }
    }
    out
}
