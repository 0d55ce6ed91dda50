//! Files that a writer of our own makes are read back; files that are cut, changed or foreign are refused in words.

use super::*;
use crate::data_source::{DataSource, Level};
use crate::record::Sample;
use proptest::prelude::*;

/// The fields of the samples that the writer makes, in their order.
const FIELDS: SampleFields = SampleFields(
    SampleFields::IP.0
        | SampleFields::TID.0
        | SampleFields::TIME.0
        | SampleFields::ADDR.0
        | SampleFields::CPU.0
        | SampleFields::PERIOD.0
        | SampleFields::WEIGHT.0
        | SampleFields::DATA_SRC.0
        | SampleFields::PHYS_ADDR.0,
);

/// A load that the third level served.
const L3_LOAD: u64 = 0x106_6810_0842;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(body.len() + 8).unwrap();
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(misc.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(body);
    bytes
}

fn sample(number: u64) -> Vec<u8> {
    let thread = u32::try_from(100 + number % 2).unwrap();
    let address = 0x7000_0000 + number * 64;
    let body = [
        0x40_1000 + number,
        pair(100, thread),
        1_000 + number,
        address,
        pair(u32::try_from(number % 2).unwrap(), 0),
        1,
        200 + number,
        L3_LOAD,
        0x10_0000 + number,
    ];
    record(9, 2, &words(&body))
}

/// A file with one event, a name, a mapping and `samples` samples.
pub(super) fn file(samples: u64) -> Vec<u8> {
    const HEADER: u64 = 104;
    const ATTRIBUTE: u64 = 128 + 16;
    let mut attribute = vec![0_u8; 128];
    attribute[4..8].copy_from_slice(&128_u32.to_le_bytes());
    attribute[16..24].copy_from_slice(&1_u64.to_le_bytes());
    attribute[24..32].copy_from_slice(&FIELDS.0.to_le_bytes());
    attribute[40..48].copy_from_slice(&SAMPLE_ID_ALL.to_le_bytes());
    // A dummy event of software, so that perf has a name for it.
    attribute[0..4].copy_from_slice(&1_u32.to_le_bytes());
    attribute[8..16].copy_from_slice(&9_u64.to_le_bytes());
    attribute.extend(words(&[HEADER + ATTRIBUTE, 8]));
    let trailer = |time: u64| words(&[pair(100, 100), time, pair(0, 0)]);
    let mut comm = words(&[pair(100, 100)]);
    comm.extend(b"example\0");
    comm.extend(trailer(1));
    let mut mapped = words(&[pair(100, 100), 0x7000_0000, 0x10_0000, 0, 0, 0, 0, pair(3, 2)]);
    mapped.extend(b"//anon\0\0");
    mapped.extend(trailer(2));
    let mut data = record(3, 2, &comm);
    data.extend(record(10, 2, &mapped));
    // Later ones first: a file is not sorted.
    (0..samples).rev().for_each(|number| data.extend(sample(number)));
    let mut bytes = b"PERFILE2".to_vec();
    bytes.extend(words(&[HEADER, ATTRIBUTE, HEADER, ATTRIBUTE]));
    bytes.extend(words(&[HEADER + ATTRIBUTE + 8, data.len() as u64, 0, 0, 0, 0, 0, 0]));
    bytes.extend(attribute);
    bytes.extend(words(&[77]));
    bytes.extend(data);
    bytes
}

fn parsed(bytes: &[u8]) -> Result<PerfData, PerfDataError> {
    parse(bytes, Path::new("perf.data"))
}

fn samples(file: &PerfData) -> Vec<&Sample> {
    let samples = file.records.iter().filter_map(|record| match record {
        Record::Sample(sample) => Some(sample),
        _ => None,
    });
    samples.collect()
}

#[test]
fn what_was_written_is_read_in_the_order_of_time() {
    let file = parsed(&file(10)).unwrap();
    assert!(file.has_weights && file.has_sources);
    let samples = samples(&file);
    assert_eq!(samples.len(), 10);
    for (number, sample) in (0..).zip(samples) {
        assert_eq!((sample.address, sample.code), (0x7000_0000 + number * 64, 0x40_1000 + number));
        assert_eq!(
            (sample.weight, sample.physical, sample.time_ns),
            (200 + number, 0x10_0000 + number, 1_000 + number)
        );
        assert_eq!((sample.process, sample.thread), (100, 100 + i32::try_from(number % 2).unwrap()));
        assert_eq!(DataSource::decode(sample.data_source).level, Level::L3);
        assert!(sample.is_user);
    }
    let Record::Mapped(mapped) = &file.records[1] else { panic!("{:?}", file.records[1]) };
    assert_eq!((mapped.start, mapped.bytes, mapped.name.as_str()), (0x7000_0000, 0x10_0000, "//anon"));
    assert!(!mapped.is_code);
}

#[test]
fn perf_reads_the_same_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    std::fs::write(&path, file(4)).unwrap();
    let output = std::process::Command::new("perf")
        .args(["script", "--fields", "pid,tid,time,addr,ip,weight,phys_addr", "-i"])
        .arg(&path)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no perf; install linux-perf");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for number in 0..4 {
        let line = text.lines().nth(number).unwrap_or_else(|| panic!("{text}"));
        for shown in [
            format!("{:x}", 0x7000_0000 + number * 64),
            format!("{}", 200 + number),
            format!("{:x}", 0x10_0000 + number),
        ] {
            assert!(line.contains(&shown), "{shown} in {line}");
        }
    }
}

#[test]
fn a_file_of_another_kind_is_named_as_such() {
    for (bytes, word) in [
        (&b"SQLite format 3\0"[..], "PERFILE2"),
        (b"", "PERFILE2"),
        (b"2ELIFREP\0\0\0\0", "big-endian"),
        (b"PERFILE2\x10\0\0\0\0\0\0\0", "pipe"),
    ] {
        let error = parsed(bytes).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let mut without_addresses = file(1);
    without_addresses[104 + 24] &= !(1 << 3);
    assert!(parsed(&without_addresses).unwrap_err().to_string().contains("perf mem record"));
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_refused() {
    let whole = file(3);
    for length in 0..whole.len() {
        assert!(parsed(&whole[..length]).is_err(), "{length} of {} bytes", whole.len());
    }
}

proptest! {
    #[test]
    fn a_file_with_changed_bytes_is_read_or_refused_but_never_harms(
        changes in prop::collection::vec((0..2_000_usize, any::<u8>()), 1..12)
    ) {
        let mut bytes = file(10);
        for (place, value) in changes {
            let place = place % bytes.len();
            bytes[place] = value;
        }
        if let Ok(file) = parsed(&bytes) {
            prop_assert!(file.records.len() <= 12);
        }
    }

    #[test]
    fn any_bytes_behind_a_good_head_are_read_or_refused(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = file(0);
        bytes.truncate(104 + 144 + 8);
        bytes[48..56].copy_from_slice(&(noise.len() as u64).to_le_bytes());
        bytes.extend(noise);
        let _read_or_refused = parsed(&bytes);
    }
}
