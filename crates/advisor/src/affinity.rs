//! Which teams share data: a matrix of the packets that two teams would save by living on one node.
//!
//! Two teams that use a cell gain by sitting together what the lesser of them uses, since the page then lives near
//! both. Lines that move between caches because of writes count likewise. Of a cell's users only the heaviest few are
//! paired: what everybody shares says nothing about who belongs to whom, and pairs grow with the square.

use crate::demand::{Demand, FETCH_PACKETS};
use crate::teams::Teams;
use olifant_opium::profile::ContestedLine;

/// Users of a cell that are paired with one another.
const PAIRED_USERS: usize = 16;

/// A symmetric matrix with an empty diagonal.
pub(crate) struct Affinity {
    teams: usize,
    packets: Vec<u64>,
}

impl Affinity {
    /// Gathers what cells and contested lines show.
    pub fn new(demand: &Demand, contested: &[ContestedLine], teams: &Teams) -> Affinity {
        let mut affinity = Affinity { teams: teams.len(), packets: vec![0; teams.len() * teams.len()] };
        let mut users = Users { packets: vec![0; teams.len()], teams: Vec::new() };
        for cell in 0..demand.cells() {
            for entry in demand.cell_entries(cell) {
                users.add(teams.of_thread[entry.thread], entry.packets());
            }
            affinity.pair(&mut users);
        }
        for line in contested {
            for by in &line.by {
                if let Some(&team) = teams.of_thread.get(usize::from(by.thread)) {
                    users.add(team, FETCH_PACKETS * (by.reads + by.writes));
                }
            }
            affinity.pair(&mut users);
        }
        affinity
    }

    /// What two teams share.
    pub fn between(&self, a: usize, b: usize) -> u64 {
        self.packets[a * self.teams + b]
    }

    /// What a team shares with each team.
    pub fn row(&self, team: usize) -> &[u64] {
        &self.packets[team * self.teams..(team + 1) * self.teams]
    }

    /// What teams on different nodes share, in all.
    pub fn across_nodes(&self, node_of_team: &[usize]) -> u64 {
        let of_team = |team: usize| -> u64 {
            let others = self.row(team).iter().enumerate();
            others
                .filter(|&(other, _)| node_of_team[other] != node_of_team[team])
                .map(|(_, packets)| packets)
                .sum()
        };
        (0..self.teams).map(of_team).sum::<u64>() / 2
    }

    /// Credits all pairs of the heaviest users, and empties the list.
    fn pair(&mut self, users: &mut Users) {
        users.teams.sort_unstable_by_key(|&team| (core::cmp::Reverse(users.packets[team]), team));
        let heaviest = &users.teams[..users.teams.len().min(PAIRED_USERS)];
        for (rank, &a) in heaviest.iter().enumerate() {
            // Sorted by weight, so each later user is the lesser of the pair.
            for &b in &heaviest[rank + 1..] {
                self.packets[a * self.teams + b] += users.packets[b];
                self.packets[b * self.teams + a] += users.packets[b];
            }
        }
        for team in users.teams.drain(..) {
            users.packets[team] = 0;
        }
    }
}

/// The users of one cell: packets by team, zero but for those listed.
struct Users {
    packets: Vec<u64>,
    teams: Vec<usize>,
}

impl Users {
    fn add(&mut self, team: usize, packets: u64) {
        if packets > 0 {
            if self.packets[team] == 0 {
                self.teams.push(team);
            }
            self.packets[team] += packets;
        }
    }
}
