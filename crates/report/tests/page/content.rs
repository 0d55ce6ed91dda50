//! What the page says is what the profile holds.

use crate::browser::{Browser, Test};
use crate::shown::{self, grouped, sums};
use crate::synthetic::untuned;
use olifant_opium::profile::Evidence;

/// The tests of this file.
pub const TESTS: &[Test] = &[
    ("figures_are_the_totals_of_the_profile", figures_are_the_totals_of_the_profile),
    ("every_area_shows_its_local_and_remote_transactions", every_area_shows_its_transactions),
    ("nodes_links_and_their_matrix_show_the_traffic", nodes_links_and_their_matrix),
    ("contested_lines_show_class_transfers_and_bytes", contested_lines_show_class_and_bytes),
    ("phases_show_their_traffic_by_area_and_stretch", phases_show_their_traffic),
    ("locks_and_first_touches_are_told", locks_and_first_touches_are_told),
    ("source_lines_are_quoted", source_lines_are_quoted),
    ("the_evidence_level_is_stated", the_evidence_level_is_stated),
    ("a_run_cut_short_says_so", a_run_cut_short_says_so),
    ("a_tuning_shows_verdict_decisions_and_reasons", a_tuning_shows_verdict_decisions_and_reasons),
    ("a_run_without_remote_traffic_shows_its_local_one", a_run_without_remote_traffic),
    ("names_are_text_whatever_they_hold", names_are_text_whatever_they_hold),
    ("a_profile_of_nothing_has_a_page", a_profile_of_nothing_has_a_page),
];

fn figures_are_the_totals_of_the_profile(browser: &Browser) {
    let profile = untuned();
    let shown = shown::profile(browser, &profile);
    let figures = shown.page.table("#figure-table");
    let figure = |name: &str| {
        let row = figures.iter().find(|row| row[0] == name);
        row.unwrap_or_else(|| panic!("{name} among {figures:?}"))[2].clone()
    };
    let totals = &profile.totals;
    assert_eq!(figure("simulated seconds"), "4.012");
    assert_eq!(figure("accesses"), grouped(totals.reads + totals.writes));
    assert_eq!(figure("TLB misses"), grouped(totals.tlb_misses));
    assert_eq!(figure("L1 misses"), grouped(totals.l1_misses));
    assert_eq!(figure("L2 misses"), grouped(totals.l2_misses));
    assert_eq!(figure("upgrades"), grouped(totals.upgrades));
    assert_eq!(figure("write-backs"), grouped(totals.write_backs));
    assert_eq!(figure("remote transactions"), grouped(totals.remote_transactions));
    assert_eq!(figure("request packets"), grouped(totals.request_packets));
    assert_eq!(figure("response packets"), grouped(totals.response_packets));
    assert_eq!(figure("network bytes"), grouped(totals.network_bytes));
    assert_eq!(figure("busiest bus"), "node 2, 64 % busy");
    assert!(shown.page.text("#foot").contains(&totals.digest));
}

fn every_area_shows_its_transactions(browser: &Browser) {
    let profile = untuned();
    let shown = shown::profile(browser, &profile);
    let mut expected = Vec::new();
    for (id, area) in profile.areas.iter().enumerate() {
        let (local, remote) = sums(&profile, |of, _, _| of as usize == id);
        if local + remote > 0 {
            expected.push((area.name.clone(), remote, local));
        }
    }
    expected.sort_by_key(|(_, remote, _)| std::cmp::Reverse(*remote));
    let rows = shown.page.table("#areas table");
    assert_eq!(rows.len(), expected.len());
    for (row, (name, remote, local)) in rows.iter().zip(expected) {
        assert!(row[0].contains(&name), "{row:?} is not {name}");
        assert_eq!((&row[2], &row[3]), (&grouped(remote), &grouped(local)), "{name}");
    }
    let used_by = shown.page.text_of("document.querySelector('#areas .bar').getAttribute('aria-label')");
    assert_eq!(used_by, "used by: node 0 25 %, node 1 25 %, node 2 25 %, node 3 25 %");
}

fn nodes_links_and_their_matrix(browser: &Browser) {
    let profile = untuned();
    let shown = shown::profile(browser, &profile);
    shown.page.value("document.querySelector('#machine details').open = true");
    let matrix = shown.page.value(
        "[...document.querySelectorAll('.matrix tbody tr')].map((row) => [...row.querySelectorAll('td')].map((cell) => cell.title))",
    );
    for from in 0..4_u16 {
        for home in 0..4_u16 {
            let count: u64 = profile
                .granules
                .iter()
                .filter(|granule| granule.home == home)
                .flat_map(|granule| granule.by.iter().filter(|by| by.node == from))
                .map(|by| by.reads + by.writes + by.upgrades + by.write_backs)
                .sum();
            let title = format!("node {from} with memory of node {home}: {} transactions", grouped(count));
            assert_eq!(matrix[usize::from(from)][usize::from(home)], title);
        }
    }
    let tables = "#machine details > div";
    let nodes = shown.page.table(&format!("{tables}:nth-of-type(1)"));
    assert_eq!(nodes.len(), profile.nodes.len());
    for row in &nodes {
        let node = &profile.nodes[row[0].parse::<usize>().unwrap()];
        assert_eq!((&row[1], &row[2]), (&grouped(node.transactions), &grouped(node.remote_transactions)));
    }
    let links = shown.page.table(&format!("{tables}:nth-of-type(2)"));
    assert_eq!(links.len(), profile.links.len());
    assert!(
        links.iter().all(|row| row[1] == grouped(3_536_728) && row[2] == grouped(114_197_253)),
        "{links:?}"
    );
    let drawing = shown.page.text_of("document.querySelector('svg.machine').textContent");
    assert!(
        drawing.contains("node 3") && drawing.contains("node0 → router0: 3,536,728 packets"),
        "{drawing}"
    );
}

fn contested_lines_show_class_and_bytes(browser: &Browser) {
    let profile = untuned();
    let shown = shown::profile(browser, &profile);
    let rows = shown.page.value(
        "[...document.querySelectorAll('#contested > div > .scroll > table > tbody > tr:not(.under)')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))",
    );
    assert_eq!(rows.as_array().map(Vec::len), Some(2));
    assert_eq!(rows[0][0], "locks +0");
    assert_eq!(rows[0][1], "51,234");
    assert_eq!(rows[0][2], "false");
    assert_eq!(rows[0][3], "0-7");
    assert_eq!(rows[0][4], "0-15");
    assert_eq!(rows[0][6], "take_lock (locks.c:17)");
    assert_eq!(rows[1][0], "locks +32");
    assert_eq!(rows[1][2], "mixed");
    shown.page.value("document.querySelector('#contested details').open = true");
    let threads = shown.page.table("#contested details");
    assert_eq!(threads.len(), 16);
    // Thread 1 reads and writes the second group of four bytes.
    assert_eq!(threads[1][0], "thread 1");
    assert_eq!((threads[1][1].as_str(), threads[1][2].as_str()), ("300", "400"));
    assert_eq!((threads[1][4].as_str(), threads[1][5].as_str()), ("4-7", "4-7"));
}

fn source_lines_are_quoted(browser: &Browser) {
    let shown = shown::profile(browser, &untuned());
    let statement = shown.page.text("#source .statement");
    assert!(statement.contains("41") && statement.contains("double *grid = malloc("), "{statement}");
    let rows = shown.page.table("#source table");
    assert!(rows.iter().any(|row| row[0].contains("locks.c:17")), "{rows:?}");
}

fn the_evidence_level_is_stated(browser: &Browser) {
    for (evidence, word) in
        [(Evidence::Simulated, "simulated"), (Evidence::Sampled, "sampled"), (Evidence::Exact, "exact")]
    {
        let mut profile = untuned();
        profile.run.evidence = evidence;
        let shown = shown::profile(browser, &profile);
        assert_eq!(shown.page.text("#evidence"), word);
        let is_estimate = shown.page.text("#head").contains("each count is an estimate");
        assert_eq!(is_estimate, evidence == Evidence::Sampled);
    }
}

fn a_run_cut_short_says_so(browser: &Browser) {
    let mut profile = untuned();
    profile.run.is_complete = false;
    profile.run.exit_code = 139;
    let shown = shown::profile(browser, &profile);
    let notice = shown.page.text(".notice");
    assert!(notice.contains("cut short (exit code 139)"), "{notice}");
}

fn a_tuning_shows_verdict_decisions_and_reasons(browser: &Browser) {
    let shown = shown::tuning(browser);
    let verdict = shown.page.text("#verdict");
    assert_eq!(verdict, "tuned: 2.31 times faster, network packets 27.7× less");
    let figures = shown.page.table("#figure-table");
    let remote = figures.iter().find(|row| row[0] == "remote transactions").unwrap();
    assert_eq!(remote[2..], ["7,234,567", "98,304", "73.6× less"].map(String::from));
    let speed_up = figures.iter().find(|row| row[0] == "speed-up over one processor").unwrap();
    assert_eq!(speed_up[2..], ["5.30", "12.3", "2.31× more"].map(String::from));
    let areas = shown.page.text("#areas table");
    for said in [
        "→ blocks of pages: 16 on node 0, 16 on node 1, 16 on node 2, 16 on node 3",
        "each quarter is used by one node for 98 % of its transactions",
        "→ advice: pad",
    ] {
        assert!(areas.contains(said), "{said} in {areas}");
    }
    let (_, before) = sums(&untuned(), |area, _, _| area == 0);
    let rows = shown.page.table("#areas table");
    let grid = rows.iter().find(|row| row[0].contains("make_grids (grids.c:41) #0")).unwrap();
    assert_eq!((grid[2].as_str(), grid[3].as_str()), (grouped(before).as_str(), "0"));
    assert_eq!(shown.page.value("document.querySelectorAll('svg.machine').length"), 2);
}

fn a_run_without_remote_traffic(browser: &Browser) {
    let mut profile = untuned();
    for granule in &mut profile.granules {
        granule.home = 0;
        granule.by.retain(|by| by.node == 0);
    }
    let shown = shown::profile(browser, &profile);
    assert_eq!(shown.page.value("document.querySelector('#map input[value=all]').checked"), true);
    let (local, remote) = sums(&profile, |area, _, _| area == 0);
    let rows = shown.page.table("#areas table");
    assert_eq!((&rows[0][2], &rows[0][3]), (&grouped(remote), &grouped(local)));
}

fn names_are_text_whatever_they_hold(browser: &Browser) {
    let evil =
        "</script><script>window.evil = 1</script><img src=x onerror='window.evil = 1'>{{heat}} & \u{2028}";
    let mut profile = untuned();
    profile.run.program = evil.to_owned();
    for area in &mut profile.areas {
        area.name = evil.to_owned();
    }
    let shown = shown::profile(browser, &profile);
    assert!(shown.page.value("window.evil === undefined").as_bool().unwrap());
    assert!(shown.page.text("#areas table").contains("<img src=x onerror="));
    // The command is the file name of the program: what follows the last slash.
    assert!(shown.page.text_of("document.title").starts_with("script><img"));
}

fn a_profile_of_nothing_has_a_page(browser: &Browser) {
    let mut profile = untuned();
    profile.areas.clear();
    profile.granules.clear();
    profile.contested.clear();
    profile.nodes.clear();
    profile.links.clear();
    profile.threads.clear();
    profile.cpus.clear();
    profile.totals = olifant_opium::profile::Totals::default();
    let shown = shown::profile(browser, &profile);
    assert!(shown.page.text("#figures").contains("simulated seconds"));
    assert_eq!(shown.page.value("document.querySelectorAll('#areas tbody tr').length"), 0);
}

fn phases_show_their_traffic(browser: &Browser) {
    let shown = shown::profile(browser, &untuned());
    let rows = shown.page.table("#phases table");
    assert_eq!(rows.len(), 2, "{rows:?}");
    // Phase, first cycle, the one area with remote transactions.
    assert_eq!(rows[0][1..], ["0", "0"], "no remote transactions in the first phase");
    assert_eq!(rows[1][1..], ["400 k", "40,000"]);
    let choose = |label: usize, value: &str| {
        let change = format!(
            "(() => {{ const choice = document.querySelectorAll('#phases select')[{label}]; choice.value = '{value}'; \
             choice.dispatchEvent(new Event('change')); }})()"
        );
        shown.page.value(&change);
        shown.page.table("#phases table")
    };
    assert_eq!(choose(2, "all")[0][2], "800", "local ones, too");
    assert_eq!(choose(1, "0")[1][2], "900", "those of node 0 alone");
}

fn locks_and_first_touches_are_told(browser: &Browser) {
    let shown = shown::profile(browser, &untuned());
    let locks = shown.page.table("#locks table");
    assert_eq!(locks.len(), 1, "{locks:?}");
    assert_eq!(locks[0][1..7], ["mutex", "0", "1,600", "1,200", "900,000", "1,100"]);
    let touches = shown.page.table("#touches table");
    assert_eq!(touches[0][1..3], ["0", "512"], "{touches:?}");
}
