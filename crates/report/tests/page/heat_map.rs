//! The heat map: keys zoom from the whole heap to one line, and every cell says what the profile counted.

use crate::browser::{Browser, Page, Test};
use crate::shown::{self, grouped, sums};
use crate::synthetic::untuned;
use olifant_opium::profile::{Accesses, Granule, Profile};

/// The tests of this file.
pub const TESTS: &[Test] = &[
    ("keys_zoom_from_the_whole_heap_to_one_line", keys_zoom_to_one_line),
    ("every_cell_says_what_each_node_did", every_cell_says_what_each_node_did),
    ("rows_can_be_threads", rows_can_be_threads),
    ("a_cell_is_painted_where_it_was_reached_from_afar", a_cell_is_painted_where_it_was_reached),
    ("a_contested_line_is_found_in_the_map", a_contested_line_is_found_in_the_map),
    ("both_runs_of_a_tuning_stand_under_one_cursor", both_runs_stand_under_one_cursor),
    ("untouched_memory_takes_no_room", untouched_memory_takes_no_room),
    ("neighbouring_pixels_share_no_cell", neighbouring_pixels_share_no_cell),
    ("a_million_cells_keep_every_count", a_million_cells_keep_every_count),
    ("cells_too_many_for_a_page_are_joined_and_say_so", cells_too_many_are_joined),
];

/// Cells of the first area of the synthetic profile.
const PAGES: u64 = 64;

/// Focuses the map as a reader without a mouse does: from control to control.
fn tab_to_map(page: &Page<'_>) {
    for _ in 0..200 {
        page.press("Tab");
        if page.value("document.activeElement.id") == "heat" {
            return;
        }
    }
    panic!("200 tabs do not reach the heat map");
}

/// Bytes in view, as the page says: `256 KiB of 1.00 MiB shown`.
fn span(page: &Page<'_>) -> String {
    page.text("#heat-span").split(" of ").next().unwrap().to_owned()
}

/// The table at the cursor: accessor, remote and local transactions.
fn at_cursor(page: &Page<'_>) -> Vec<(String, String, String)> {
    let has_table = page.value("document.querySelector('#cursor table') !== null");
    let rows = if has_table == true { page.table("#cursor table") } else { Vec::new() };
    rows.into_iter().map(|row| (row[0].clone(), row[1].clone(), row[2].clone())).collect()
}

/// What the table at the cursor should say of a granule, by `accessor`.
fn expected(
    profile: &Profile,
    area: u32,
    granule: u64,
    kind: &str,
    accessor: impl Fn(&Accesses) -> u16,
) -> Vec<(String, String, String)> {
    let row = |id: u16| {
        let (local, remote) =
            sums(profile, |of, index, by| of == area && index == granule && accessor(by) == id);
        (local + remote > 0).then(|| (format!("{kind} {id}"), grouped(remote), grouped(local)))
    };
    (0..16).filter_map(row).collect()
}

fn keys_zoom_to_one_line(browser: &Browser) {
    let shown = shown::profile(browser, &untuned());
    let page = &shown.page;
    tab_to_map(page);
    let whole = span(page);
    // Two grids of 64 pages, a table, a line's worth of locks, a page of a stack.
    assert_eq!(whole, "520 KiB");
    let mut spans = vec![whole.clone()];
    for _ in 0..30 {
        page.press("+");
        spans.push(span(page));
    }
    spans.dedup();
    assert_eq!(spans.last().unwrap(), "32 B", "{spans:?}");
    assert!(spans.len() > 10, "{spans:?}");
    let said = page.text("#heat-live");
    assert!(said.starts_with("make_grids (grids.c:41) #0, bytes 0 to 4,095 of 262,144."), "{said}");
    page.press("-");
    assert_eq!(span(page), "64 B");
    page.press("0");
    assert_eq!(span(page), whole);
    page.press("n");
    assert_eq!(span(page), "256 KiB");
    page.press("n");
    assert!(page.text("#heat-live").starts_with("boundary_table, bytes 0 to 4,095 of 4,096."));
    page.press("p");
    assert!(page.text("#heat-live").starts_with("make_grids (grids.c:41) #1, bytes 0 to 4,095"));
}

fn every_cell_says_what_each_node_did(browser: &Browser) {
    let profile = untuned();
    let shown = shown::profile(browser, &profile);
    let page = &shown.page;
    page.value("document.querySelector('#areas button.go').click()");
    page.settle();
    assert_eq!(page.value("document.activeElement.id"), "heat");
    for granule in 0..PAGES {
        let said = page.text("#heat-live");
        let bytes = format!("bytes {} to {} of", grouped(granule * 4096), grouped(granule * 4096 + 4095));
        assert!(said.contains(&bytes), "{bytes} in {said}");
        assert!(said.contains(&format!("home node {}", granule % 4)), "{said}");
        assert_eq!(at_cursor(page), expected(&profile, 0, granule, "node", |by| by.node), "{granule}");
        page.press("ArrowRight");
    }
    assert!(page.text("#heat-live").starts_with("make_grids (grids.c:41) #1, bytes 0 to 4,095"));
}

fn rows_can_be_threads(browser: &Browser) {
    let profile = untuned();
    let shown = shown::profile(browser, &profile);
    let page = &shown.page;
    page.value("document.querySelector('#map input[value=node]').focus()");
    page.press("ArrowRight");
    assert_eq!(page.value("document.querySelector('#map input[value=thread]').checked"), true);
    page.value("document.querySelector('#areas button.go').click()");
    page.settle();
    assert_eq!(at_cursor(page), expected(&profile, 0, 0, "thread", |by| by.thread));
    page.press("ArrowDown");
    assert!(page.text("#heat-live").contains("thread 1: "));
}

fn a_cell_is_painted_where_it_was_reached(browser: &Browser) {
    let profile = untuned();
    let shown = shown::profile(browser, &profile);
    let page = &shown.page;
    page.value("document.querySelector('#areas button.go').click()");
    page.settle();
    // The middle of each cell, by the page's own measures: rows of 34 pixels begin at 75, the plot is 96 from the left and
    // 6 from the right.
    let painted = page.value(
        "(() => {
            const canvas = document.getElementById('heat');
            const context = canvas.getContext('2d');
            const wide = (canvas.width - 102) / 64;
            return Array.from({ length: 64 }, (_, cell) => [0, 1, 2, 3].map((row) =>
                context.getImageData(96 + (cell + 0.5) * wide, 75 + 34 * row + 17, 1, 1).data[3] > 0));
        })()",
    );
    for granule in 0..PAGES {
        for node in 0..4_u16 {
            let (_, remote) =
                sums(&profile, |area, index, by| area == 0 && index == granule && by.node == node);
            let is_painted = &painted[usize::try_from(granule).unwrap()][usize::from(node)];
            assert_eq!(*is_painted, remote > 0, "page {granule}, node {node}");
        }
    }
}

fn a_contested_line_is_found_in_the_map(browser: &Browser) {
    let shown = shown::profile(browser, &untuned());
    let page = &shown.page;
    page.value("document.querySelectorAll('#contested td button.go')[1].click()");
    page.settle();
    assert_eq!(span(page), "96 B");
    let said = page.text("#heat-live");
    assert!(said.contains("contested line at byte 32, mixed sharing, 412 transfers"), "{said}");
}

fn both_runs_stand_under_one_cursor(browser: &Browser) {
    let shown = shown::tuning(browser);
    let page = &shown.page;
    page.value("document.querySelector('#areas button.go').click()");
    page.settle();
    for _ in 0..17 {
        page.press("ArrowRight");
    }
    // Page 17 is used by node 1 alone; striped it lives there by chance, page 18 does not.
    assert!(page.text("#heat-live").contains("home node 1; after"), "{}", page.text("#heat-live"));
    page.press("ArrowRight");
    let rows = page.table("#cursor table");
    assert_eq!(rows, [["node 1", "8,660", "0", "0", "8,660"].map(String::from)]);
}

fn untouched_memory_takes_no_room(browser: &Browser) {
    let mut profile = untuned();
    // The last area becomes a mapping of a terabyte of which two far pages are used.
    let area = profile.areas.len() - 2;
    profile.areas[area].bytes = 1 << 40;
    let mut far = profile.granules.last().unwrap().clone();
    far.index = 200_000_000;
    profile.granules.push(far);
    let shown = shown::profile(browser, &profile);
    assert_eq!(span(&shown.page), "524 KiB");
    let index = shown.page.value(
        "[...document.querySelectorAll('#areas table tbody tr')].findIndex((row) => row.innerText.includes('stack of thread 3'))",
    );
    shown.page.value(&format!(
        "document.querySelectorAll('#areas table tbody tr')[{index}].querySelector('button').click()"
    ));
    shown.page.settle();
    shown.page.press("End");
    let said = shown.page.text("#heat-live");
    assert!(said.contains("bytes 819,200,000,000 to 819,200,004,095 of"), "{said}");
}

fn neighbouring_pixels_share_no_cell(browser: &Browser) {
    const GRANULES: u64 = 62_500;
    let mut profile = untuned();
    profile.areas.truncate(1);
    profile.areas[0].bytes = GRANULES * 4096;
    profile.contested.clear();
    let by = |index| vec![Accesses { thread: 5, node: 1, reads: index + 1, ..Accesses::default() }];
    profile.granules =
        (0..GRANULES).map(|index| Granule { area: 0, index, home: 0, by: by(index) }).collect();
    let shown = shown::profile(browser, &profile);
    let page = &shown.page;
    page.value("document.getElementById('map').scrollIntoView()");
    let corner = page.value("(() => { const { x, y } = document.getElementById('heat').getBoundingClientRect(); return [x, y]; })()");
    let (left, top) = (corner[0].as_f64().unwrap(), corner[1].as_f64().unwrap());
    let mut next = None;
    for x in 300..330_u32 {
        page.click(left + f64::from(x), top + 120.0);
        // `make_grids (grids.c:41), bytes 43,417,600 to 43,634,687 of 256,000,000.`
        let said = page.text("#heat-live").replace(',', "");
        let mut words = said.split(' ').skip_while(|word| *word != "bytes").skip(1);
        let first: u64 = words.next().unwrap().parse().unwrap();
        let last: u64 = words.nth(1).unwrap().parse().unwrap();
        assert!(next.is_none_or(|next| next == first), "{next:?} is not where {said} begins");
        next = Some(last + 1);
        // Page i was read i + 1 times.
        let sum: u64 = (first / 4096 + 1..=last / 4096 + 1).sum();
        assert_eq!(at_cursor(page), [("node 1".to_owned(), grouped(sum), "0".to_owned())]);
    }
}

fn a_million_cells_keep_every_count(browser: &Browser) {
    const GRANULES: u64 = 62_500;
    let mut profile = untuned();
    profile.areas.truncate(1);
    profile.areas[0].bytes = GRANULES * 4096;
    profile.contested.clear();
    let accesses = |index: u64, thread: u16| Accesses {
        thread,
        node: thread / 4,
        reads: (index * 7 + u64::from(thread) * 13) % 1_000,
        writes: index % 100,
        ..Accesses::default()
    };
    let home = |index: u64| u16::try_from(index % 4).unwrap();
    let by = |index: u64| (0..16).map(|thread| accesses(index, thread)).collect();
    profile.granules =
        (0..GRANULES).map(|index| Granule { area: 0, index, home: home(index), by: by(index) }).collect();
    let shown = shown::profile(browser, &profile);
    let page = &shown.page;
    tab_to_map(page);
    assert_eq!(span(page), "244 MiB");
    // The whole heap in one pixel column after another, as the map sums it up.
    page.press("End");
    while span(page) != "32 B" {
        page.press("+");
    }
    assert_eq!(at_cursor(page), expected(&profile, 0, GRANULES - 1, "node", |by| by.node));
    page.press("0");
    assert_eq!(span(page), "244 MiB");
}

fn cells_too_many_are_joined(browser: &Browser) {
    let mut profile = untuned();
    // Every 32nd page of an area of 200,000: so many cells for 16 threads are more than a page holds.
    let area = olifant_opium::profile::Area {
        name: "wide".into(),
        bytes: 200_000 * 4096,
        ..profile.areas[2].clone()
    };
    profile.areas.push(area);
    let id = u32::try_from(profile.areas.len() - 1).unwrap();
    let by = |reads| vec![Accesses { thread: 5, node: 1, reads, ..Accesses::default() }];
    let touched = (0..6_250).map(|index| Granule { area: id, index: index * 32, home: 0, by: by(index + 1) });
    profile.granules.extend(touched);
    let shown = shown::profile(browser, &profile);
    let page = &shown.page;
    let sum: u64 = (1..=6_250).sum();
    let rows = page.table("#areas table");
    let place = rows.iter().position(|row| row[0].starts_with("wide")).unwrap();
    assert_eq!(rows[place][2], grouped(sum), "joined cells lose nothing");
    page.value(&format!("document.querySelectorAll('#areas td button.go')[{place}].click()"));
    page.settle();
    for _ in 0..16 {
        page.press("+");
    }
    let said = page.text("#heat-live");
    let expected =
        "wide, bytes 0 to 8,191 of 819,200,000 (counted in cells of 8.00 KiB to keep the page small).";
    assert!(said.starts_with(expected), "{said}");
    assert_eq!(at_cursor(page), [("node 1".to_owned(), "1".to_owned(), "0".to_owned())]);
    // The next touched page is the 32nd: 16 cells on.
    for _ in 0..16 {
        page.press("ArrowRight");
    }
    assert!(page.text("#heat-live").contains("bytes 131,072 to 139,263"), "{}", page.text("#heat-live"));
    assert_eq!(at_cursor(page), [("node 1".to_owned(), "2".to_owned(), "0".to_owned())]);
}
