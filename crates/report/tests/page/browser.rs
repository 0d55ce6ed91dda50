//! A headless Chromium, spoken to in the DevTools protocol over a pipe: no port is opened, and no library is needed.
//!
//! `--remote-debugging-pipe` reads commands from descriptor 3 and writes answers and events to 4, each a JSON text that ends
//! with a zero byte; a shell ties these to the child's standard input and output. Source: the protocol's own description,
//! chromedevtools.github.io/devtools-protocol.

use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A browser on a loaded machine may be slow; one that says nothing for so long is stuck.
const PATIENCE: Duration = Duration::from_secs(90);

/// Codes of keys that browsers act on by themselves, as Windows numbers them.
const KEY_CODES: [(&str, u32); 10] = [
    ("Tab", 9),
    ("Enter", 13),
    (" ", 32),
    ("PageUp", 33),
    ("PageDown", 34),
    ("End", 35),
    ("Home", 36),
    ("ArrowLeft", 37),
    ("ArrowRight", 39),
    ("ArrowDown", 40),
];

/// A running browser.
pub struct Browser {
    child: Child,
    commands: RefCell<ChildStdin>,
    messages: Receiver<Value>,
    events: RefCell<Vec<Value>>,
    number: RefCell<u64>,
    /// Its profile, removed with it.
    _folder: TempDir,
}

impl Browser {
    /// Starts a browser with an empty profile of its own.
    pub fn start() -> Browser {
        let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 >/dev/null 2>&1", "sh", &program])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--remote-debugging-pipe", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = RefCell::new(child.stdin.take().unwrap());
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut text = Vec::new();
            while answers.read_until(0, &mut text).is_ok_and(|bytes| bytes > 0) {
                text.pop();
                let Ok(message) = serde_json::from_slice(&text) else { return };
                if sender.send(message).is_err() {
                    return;
                }
                text.clear();
            }
        });
        let events = RefCell::default();
        Browser { child, commands, messages, events, number: RefCell::new(0), _folder: folder }
    }

    /// Carries out a command and returns its result.
    pub fn command(&self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        self.answer(session, method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The result of a command, or the browser's error.
    fn answer(&self, session: Option<&str>, method: &str, parameters: Value) -> Result<Value, Value> {
        let number = *self.number.borrow() + 1;
        *self.number.borrow_mut() = number;
        let mut command = json!({ "id": number, "method": method, "params": parameters });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        let sent = self.commands.borrow_mut().write_all(format!("{command}\0").as_bytes());
        sent.unwrap_or_else(|error| panic!("{method}: {error}; {}", Self::WHERE_FROM));
        loop {
            let message = self.messages.recv_timeout(PATIENCE);
            let mut message =
                message.unwrap_or_else(|error| panic!("{method}: no answer ({error}); {}", Self::WHERE_FROM));
            if message["id"] == number {
                let error = message["error"].take();
                return if error.is_null() { Ok(message["result"].take()) } else { Err(error) };
            }
            self.events.borrow_mut().push(message);
        }
    }

    /// What to do where there is no browser.
    const WHERE_FROM: &str =
        "these tests need Chromium: scripts/setup.sh check installs it, and CHROMIUM names another one";

    /// Opens `url` in a page of its own and waits until it says that it is drawn.
    pub fn open(&self, url: &str) -> Page<'_> {
        let target = self.command(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let target = target["targetId"].as_str().unwrap().to_owned();
        let attached = json!({ "targetId": target, "flatten": true });
        let attached = self.command(None, "Target.attachToTarget", attached);
        let page =
            Page { browser: self, session: attached["sessionId"].as_str().unwrap().to_owned(), target };
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"] {
            page.command(&format!("{domain}.enable"), json!({}));
        }
        let size = json!({ "width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        page.command("Emulation.setDeviceMetricsOverride", size);
        page.command("Page.navigate", json!({ "url": url }));
        page.wait_for("document.documentElement.dataset.state !== undefined");
        assert_eq!(
            page.text_of("document.documentElement.dataset.state"),
            "ready",
            "{:?}",
            page.complaints()
        );
        page
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closing the pipe ends the browser too; this asks it first. A browser that is gone already has ended.
        let _ = self.commands.borrow_mut().write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A test's name, which is the law it proves, and the test.
pub type Test = (&'static str, fn(&Browser));

/// A page in a browser.
pub struct Page<'b> {
    browser: &'b Browser,
    session: String,
    target: String,
}

impl Page<'_> {
    /// Carries out a command on this page.
    pub fn command(&self, method: &str, parameters: Value) -> Value {
        self.browser.command(Some(&self.session), method, parameters)
    }

    /// The value of an expression in the page.
    pub fn value(&self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.command("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// The text that an expression gives.
    pub fn text_of(&self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_else(|| panic!("{expression} gives no text")).to_owned()
    }

    /// The visible text of the first element that `selector` finds.
    pub fn text(&self, selector: &str) -> String {
        self.text_of(&format!("document.querySelector({}).innerText", json!(selector)))
    }

    /// The cells of the table that `selector` finds, row by row, as a reader sees them; notes under rows left out.
    pub fn table(&self, selector: &str) -> Vec<Vec<String>> {
        let rows = format!(
            "[...document.querySelector({}).querySelectorAll(':scope tbody tr:not(.under)')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))",
            json!(selector)
        );
        serde_json::from_value(self.value(&rows)).unwrap()
    }

    /// Presses and releases a key, then waits until the page has drawn.
    pub fn press(&self, key: &str) {
        let code = KEY_CODES.iter().find(|(name, _)| *name == key).map_or(0, |(_, code)| *code);
        let text = match key {
            "Enter" => "\r",
            _ if key.chars().count() == 1 => key,
            _ => "",
        };
        let event =
            |kind: &str| json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code });
        self.command("Input.dispatchKeyEvent", event("keyDown"));
        self.command("Input.dispatchKeyEvent", event("keyUp"));
        self.settle();
    }

    /// Clicks at a place of the window, in pixels, then waits until the page has drawn.
    pub fn click(&self, x: f64, y: f64) {
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.command("Input.dispatchMouseEvent", event);
        }
        self.settle();
    }

    /// Waits for two frames: what was due is drawn.
    pub fn settle(&self) {
        self.value(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
        );
    }

    /// Waits until `condition` holds; while a document makes way for the next one there may be nothing to ask.
    fn wait_for(&self, condition: &str) {
        let deadline = Instant::now() + PATIENCE;
        let ask = || {
            let parameters = json!({ "expression": condition, "returnByValue": true });
            self.browser.answer(Some(&self.session), "Runtime.evaluate", parameters)
        };
        while !ask().is_ok_and(|answer| answer["result"]["value"] == true) {
            assert!(Instant::now() < deadline, "still not: {condition}; {:?}", self.complaints());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What went wrong in the page: exceptions, messages on the console, and requests beyond the file itself.
    pub fn complaints(&self) -> Vec<String> {
        let events = self.browser.events.borrow();
        let of_page = events.iter().filter(|event| event["sessionId"] == self.session.as_str());
        let complaint = |event: &Value| match event["method"].as_str() {
            // A hint about reading pixels often is for the tests, which do.
            Some("Log.entryAdded") if event["params"]["entry"]["source"] == "rendering" => None,
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                Some(event["params"].to_string())
            }
            Some("Network.requestWillBeSent") if event["params"]["type"] != "Document" => {
                Some(format!("asks for {}", event["params"]["request"]["url"]))
            }
            _ => None,
        };
        of_page.filter_map(complaint).collect()
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let complaints = self.complaints();
            assert!(complaints.is_empty(), "the page complains: {complaints:#?}");
            self.browser.command(None, "Target.closeTarget", json!({ "targetId": self.target }));
        }
    }
}
