//! Command lines with their exact output, one page per topic in this folder. Numbers in them come from stored files, so
//! they hold on every host.
//!
//! After a change that is meant: `TRYCMD=overwrite cargo test -p olifant-tests --test sessions`, then read the difference.

#[test]
fn every_session_prints_what_its_page_says() {
    trycmd::TestCases::new()
        .register_bin("olifant", olifant_tests::olifant())
        .env("NO_COLOR", "1")
        .env("COLUMNS", "80")
        .case("sessions/*.md");
}
