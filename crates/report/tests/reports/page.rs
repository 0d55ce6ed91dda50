//! The page as a file: whatever the profile, it stays small and asks for nothing. What it shows is tested in a browser,
//! in `../page`.

use crate::synthetic::untuned;
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::{Accesses, Granule, LineAccesses, Profile};
use olifant_report::page::{MOST_PAGE_BYTES, Page, PageRun};

fn page(profile: &Profile) -> String {
    let map = GranuleMap::of(profile);
    let run = PageRun { profile, map: &map, locate: &|_| None };
    Page { run, tuning: None, source_line: &|_, _| None }.html()
}

/// Digits without a pattern (Steele, Lea and Flood's SplitMix64): nothing that a page could shrink.
fn scattered(seed: u64) -> u64 {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 28
}

#[test]
fn no_page_is_larger_than_its_limit() {
    let mut profile = untuned();
    // Large counts that do not deflate, of many threads.
    let accesses = |index: u64, thread: u16| Accesses {
        thread,
        node: thread % 4,
        reads: scattered(index << 9 | u64::from(thread)),
        ..Accesses::default()
    };
    let by = |index: u64| (0..512).map(|thread| accesses(index, thread)).collect();
    profile.granules = (0..3_000).map(|index| Granule { area: 0, index, home: 4, by: by(index) }).collect();
    // Many areas with long names, each touched once.
    for number in 0..30_000_u32 {
        let mut area = profile.areas[2].clone();
        area.name = format!("{number} {}", "long_name_".repeat(40));
        profile.areas.push(area);
        let id = u32::try_from(profile.areas.len() - 1).unwrap();
        profile.granules.push(Granule { area: id, index: 0, home: 0, by: vec![accesses(0, 1)] });
    }
    // Many contested lines with many accessors.
    let line = profile.contested[0].clone();
    let by = |thread| LineAccesses { thread, read_mask: u64::MAX, ..line.by[0].clone() };
    let wide = olifant_opium::profile::ContestedLine { by: (0..512).map(by).collect(), ..line.clone() };
    profile.contested = vec![wide; 2_000];
    let html = page(&profile);
    assert!(html.len() < MOST_PAGE_BYTES, "{} bytes", html.len());
    assert!(html.contains("\"rest\":{\"areas\":"), "what is left out is summed up");
}

#[test]
fn a_page_names_no_address_to_fetch_from() {
    let html = page(&untuned());
    // The name of SVG's vocabulary is an address that nobody fetches.
    let text = html.replace("http://www.w3.org/2000/svg", "");
    for forbidden in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!text.contains(forbidden), "{forbidden}");
    }
    assert!(text.contains("default-src 'none'"), "its policy forbids fetching");
}

#[test]
fn the_same_profile_gives_the_same_page() {
    assert_eq!(page(&untuned()), page(&untuned()));
}
