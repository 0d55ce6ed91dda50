//! Laws of the card's filters: what they count is conserved, and counting changes no time.

#![allow(clippy::unwrap_used)] // helpers of tests

use olifant_machine::catalogue;
use olifant_opium::facts::FilterRecord;
use olifant_opium::{Card, CardError, CardModel, CardProgram, collect};
use olifant_sim::{Increment, Next, Options, Random, System};
use proptest::prelude::*;

const LINE: u64 = 32;
const PAGE: u64 = 4096;
/// What the random program uses of memory.
const START: u64 = 0x10_0000;
const BYTES: u64 = 512 * PAGE;

fn program(filters: &[&str], secondaries: &[&str], model: CardModel) -> CardProgram {
    CardProgram {
        model,
        filters: filters.iter().map(|text| text.parse().unwrap()).collect(),
        secondaries: secondaries.iter().map(|text| text.parse().unwrap()).collect(),
    }
}

/// Four threads on two nodes make random accesses under a programmed card.
fn run(program: &CardProgram, seed: u64) -> System<Card> {
    let machine = catalogue::find("olifant").unwrap().configure("2N2").unwrap();
    let mut card = Card::new(4, PAGE, PAGE, LINE);
    card.board_mut().program(program).unwrap();
    let mut system = System::new(&machine, Options::default(), card).unwrap();
    for _ in 0..4 {
        system.spawn();
    }
    let mut randoms: Vec<Random> = (0..4).map(|thread| Random::new(seed * 4 + thread)).collect();
    for _ in 0..4000 {
        let Next::Run(thread) = system.choose() else { panic!("all threads are runnable") };
        let random = &mut randoms[thread.index()];
        while !system.must_switch() {
            let increment = if random.below(3) == 0 { Increment::write(5) } else { Increment::read(5) };
            // Half of the accesses share a page, so that lines are upgraded; the rest overflow the caches' sets.
            let page = if random.below(2) == 0 { 0 } else { random.below(BYTES / PAGE) };
            let address = START + page * PAGE + random.below(64) * 8;
            system.access(address, increment, address, random.bits());
        }
    }
    system
}

fn filters(system: &System<Card>) -> Vec<FilterRecord> {
    system.engine().observer().board().records().0
}

/// All transactions that the card counted by page.
fn transactions(system: &System<Card>) -> u64 {
    let of = |by: &olifant_opium::AccessorCounts| {
        u64::from(by.reads) + u64::from(by.writes) + u64::from(by.upgrades) + u64::from(by.write_backs)
    };
    system.engine().observer().granules().iter().flat_map(|granule| &granule.by).map(of).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn counters_of_every_granularity_and_accessor_sum_up_to_the_totals(seed in 0u64..1000) {
        let texts = ["line", "128", "page", "64K", "2M"].map(|granule| format!("all,granule={granule},name={granule}"));
        let mut texts: Vec<String> = texts.into();
        texts.extend(["node", "thread", "cpu"].map(|by| format!("all,by={by},kinds=local+outbound,name=by {by}")));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let system = run(&program(&texts, &[], CardModel::Unlimited), seed);
        let all = transactions(&system);
        prop_assert!(all > 10_000);
        for filter in filters(&system) {
            prop_assert_eq!(filter.total, all, "{}", filter.name);
            prop_assert_eq!(filter.counts.iter().map(|count| count.count).sum::<u64>(), all, "{}", filter.name);
        }
    }

    #[test]
    fn filters_that_part_an_area_sum_up_to_the_filter_of_all_of_it(seed in 0u64..1000, cut in 1..BYTES / LINE) {
        let cut = cut * LINE;
        let part = |start: u64, bytes: u64| format!("{start:#x}+{bytes},granule=line");
        let (whole, low, high) = (part(START, BYTES), part(START, cut), part(START + cut, BYTES - cut));
        let system = run(&program(&[&whole, &low, &high], &[], CardModel::Unlimited), seed);
        let records = filters(&system);
        prop_assert_eq!(records[0].total, records[1].total + records[2].total);
        let parts: Vec<_> = records[1].counts.iter().chain(&records[2].counts).copied().collect();
        prop_assert_eq!(&records[0].counts, &parts);
    }

    #[test]
    fn kinds_and_directions_part_the_transactions(seed in 0u64..1000) {
        let texts = ["read", "write", "upgrade", "write-back", "local", "outbound", "inbound"]
            .map(|kind| format!("all,kinds={kind},name={kind}"));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let system = run(&program(&texts, &[], CardModel::Unlimited), seed);
        let total: Vec<u64> = filters(&system).iter().map(|filter| filter.total).collect();
        prop_assert_eq!(total[..4].iter().sum::<u64>(), transactions(&system));
        prop_assert_eq!(total[4] + total[5], transactions(&system));
        prop_assert_eq!(total[5], total[6], "what leaves a node arrives at another");
        prop_assert!(total.iter().all(|total| *total > 0), "{total:?}");
    }

    #[test]
    fn a_secondary_counter_is_the_sum_of_the_filters_it_shadows(seed in 0u64..1000) {
        let half = BYTES / 2;
        let (low, high) = (format!("{START:#x}+{half},name=low"), format!("{:#x}+{half},name=high", START + half));
        let reads = format!("{START:#x}+{BYTES},name=reads,kinds=read");
        let secondaries = ["both=low+high", "of both=low+high,kinds=read", "twice=low+reads"];
        let system = run(&program(&[&low, &high, &reads], &secondaries, CardModel::Unlimited), seed);
        let (filters, secondaries, _) = system.engine().observer().board().records();
        prop_assert_eq!(secondaries[0].count, filters[0].total + filters[1].total);
        prop_assert_eq!(secondaries[1].count, filters[2].total);
        // What both filters pass is counted once.
        prop_assert!(secondaries[2].count < filters[0].total + filters[2].total);
        prop_assert!(secondaries[2].count > filters[0].total.max(filters[2].total));
    }
}

#[test]
fn counting_changes_no_count_of_the_machine_and_no_clock() {
    let machine = catalogue::find("olifant").unwrap().configure("2N2").unwrap();
    let mut digests = [
        program(&[], &[], CardModel::Unlimited),
        program(
            &["all,granule=line,by=thread,threshold=3", "0x100000+64K,granule=line"],
            &[],
            CardModel::Unlimited,
        ),
        program(&["0x100000+256K,granule=line,name=f"], &["s=f"], CardModel::Opium),
    ]
    .map(|program| collect(&mut run(&program, 5), &machine).totals.digest);
    digests.sort_unstable();
    assert_eq!(digests[0], digests[2]);
}

#[test]
fn a_counter_that_reaches_its_threshold_raises_one_event() {
    let mut system = run(&program(&["all,granule=page,threshold=100"], &[], CardModel::Unlimited), 1);
    let board = system.engine_mut().observer_mut().board_mut();
    let counts = board.counts(0);
    let events = board.take_events();
    assert_eq!(events.len(), counts.iter().filter(|count| count.count >= 100).count());
    assert!(events.iter().all(|event| event.count == 100));
    assert!(events.iter().all(|event| board.value(0, event.address, Some(event.accessor)) >= 100));
    assert!(board.take_events().is_empty());
}

/// What programming the prototype's card with these filters says.
fn refusal(texts: &[String], secondaries: &[String]) -> String {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let secondaries: Vec<&str> = secondaries.iter().map(String::as_str).collect();
    let mut card = Card::new(4, PAGE, PAGE, LINE);
    let refused: Result<(), CardError> =
        card.board_mut().program(&program(&texts, &secondaries, CardModel::Opium));
    refused.unwrap_err().to_string()
}

#[test]
fn the_prototypes_card_has_its_limits() {
    let filters = |count: u64| -> Vec<String> {
        (0..count).map(|number| format!("{:#x}+4096", number * 4096)).collect()
    };
    assert!(refusal(&filters(33), &[]).contains("32 filters"));
    // 512 Ki counters of a page each watch 2 GiB and no more.
    assert!(refusal(&["0x0+2G".into(), "0x80000000+4096".into()], &[]).contains("needs 1 counters"));
    assert!(refusal(&["all".into()], &[]).contains("524288"));
    let secondaries: Vec<String> = (0..17).map(|number| format!("s{number}=0x0-0x1000")).collect();
    assert!(refusal(&filters(1), &secondaries).contains("17 secondary counters: the card has 16"));
    assert!(refusal(&["0x0+4096,by=thread".into()], &[]).contains("which thread"));
    assert!(refusal(&["0x0+4096,kinds=read+local".into()], &[]).contains("its own memory"));
    assert!(refusal(&["0x0+4096,granule=16".into()], &[]).contains("no smaller"));
    assert!(refusal(&["0x0+4096".into()], &["s=grid".into()]).contains("no filter \"grid\""));
    let mut card = Card::new(4, PAGE, PAGE, LINE);
    let full: Vec<String> = filters(32);
    let full: Vec<&str> = full.iter().map(String::as_str).collect();
    card.board_mut().program(&program(&full, &[], CardModel::Opium)).unwrap();
}

#[test]
fn the_prototypes_card_sees_what_leaves_a_node() {
    let texts = ["0x100000+2M", "0x100000+2M,kinds=inbound,name=in"];
    let opium = run(&program(&texts, &[], CardModel::Opium), 3);
    let unlimited = run(&program(&["all,kinds=outbound"], &[], CardModel::Unlimited), 3);
    let opium = filters(&opium);
    assert_eq!(opium[0].total, filters(&unlimited)[0].total);
    assert_eq!(opium[0].total, opium[1].total);
}
