//! The page in a real browser: what a reader sees equals the profile, keys do all that the mouse does, nothing complains.
//!
//! One headless Chromium serves all tests, one page each. Every page that closes is checked for exceptions, messages on the
//! console and requests to anywhere. Where there is no Chromium the tests fail and say how to get it.

#![allow(clippy::unwrap_used, reason = "a helper that cannot set up its test should fail it there")]

mod browser;
mod content;
mod heat_map;
mod reading;
mod shown;
#[path = "../reports/synthetic.rs"]
mod synthetic;

use browser::{Browser, Test};
use libtest_mimic::{Arguments, Trial};
use std::sync::{Arc, Mutex};

fn main() {
    let mut arguments = Arguments::from_args();
    // They share a browser, and its answers come one after another.
    arguments.test_threads = Some(1);
    let shared: Arc<Mutex<Option<Browser>>> = Arc::default();
    let tests = content::TESTS.iter().chain(heat_map::TESTS).chain(reading::TESTS);
    let trial = |(name, test): &Test| {
        let (shared, test) = (shared.clone(), *test);
        Trial::test(*name, move || {
            // A test that failed has spoiled nothing: each has a page of its own.
            let mut shared = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            test(shared.get_or_insert_with(Browser::start));
            Ok(())
        })
    };
    let trials = tests.map(trial).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(shared);
    conclusion.exit();
}
