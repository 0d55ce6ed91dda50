//! Teams: the threads that share a cpu and so move together, and the seats (cpus) that they take.
//!
//! With at most as many threads as cpus a team is one thread. A program with more (a main thread that only waits, or
//! threads of successive phases) keeps the profile's grouping, so that no cpu gets more to do than it had.

use crate::layout::Layout;
use olifant_machine::CpuId;
use olifant_opium::profile::Profile;
use std::collections::{BTreeMap, BTreeSet};

/// The teams, in the order of their first threads.
pub(crate) struct Teams {
    /// The team of each thread.
    pub of_thread: Vec<usize>,
    /// Where each team ran in the profile.
    pub given: Seats,
}

/// Where each team runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seats {
    /// The cpu of each team.
    pub cpu: Vec<CpuId>,
    /// Its node, by dense number.
    pub node: Vec<usize>,
}

impl Teams {
    /// Forms the teams.
    /// # Errors  The number of a cpu that the machine doesn't have.
    pub fn new(profile: &Profile, layout: &Layout) -> Result<Teams, u16> {
        if let Some(stranger) = profile.threads.iter().find(|thread| layout.node_of_cpu(thread.cpu).is_none())
        {
            return Err(stranger.cpu);
        }
        let cpus: usize = layout.cpus.iter().map(Vec::len).sum();
        let is_loose = profile.run.thread_policy == "float" && profile.threads.len() <= cpus;
        let mut of_thread = Vec::with_capacity(profile.threads.len());
        let mut team_of_cpu = BTreeMap::new();
        let mut given = Seats { cpu: Vec::new(), node: Vec::new() };
        let mut taken: BTreeSet<CpuId> = profile.threads.iter().map(|thread| CpuId(thread.cpu)).collect();
        for thread in &profile.threads {
            let mut cpu = CpuId(thread.cpu);
            let mut node = layout.node_of_cpu(thread.cpu).unwrap_or(0);
            if is_loose && team_of_cpu.contains_key(&cpu) {
                // A floating thread that ended on a cpu already counted gets the next free one, on its node if possible.
                if let Some(free) = free_seat(layout, &taken, node) {
                    (node, cpu) = free;
                }
            }
            let team = *team_of_cpu.entry(cpu).or_insert_with(|| {
                taken.insert(cpu);
                given.cpu.push(cpu);
                given.node.push(node);
                given.cpu.len() - 1
            });
            of_thread.push(team);
        }
        Ok(Teams { of_thread, given })
    }

    /// Number of teams.
    pub fn len(&self) -> usize {
        self.given.cpu.len()
    }

    /// The node of each thread for these seats.
    pub fn thread_nodes(&self, node_of_team: &[usize]) -> Vec<usize> {
        self.of_thread.iter().map(|&team| node_of_team[team]).collect()
    }

    /// Seats for teams that were given nodes: who stays on its node keeps its cpu, others take free ones in order.
    pub fn seats(&self, node_of_team: &[usize], layout: &Layout) -> Seats {
        let stays = |team: usize| self.given.node[team] == node_of_team[team];
        let kept: BTreeSet<CpuId> =
            (0..self.len()).filter(|&team| stays(team)).map(|team| self.given.cpu[team]).collect();
        let mut free: Vec<_> = layout
            .cpus
            .iter()
            .map(|cpus| {
                cpus.iter().copied().filter(|cpu| !kept.contains(cpu)).collect::<Vec<_>>().into_iter()
            })
            .collect();
        let cpu = (0..self.len())
            .map(|team| {
                let new = if stays(team) { None } else { free[node_of_team[team]].next() };
                new.unwrap_or(self.given.cpu[team])
            })
            .collect();
        Seats { cpu, node: node_of_team.to_vec() }
    }
}

/// The first cpu not taken, on the node if there is one.
fn free_seat(layout: &Layout, taken: &BTreeSet<CpuId>, node: usize) -> Option<(usize, CpuId)> {
    let others = (0..layout.len()).filter(|&other| other != node);
    core::iter::once(node)
        .chain(others)
        .flat_map(|node| layout.cpus[node].iter().map(move |&cpu| (node, cpu)))
        .find(|(_, cpu)| !taken.contains(cpu))
}
