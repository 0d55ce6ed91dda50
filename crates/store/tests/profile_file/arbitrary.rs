//! Arbitrary lawful profiles for the random tests.

use crate::any_facts::any_facts;
use olifant_opium::facts::Facts;
use olifant_opium::profile::*;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Any lawful profile of moderate size; texts hold any character, counters any 64 bits.
pub fn any_profile() -> impl Strategy<Value = Profile> {
    let machine = (any_run(), any_totals(), any_cpus(), any_nodes(), vec(any_link(), 0..4));
    let program = (vec(any_thread(), 0..5), vec(any_module(), 0..3), vec(any_site(), 0..4));
    (machine, program, 0..6_usize).prop_flat_map(|(machine, program, area_count)| {
        let areas = vec(any_area(program.2.len()), area_count);
        let granules = any_granules(area_count);
        let contested = vec(any_contested(area_count), if area_count == 0 { 0..1 } else { 0..4 });
        (Just(machine), Just(program), areas, any::<u64>(), granules, contested, any_facts(area_count))
            .prop_map(assemble)
    })
}

type Machine = (RunInfo, Totals, Vec<CpuTotals>, Vec<NodeTotals>, Vec<LinkTotals>);
type Program = (Vec<Thread>, Vec<Module>, Vec<Site>);
type Parts = (Machine, Program, Vec<Area>, u64, Vec<Granule>, Vec<Option<ContestedLine>>, Facts);

fn assemble((machine, program, areas, granule_bytes, granules, contested, facts): Parts) -> Profile {
    let (run, totals, cpus, nodes, links) = machine;
    let (threads, modules, sites) = program;
    let contested = contested.into_iter().flatten().collect();
    Profile {
        run,
        totals,
        cpus,
        nodes,
        links,
        threads,
        modules,
        sites,
        areas,
        granule_bytes,
        granules,
        contested,
        facts,
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-z_/.]{0,12}", 1 => any::<String>()]
}

fn any_real() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("NaN equals nothing", |real| !real.is_nan()), 0.0..1.0]
}

fn any_run() -> impl Strategy<Value = RunInfo> {
    let texts =
        (any_text(), vec(any_text(), 0..4), any_text(), any_text(), any_text(), any_text(), any_text());
    let evidence = select(vec![Evidence::Exact, Evidence::Sampled, Evidence::Simulated]);
    (texts, option::of(any_text()), any::<u64>(), evidence, any::<bool>(), any::<i32>(), any_text()).prop_map(
        |(texts, plan, seed, evidence, is_complete, exit_code, version)| {
            let (program, args, machine, machine_toml, configuration, thread_policy, memory_policy) = texts;
            RunInfo {
                program,
                args,
                machine,
                machine_toml,
                configuration,
                thread_policy,
                memory_policy,
                plan,
                seed,
                evidence,
                is_complete,
                exit_code,
                version,
            }
        },
    )
}

fn any_totals() -> impl Strategy<Value = Totals> {
    (any_real(), any::<[u64; 12]>(), any_real(), any_text()).prop_map(
        |(seconds, counters, host_seconds, digest)| {
            let [instructions, reads, writes, tlb_misses, l1_misses, l2_misses, rest @ ..] = counters;
            let [
                upgrades,
                write_backs,
                remote_transactions,
                request_packets,
                response_packets,
                network_bytes,
            ] = rest;
            Totals {
                seconds,
                instructions,
                reads,
                writes,
                tlb_misses,
                l1_misses,
                l2_misses,
                upgrades,
                write_backs,
                remote_transactions,
                request_packets,
                response_packets,
                network_bytes,
                host_seconds,
                digest,
            }
        },
    )
}

fn any_cpus() -> impl Strategy<Value = Vec<CpuTotals>> {
    btree_map(any::<u16>(), (any::<u16>(), any::<[u64; 10]>()), 0..5).prop_map(|cpus| {
        let cpu = |(cpu, (node, counters)): (u16, (u16, [u64; 10]))| {
            let [cycles, idle_cycles, instructions, reads, writes, rest @ ..] = counters;
            let [tlb_misses, l1_misses, l2_misses, upgrades, write_backs] = rest;
            CpuTotals {
                cpu,
                node,
                cycles,
                idle_cycles,
                instructions,
                reads,
                writes,
                tlb_misses,
                l1_misses,
                l2_misses,
                upgrades,
                write_backs,
            }
        };
        cpus.into_iter().map(cpu).collect()
    })
}

fn any_nodes() -> impl Strategy<Value = Vec<NodeTotals>> {
    btree_map(any::<u16>(), (any::<[u64; 7]>(), any_real(), any_real()), 0..5).prop_map(|nodes| {
        let node = |(node, (counters, bus_utilisation, unit_utilisation)): (u16, ([u64; 7], f64, f64))| {
            let [transactions, remote_transactions, requests_out, requests_in, rest @ ..] = counters;
            let [responses_out, responses_in, pages] = rest;
            NodeTotals {
                node,
                transactions,
                remote_transactions,
                requests_out,
                requests_in,
                responses_out,
                responses_in,
                bus_utilisation,
                unit_utilisation,
                pages,
            }
        };
        nodes.into_iter().map(node).collect()
    })
}

fn any_link() -> impl Strategy<Value = LinkTotals> {
    (any_text(), any_text(), any::<u64>(), any::<u64>(), any_real()).prop_map(
        |(from, to, packets, bytes, utilisation)| LinkTotals { from, to, packets, bytes, utilisation },
    )
}

fn any_thread() -> impl Strategy<Value = Thread> {
    (any_text(), any::<u16>(), any::<u16>(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(
        |(name, cpu, node, started, ended, routine)| Thread { name, cpu, node, started, ended, routine },
    )
}

fn any_module() -> impl Strategy<Value = Module> {
    (any_text(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(path, bias, start, end)| Module {
        path,
        bias,
        start,
        end,
    })
}

fn any_site() -> impl Strategy<Value = Site> {
    let frame = (any_text(), any_text(), any::<u32>()).prop_map(|(function, file, line)| Frame {
        function,
        file,
        line,
    });
    (vec(any::<u64>(), 0..4), vec(frame, 0..4)).prop_map(|(path, frames)| Site { path, frames })
}

fn any_area(site_count: usize) -> impl Strategy<Value = Area> {
    use AreaKind::*;
    let kind = select(vec![Heap, Global, Stack, Mapping, Small, Other]);
    let site = option::of(any::<prop::sample::Index>()).prop_map(move |site| {
        (site_count > 0).then(|| site.map(|site| site.index(site_count) as u32)).flatten()
    });
    let place = (any::<u64>(), any::<u64>(), any::<u32>(), any::<u16>());
    (kind, any_text(), place, site, any::<u64>(), option::of(any::<u64>())).prop_map(
        |(kind, name, (start, bytes, ordinal, thread), site, born, freed)| Area {
            kind,
            name,
            start,
            bytes,
            site,
            ordinal,
            thread,
            born,
            freed,
        },
    )
}

fn any_granules(area_count: usize) -> impl Strategy<Value = Vec<Granule>> {
    let accessors = btree_map(
        (any::<u16>(), any::<u16>()),
        (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()),
        0..4,
    );
    let size = if area_count == 0 { 0..1 } else { 0..12 };
    let key = (0..area_count.max(1) as u32, 0..1_u64 << 50);
    btree_map(key, (any::<u16>(), accessors), size).prop_map(|granules| {
        let granule =
            |((area, index), (home, accessors)): ((u32, u64), (u16, std::collections::BTreeMap<_, _>))| {
                let accesses = |((thread, node), (reads, writes, upgrades, write_backs))| Accesses {
                    thread,
                    node,
                    reads,
                    writes,
                    upgrades,
                    write_backs,
                };
                Granule { area, index, home, by: accessors.into_iter().map(accesses).collect() }
            };
        granules.into_iter().map(granule).collect()
    })
}

fn any_contested(area_count: usize) -> impl Strategy<Value = Option<ContestedLine>> {
    use Sharing::*;
    let sharing = select(vec![True, False, Mixed, Migratory, ProducerConsumer, ReadOnly]);
    let field = (any_text(), any::<i32>(), any::<u32>());
    let fields = vec(field.prop_map(|(name, offset, bytes)| LineField { name, offset, bytes }), 0..3);
    let head = (any::<prop::sample::Index>(), any::<i64>(), any::<u32>(), any::<u64>());
    let accessors = btree_map(any::<u16>(), any::<[u64; 5]>(), 0..4).prop_map(|accessors| {
        let accessor = |(thread, [reads, writes, read_mask, write_mask, code]): (u16, [u64; 5])| {
            LineAccesses { thread, reads, writes, read_mask, write_mask, code }
        };
        accessors.into_iter().map(accessor).collect::<Vec<_>>()
    });
    (head, sharing, fields, accessors).prop_map(
        move |((area, offset, bytes, transfers), sharing, fields, by)| {
            (area_count > 0).then(|| ContestedLine {
                area: area.index(area_count) as u32,
                offset,
                bytes,
                transfers,
                sharing,
                fields,
                by,
            })
        },
    )
}
