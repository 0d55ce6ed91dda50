//! Profiles written as pages and opened, and what the tests expect to find there, counted anew from the profile.

use crate::browser::{Browser, Page};
use crate::synthetic::{locate, plan, single, source_line, tuned, untuned};
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::{Accesses, Profile};
use olifant_report::Comparison;
use olifant_report::page::{self, PageRun, PageTuning};
use tempfile::TempDir;

/// An open page and the folder of its file.
pub struct Shown<'b> {
    pub page: Page<'b>,
    _folder: TempDir,
}

/// The page of one profile.
pub fn profile<'b>(browser: &'b Browser, profile: &Profile) -> Shown<'b> {
    let map = GranuleMap::of(profile);
    let run = PageRun { profile, map: &map, locate: &locate };
    open(browser, &page::Page { run, tuning: None, source_line: &source_line }.html())
}

/// The page of the synthetic tuning.
pub fn tuning(browser: &Browser) -> Shown<'_> {
    let (before, after, single, plan) = (untuned(), tuned(), single(), plan());
    let report = Comparison {
        untuned: (&before, None),
        tuned: Some((&after, None)),
        single: Some(&single),
        plan: (&plan, None),
        because: None,
        source_line: &source_line,
    }
    .report();
    let (map_before, map_after) = (GranuleMap::of(&before), GranuleMap::of(&after));
    let tuned = Some(PageRun { profile: &after, map: &map_after, locate: &locate });
    let page = page::Page {
        run: PageRun { profile: &before, map: &map_before, locate: &locate },
        tuning: Some(PageTuning { report: &report, plan: &plan, tuned }),
        source_line: &source_line,
    };
    open(browser, &page.html())
}

fn open<'b>(browser: &'b Browser, html: &str) -> Shown<'b> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, html).unwrap();
    Shown { page: browser.open(&format!("file://{}", path.display())), _folder: folder }
}

/// `12,345`, by hand.
pub fn grouped(number: u64) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}

/// Local and remote transactions of those counters that `counts` lets pass.
pub fn sums(profile: &Profile, counts: impl Fn(u32, u64, &Accesses) -> bool) -> (u64, u64) {
    let (mut local, mut remote) = (0, 0);
    for granule in &profile.granules {
        for by in granule.by.iter().filter(|by| counts(granule.area, granule.index, by)) {
            let count = by.reads + by.writes + by.upgrades + by.write_backs;
            *if by.node == granule.home { &mut local } else { &mut remote } += count;
        }
    }
    (local, remote)
}
