//! Reading without a mouse, on paper, in the dark, and by ear.

use crate::browser::{Browser, Test};
use crate::shown;
use crate::synthetic::untuned;
use serde_json::{Value, json};

/// The tests of this file.
pub const TESTS: &[Test] = &[
    ("headers_sort_by_keyboard", headers_sort_by_keyboard),
    ("typing_a_name_leaves_the_areas_of_that_name", typing_a_name_filters),
    ("focus_is_visible", focus_is_visible),
    ("every_control_has_a_name", every_control_has_a_name),
    ("paper_shows_no_controls_and_light_colours", paper_shows_no_controls),
    ("dark_readers_get_a_dark_page", dark_readers_get_a_dark_page),
    ("text_stands_out_from_its_ground", text_stands_out_from_its_ground),
];

/// Numbers of a column of the areas, in the order shown.
fn column(shown: &shown::Shown<'_>, index: usize) -> Vec<u64> {
    let rows = shown.page.table("#areas table");
    rows.iter().map(|row| row[index].replace(',', "").parse().unwrap()).collect()
}

fn headers_sort_by_keyboard(browser: &Browser) {
    let shown = shown::profile(browser, &untuned());
    let page = &shown.page;
    let order = "document.querySelectorAll('#areas th')[3].getAttribute('aria-sort')";
    assert_eq!(page.text_of(order), "none");
    page.value("document.querySelectorAll('#areas th button')[3].focus()");
    page.press("Enter");
    assert_eq!(page.text_of(order), "descending");
    let falling = column(&shown, 3);
    assert!(falling.is_sorted_by(|a, b| a >= b), "{falling:?}");
    page.press("Enter");
    assert_eq!(page.text_of(order), "ascending");
    assert!(column(&shown, 3).is_sorted());
}

fn typing_a_name_filters(browser: &Browser) {
    let mut profile = untuned();
    // Few areas need no search.
    for number in 0..10 {
        let mut area = profile.areas[2].clone();
        area.name = format!("table_{number}");
        profile.areas.push(area);
        let mut granule = profile.granules.iter().find(|granule| granule.area == 2).unwrap().clone();
        granule.area = u32::try_from(profile.areas.len() - 1).unwrap();
        profile.granules.push(granule);
    }
    let shown = shown::profile(browser, &profile);
    shown.page.value("document.querySelector('#areas input').focus()");
    for letter in ["T", "a", "b", "l", "e", "_", "7"] {
        shown.page.press(letter);
    }
    let rows = shown.page.table("#areas table");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0][0].starts_with("table_7"));
    assert_eq!(shown.page.text("#areas [role=status]"), "1 of 15 areas");
}

fn focus_is_visible(browser: &Browser) {
    let shown = shown::profile(browser, &untuned());
    for _ in 0..12 {
        shown.page.press("Tab");
        let outline = shown.page.value(
            "(() => { const style = getComputedStyle(document.activeElement); return [style.outlineStyle, parseFloat(style.outlineWidth)]; })()",
        );
        assert_eq!(outline[0], "solid");
        assert!(outline[1].as_f64().unwrap() >= 2.0, "{outline}");
    }
}

fn every_control_has_a_name(browser: &Browser) {
    const CONTROLS: [&str; 8] =
        ["button", "link", "radio", "searchbox", "combobox", "application", "image", "table"];
    let shown = shown::tuning(browser);
    let tree = shown.page.command("Accessibility.getFullAXTree", json!({}));
    let nodes: Vec<&Value> = tree["nodes"].as_array().unwrap().iter().collect();
    let controls: Vec<_> = nodes
        .iter()
        .filter(|node| node["ignored"] == false && CONTROLS.iter().any(|role| node["role"]["value"] == *role))
        .collect();
    assert!(controls.len() > 40, "{} controls", controls.len());
    for control in controls {
        let name = control["name"]["value"].as_str().unwrap_or_default();
        assert!(!name.trim().is_empty(), "no name: {control}");
    }
}

fn paper_shows_no_controls(browser: &Browser) {
    let shown = shown::tuning(browser);
    let page = &shown.page;
    let dark = json!([{ "name": "prefers-color-scheme", "value": "dark" }]);
    page.command("Emulation.setEmulatedMedia", json!({ "media": "print", "features": dark }));
    page.value("dispatchEvent(new Event('beforeprint'))");
    let display = |selector: &str| {
        page.text_of(&format!("getComputedStyle(document.querySelector({})).display", json!(selector)))
    };
    for hidden in ["nav", "#map .tools", "#heat-keys", "td.controls", "th button.sort"] {
        assert_eq!(display(hidden), "none", "{hidden}");
    }
    for kept in ["#heat", "svg.machine", "#areas table", "#source .statement"] {
        assert_ne!(display(kept), "none", "{kept}");
    }
    assert_eq!(page.text_of("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    page.value("dispatchEvent(new Event('afterprint'))");
    page.command("Emulation.setEmulatedMedia", json!({ "media": "" }));
    let pdf = page.command("Page.printToPDF", json!({ "printBackground": true }));
    assert!(pdf["data"].as_str().unwrap().starts_with("JVBERi0"), "a PDF begins with %PDF-");
}

fn dark_readers_get_a_dark_page(browser: &Browser) {
    let shown = shown::profile(browser, &untuned());
    let page = &shown.page;
    // Node 0 uses the first page, on which the cell below is looked at.
    page.value("document.querySelector('#map input[value=all]').click()");
    page.settle();
    let ground = "getComputedStyle(document.body).backgroundColor";
    let cell =
        "[...document.getElementById('heat').getContext('2d').getImageData(100, 90, 1, 1).data].join()";
    let (light, light_cell) = (page.text_of(ground), page.text_of(cell));
    let dark = json!([{ "name": "prefers-color-scheme", "value": "dark" }]);
    page.command("Emulation.setEmulatedMedia", json!({ "features": dark }));
    page.settle();
    assert_eq!((light.as_str(), page.text_of(ground).as_str()), ("rgb(253, 252, 250)", "rgb(20, 23, 27)"));
    assert_ne!(light_cell, page.text_of(cell), "the canvas follows");
}

/// Contrast as WCAG 2.2 measures it: at least 4.5 for text (criterion 1.4.3).
fn text_stands_out_from_its_ground(browser: &Browser) {
    let shown = shown::profile(browser, &untuned());
    let contrasts = "(() => {
        const style = getComputedStyle(document.documentElement);
        const light = (name) => {
            const hex = style.getPropertyValue(name).trim();
            const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
                .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
        return ['--ink', '--ink-soft', '--accent', '--good', '--bad'].flatMap((ink) =>
            ['--paper', '--card', '--hover'].map((ground) => [`${ink} on ${ground}`, contrast(ink, ground)]));
    })()";
    for scheme in ["light", "dark"] {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        shown.page.command("Emulation.setEmulatedMedia", json!({ "features": features }));
        shown.page.settle();
        for pair in shown.page.value(contrasts).as_array().unwrap() {
            assert!(pair[1].as_f64().unwrap() >= 4.5, "{scheme}: {pair}");
        }
    }
    // The ramp's lightness rises or falls at every step, so that no eye needs its hues.
    let ramp = shown.page.value("Array.from({ length: 7 }, (_, step) => { const hex = getComputedStyle(document.documentElement).getPropertyValue(`--ramp-${step}`).trim(); return [1, 3, 5].reduce((sum, at, channel) => sum + [0.2126, 0.7152, 0.0722][channel] * (parseInt(hex.slice(at, at + 2), 16) / 255) ** 2.2, 0); })");
    let ramp: Vec<f64> = ramp.as_array().unwrap().iter().map(|step| step.as_f64().unwrap()).collect();
    assert!(ramp.is_sorted() || ramp.iter().rev().is_sorted(), "{ramp:?}");
}
