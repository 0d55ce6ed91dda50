//! A profile's tables for a spreadsheet, one of them at a time: areas and granules with a column for each node, as the
//! histograms of the monitor card's papers have them, nodes, links, threads, contested lines. Names carry their units
//! where they are no plain counts; shares are of 1.

use super::ProfileReport;
use crate::identity::{frames, kind};
use crate::run::link_name;
use crate::text::ranges;
use crate::{csv, traffic};
use olifant_opium::profile::ContestedLine;

/// What a row of CSV stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvRows {
    /// A counter: area, thread, node and kind; of each granule, if these are asked for.
    Counters,
    /// An area with traffic, in the order asked for.
    Areas,
    /// A granule, ascending by area.
    Granules,
    /// A node.
    Nodes,
    /// One direction of a link.
    Links,
    /// A thread.
    Threads,
    /// A thread's part in a contested line.
    Contested,
    /// A counter of a filter.
    Filters,
    /// Traffic of a node with a stretch of an area in a phase.
    Phases,
    /// A lock.
    Locks,
    /// Pages of an area that a thread touched first at one place.
    FirstTouches,
}

impl ProfileReport<'_> {
    /// As a header and rows of one kind.
    pub fn csv_of(&self, rows: CsvRows) -> String {
        match rows {
            CsvRows::Counters => self.csv(),
            CsvRows::Areas => self.areas_csv(),
            CsvRows::Granules => self.granules_csv(),
            CsvRows::Nodes => self.nodes_csv(),
            CsvRows::Links => self.links_csv(),
            CsvRows::Threads => self.threads_csv(),
            CsvRows::Contested => self.contested_csv(),
            CsvRows::Filters => self.filters_csv(),
            CsvRows::Phases => self.phases_csv(),
            CsvRows::Locks => self.locks_csv(),
            CsvRows::FirstTouches => self.touches_csv(),
        }
    }

    fn areas_csv(&self) -> String {
        let mut head =
            words(&["area", "kind", "name", "function", "file", "line", "bytes", "ordinal", "thread"]);
        head.extend(words(&["start_address", "born_cycles", "freed_cycles", "local", "remote"]));
        head.extend(self.by_node_columns("transactions"));
        head.extend(self.by_node_columns("granules"));
        let mut text = csv::line(head);
        for &id in &self.order {
            let (area, traffic) = (&self.profile.areas[id], &self.traffic[id]);
            let frame = frames(self.profile, area).first();
            let mut cells = vec![
                id.to_string(),
                kind(area.kind).to_owned(),
                area.name.clone(),
                frame.map_or(String::new(), |frame| frame.function.clone()),
                frame.map_or(String::new(), |frame| frame.file.clone()),
                frame.map_or(String::new(), |frame| frame.line.to_string()),
                area.bytes.to_string(),
                area.ordinal.to_string(),
                area.thread.to_string(),
                format!("{:#x}", area.start),
                area.born.to_string(),
                area.freed.map_or(String::new(), |freed| freed.to_string()),
                traffic.local.to_string(),
                traffic.remote.to_string(),
            ];
            cells.extend(traffic.by_node.iter().chain(&traffic.homes).map(u64::to_string));
            text += &csv::line(cells);
        }
        text
    }

    fn granules_csv(&self) -> String {
        let mut head = words(&["area", "granule", "offset_bytes", "home", "local", "remote"]);
        head.extend(self.by_node_columns("transactions"));
        head.push("name".to_owned());
        let mut text = csv::line(head);
        for granule in &self.profile.granules {
            let Some(area) = self.profile.areas.get(granule.area as usize) else { continue };
            let granule_bytes = self.profile.granule_bytes.max(1);
            // The first granule may begin before the area.
            let offset = i128::from(granule.index) * i128::from(granule_bytes)
                - i128::from(area.start % granule_bytes);
            let traffic = traffic::of_granules(1, granule.home, &granule.by, &self.nodes);
            let mut cells = vec![
                granule.area.to_string(),
                granule.index.to_string(),
                offset.to_string(),
                granule.home.to_string(),
                traffic.local.to_string(),
                traffic.remote.to_string(),
            ];
            cells.extend(traffic.by_node.iter().map(u64::to_string));
            cells.push(area.name.clone());
            text += &csv::line(cells);
        }
        text
    }

    fn nodes_csv(&self) -> String {
        let mut text = csv::line([
            "node",
            "transactions",
            "remote",
            "requests_out_packets",
            "requests_in_packets",
            "responses_out_packets",
            "responses_in_packets",
            "bus_utilisation",
            "unit_utilisation",
            "pages",
        ]);
        for node in &self.profile.nodes {
            text += &csv::line([
                node.node.to_string(),
                node.transactions.to_string(),
                node.remote_transactions.to_string(),
                node.requests_out.to_string(),
                node.requests_in.to_string(),
                node.responses_out.to_string(),
                node.responses_in.to_string(),
                node.bus_utilisation.to_string(),
                node.unit_utilisation.to_string(),
                node.pages.to_string(),
            ]);
        }
        text
    }

    fn links_csv(&self) -> String {
        let mut text = csv::line(["link", "from", "to", "packets", "bytes", "bytes_per_s", "utilisation"]);
        for link in &self.profile.links {
            text += &csv::line([
                link_name(link),
                link.from.clone(),
                link.to.clone(),
                link.packets.to_string(),
                link.bytes.to_string(),
                (link.bytes as f64 / self.profile.totals.seconds).to_string(),
                link.utilisation.to_string(),
            ]);
        }
        text
    }

    fn threads_csv(&self) -> String {
        let mut text = csv::line([
            "thread",
            "name",
            "cpu",
            "node",
            "started_cycles",
            "ended_cycles",
            "routine",
            "local",
            "remote",
        ]);
        let traffic = traffic::by_thread(self.profile, &self.map);
        for (id, (thread, (local, remote))) in self.profile.threads.iter().zip(traffic).enumerate() {
            text += &csv::line([
                id.to_string(),
                thread.name.clone(),
                thread.cpu.to_string(),
                thread.node.to_string(),
                thread.started.to_string(),
                thread.ended.to_string(),
                self.place(thread.routine),
                local.to_string(),
                remote.to_string(),
            ]);
        }
        text
    }

    fn contested_csv(&self) -> String {
        let mut text = csv::line([
            "line",
            "area",
            "offset_bytes",
            "bytes",
            "transfers",
            "sharing",
            "thread",
            "reads",
            "writes",
            "bytes_read",
            "bytes_written",
            "code",
            "place",
            "name",
        ]);
        for (rank, line) in self.profile.contested.iter().enumerate() {
            let name = self.profile.areas.get(line.area as usize).map_or("", |area| &area.name);
            for by in &line.by {
                text += &csv::line([
                    rank.to_string(),
                    line.area.to_string(),
                    line.offset.to_string(),
                    line.bytes.to_string(),
                    line.transfers.to_string(),
                    super::sharing(line.sharing).to_owned(),
                    by.thread.to_string(),
                    by.reads.to_string(),
                    by.writes.to_string(),
                    byte_ranges(line, by.read_mask),
                    byte_ranges(line, by.write_mask),
                    format!("{:#x}", by.code),
                    self.place(by.code),
                    name.to_owned(),
                ]);
            }
        }
        text
    }

    fn by_node_columns(&self, what: &str) -> Vec<String> {
        self.nodes.iter().map(|node| format!("{what}_node_{node}")).collect()
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The bytes of a line that a mask names: `0-7 16-23`, parted by spaces, so that no spreadsheet takes them for a number.
fn byte_ranges(line: &ContestedLine, mask: u64) -> String {
    let group_bytes = (line.bytes / u64::BITS).max(1);
    let groups = (0..u64::BITS).filter(|group| mask >> group & 1 == 1);
    let bytes = groups.flat_map(|group| (0..group_bytes).map(move |byte| group * group_bytes + byte));
    let bytes: Vec<u16> = bytes.filter_map(|byte| u16::try_from(byte).ok()).collect();
    ranges(&bytes).replace(',', " ")
}
