//! The machines that come with Olifant.

use olifant_machine::{Bytes, Machine, catalogue};

fn find(name: &str) -> Machine {
    catalogue::find(name).unwrap()
}

#[test]
fn every_machine_obeys_the_laws_and_is_called_as_its_file() {
    for name in catalogue::names() {
        let machine = find(name);
        assert_eq!(machine.name, name);
        assert_eq!(machine.check(), Ok(()), "{name}");
        assert_eq!(Machine::from_toml(&machine.to_toml()).unwrap(), machine);
    }
    assert_eq!(catalogue::assumed().unwrap().name, "assumed");
}

#[test]
fn every_number_of_every_file_has_its_source_beside_it() {
    for name in catalogue::names() {
        let text = catalogue::text(name).unwrap();
        let sources: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("#   ")?.split_whitespace().next()).collect();
        assert!(sources.contains(&"assumed"), "{name}: the head lists {sources:?}");
        let mut above = "";
        for (number, line) in text.lines().enumerate() {
            let (value, beside) = line.split_once('#').unwrap_or((line, ""));
            if value.contains('=')
                && value.contains(|digit: char| digit.is_ascii_digit())
                && !value.contains('"')
            {
                // A longer source stands in the comment above.
                let source = if beside.is_empty() { above } else { beside };
                let word = source.trim_start_matches(['#', ' ']).split([' ', ':', '.', '(']).next().unwrap();
                assert!(sources.contains(&word), "machines/{name}.toml:{}: no source: {line}", number + 1);
            }
            let continues = line.starts_with('#') && above.starts_with('#');
            above = if continues { above } else { line };
        }
    }
}

#[test]
fn olifant_is_the_prototype_of_the_papers() {
    let machine = find("olifant");
    assert_eq!(machine.configuration(), "4N4");
    assert_eq!(machine.processor.clock.0, 350e6);
    assert_eq!((machine.processor.l1.size, machine.processor.l1.line), (Bytes(16 << 10), Bytes(32)));
    assert_eq!((machine.processor.l2.size, machine.processor.l2.line), (Bytes(1 << 20), Bytes(32)));
    assert_eq!((machine.coherence.request, machine.coherence.response), (Bytes(16), Bytes(48)));
    assert!(machine.nodes.iter().all(|node| node.memory == Bytes(1 << 30)));
    assert_eq!(machine.network.links.len(), 8);
    assert!(machine.network.links.iter().all(|link| link.bandwidth.0 == 720e6));
}

#[test]
fn machines_have_the_processors_that_their_names_and_papers_say() {
    let expected = [
        ("olifant", "4N4"),
        ("opteron-4", "4N2"),
        ("x4800", "8N8"),
        ("t5440", "4N64"),
        ("altix-64", "32N2"),
        ("altix-512", "256N2"),
    ];
    assert_eq!(catalogue::names(), expected.map(|(name, _)| name));
    for (name, configuration) in expected {
        assert_eq!(find(name).configuration(), configuration);
    }
}

#[test]
fn remote_reads_stand_to_local_ones_as_published() {
    let range = |name: &str| {
        let reads = find(name).idle_read_matrix().unwrap();
        let ratios: Vec<f64> = reads[0][1..].iter().map(|&time| time as f64 / reads[0][0] as f64).collect();
        (ratios.iter().copied().fold(f64::MAX, f64::min), ratios.iter().copied().fold(0.0, f64::max))
    };
    let (nearest, farthest) = range("altix-64");
    assert!((1.9..=3.5).contains(&nearest) && (1.9..=3.5).contains(&farthest), "{nearest} to {farthest}");
    let (nearest, farthest) = range("altix-512");
    assert!((1.9..=3.5).contains(&nearest) && (1.9..=3.5).contains(&farthest), "{nearest} to {farthest}");
    let remote = find("olifant").idle_read_matrix().unwrap()[0][1];
    assert!((1000..=1400).contains(&remote), "just over 1 microsecond, the vendor says 1.4: {remote} ns");
}

#[test]
fn an_unknown_machine_is_refused_with_the_known_ones_and_the_nearest() {
    let known = "known: olifant, opteron-4, x4800, t5440, altix-64, altix-512";
    let refused = |name: &str| catalogue::find(name).unwrap_err().to_string();
    assert_eq!(
        refused("oliphant"),
        format!("machine \"oliphant\" is unknown (did you mean \"olifant\"?); {known}")
    );
    assert_eq!(
        refused("altix"),
        format!("machine \"altix\" is unknown (did you mean \"altix-64\"?); {known}")
    );
    assert_eq!(refused("zzz"), format!("machine \"zzz\" is unknown; {known}"));
}
