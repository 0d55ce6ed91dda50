//! Laws of the counting pass, on small texts and on random ones.

use proptest::prelude::*;

use super::*;

/// A line of a made-up function.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A move: one instruction that needs the flags kept.
    Move,
    /// An addition: the flags die before it.
    Add,
    /// A call.
    Call,
    /// A branch that is not taken.
    Branch,
    /// A hook.
    Read,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Move),
        2 => Just(Step::Add),
        1 => Just(Step::Call),
        1 => Just(Step::Branch),
        2 => Just(Step::Read),
    ]
}

fn source(steps: &[Step]) -> String {
    let mut text = String::from("\t.text\nf:\n");
    for step in steps {
        text.push_str(match step {
            Step::Move => "\tmovq\t%rsi, %rdi\n",
            Step::Add => "\taddq\t$1, %rdi\n",
            Step::Call => "\tcallq\tg\n",
            // The next block begins with a place to count and has an instruction to pay for a hook's least count.
            Step::Branch => "\tjne\t.LBB0_9\n\taddq\t$1, %rdi\n",
            Step::Read => {
                "\t#APP\n\t#OLIFANT read 8 8 8(%rsi) %rax %rcx %xmm1\n\t#NO_APP\n\tmovq\t8(%rsi), %rdx\n"
            }
        });
    }
    text.push_str("\tretq\n.LBB0_9:\n\tretq\n.Lfunc_end0:\n\t.size\tf, .Lfunc_end0-f\n");
    text
}

/// What the text counts when it is executed from top to bottom up to the first return, no branch taken.
fn counted_on_the_way(text: &str) -> (u64, u64) {
    let (mut immediate, mut total) = (0, 0u64);
    for line in text.lines().map(str::trim) {
        if line.starts_with("ret") {
            break;
        } else if let Some(rest) = line.strip_prefix("movabsq\t$") {
            immediate = rest.split(',').next().unwrap().parse().unwrap();
        } else if line.starts_with("addq\t%") && line.ends_with("%gs:0") {
            total += immediate;
        } else if let Some(rest) = line.strip_prefix("addl\t$").filter(|rest| rest.ends_with("%gs:0")) {
            total += rest.split(',').next().unwrap().parse::<u64>().unwrap();
        }
    }
    (total & 0xffff_ffff, (total >> 32) & 0xffff)
}

proptest! {
    #[test]
    fn what_is_counted_is_what_is_executed(steps in proptest::collection::vec(step(), 0..60)) {
        let source = source(&steps);
        let executed = source.lines().take_while(|line| !line.contains(".LBB0_9:"))
            .filter(|line| matches!(lines::classify(line), Line::Instruction(..))).count() as u64;
        let counted = instrument(&source, LibraryCalls::Keep);
        let reads = steps.iter().filter(|step| matches!(step, Step::Read)).count() as u64;
        prop_assert_eq!(u64::from(counted.hooks), reads);
        let (instructions, counted_reads) = counted_on_the_way(&counted.text);
        prop_assert_eq!(counted_reads, reads);
        prop_assert_eq!(instructions + u64::from(counted.uncounted), executed, "{}", counted.text);
    }

    #[test]
    fn the_programs_own_lines_stay_as_they_were(steps in proptest::collection::vec(step(), 0..60)) {
        let source = source(&steps);
        let counted = instrument(&source, LibraryCalls::Keep);
        let mut out = counted.text.lines();
        for line in source.lines().filter(|line| !line.contains(lines::MARKER)) {
            prop_assert!(out.any(|other| other == line), "{line} is gone or moved:\n{}", counted.text);
        }
    }
}

/// The four numbers of each site, in order.
fn sites(text: &str) -> Vec<[u64; 4]> {
    text.lines()
        .filter_map(|line| line.trim().strip_prefix(".quad\t"))
        .map(|numbers| {
            let numbers: Vec<u64> = numbers.split(", ").map(|number| number.parse().unwrap()).collect();
            numbers.try_into().unwrap()
        })
        .collect()
}

#[test]
fn a_miss_takes_back_what_lies_ahead_of_it() {
    let read = "\t#OLIFANT read 8 8 (%rsi) %rax %rcx %xmm1\n\tmovq\t(%rsi), %rdx\n\taddq\t$1, %rdx\n";
    let write = "\t#OLIFANT write 8 8 (%rsi) %rax %rcx %xmm1\n\tmovq\t%rdx, (%rsi)\n";
    let text = format!("f:\n\tmovq\t%rdi, %rsi\n{read}{read}{write}\tretq\n\t.size\tf, .-f\n")
        .replace("\t#OLIFANT", "\t#APP\n\t#OLIFANT")
        .replace("%xmm1\n", "%xmm1\n\t#NO_APP\n");
    let counted = instrument(&text, LibraryCalls::Keep);
    let sites: Vec<[u64; 4]> = sites(&counted.text).into_iter().filter(|site| site[3] == 0).collect();
    assert_eq!(sites.len(), 3);
    let (one_read, one_write) = (1u64 << 32, 1u64 << 48);
    assert_eq!(sites[0][0], 2 * one_read + one_write + 7, "seven instructions in all");
    assert_eq!(
        sites.iter().map(|site| site[1]).collect::<Vec<_>>(),
        [one_read + 1, one_read + 2, one_write + 2]
    );
    assert_eq!(sites[0][0] - sites[0][1], sites[1][0]);
    assert_eq!(sites[1][0] - sites[1][1], sites[2][0]);
    assert_eq!(sites[2][0] - sites[2][1], 2, "the store and the return come after the last hook");
}

#[test]
fn an_update_counts_a_read_and_a_write_and_at_least_two_instructions() {
    let text = "f:\n\t#APP\n\t#OLIFANT update 4 4 (%rsi) %rax %rcx %xmm1\n\t#NO_APP\n\taddl\t$1, (%rsi)\n\tretq\n\t.size f, .-f\n";
    let counted = instrument(text, LibraryCalls::Keep);
    let update = sites(&counted.text).into_iter().find(|site| site[3] == 1).unwrap();
    assert_eq!(update[1], (1 << 32) + (1 << 48) + 2);
    assert_eq!(update[0], update[1], "the least count of two is all there is");
    assert!(counted.text.contains("pcmpeqd\t%gs:80("), "what may be written may be read");
}

#[test]
fn the_end_of_the_quantum_is_looked_for_in_a_loop_without_accesses() {
    let text = "f:\n\taddq\t$1, %rdi\n.LBB0_1:\n\taddq\t$1, %rdi\n\tjne\t.LBB0_1\n\tretq\n.Lfunc_end0:\n\t.size f, .-f\n";
    let counted = instrument(text, LibraryCalls::Keep).text;
    let head = counted.find(".LBB0_1:").unwrap();
    assert!(!counted[..head].contains("jae"), "not before the loop:\n{counted}");
    assert!(counted[head..].contains("jae\t.Lolifant_yield"), "but in it:\n{counted}");
}

#[test]
fn gcc_hooks_become_code_and_ranges_stay_calls() {
    let text = "f:\n\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8@PLT\n\tmovl\t$40, %esi\n\tcall\t__tsan_write_range@PLT\n\
                \tcall\tmemcpy@PLT\n\tmovq\t%rbx, %rdi\n\tjmp\t__tsan_unaligned_write4@PLT\n\t.size f, .-f\n";
    let counted = instrument(text, LibraryCalls::Rename).text;
    assert!(!counted.contains("__tsan_"), "{counted}");
    assert!(counted.contains("call\t__olifant_called_range@PLT"));
    assert!(counted.contains("call\t__olifant_memcpy@PLT"));
    assert!(counted.contains("leaq\t(%rdi), %rcx"));
    let code = counted.split(".Lolifant_yield").next().unwrap();
    assert!(code.contains("\tret\n") || counted.contains("\tret\n"), "the tail call returns");
    assert!(instrument(text, LibraryCalls::Keep).text.contains("memcpy@PLT"));
}

#[test]
fn a_file_with_its_own_strlen_keeps_it() {
    let text = "strlen:\n\tret\nf:\n\tcall\tstrlen\n\tret\n";
    assert!(instrument(text, LibraryCalls::Rename).text.contains("\tcall\tstrlen\n"));
}

#[test]
fn thread_local_addresses_get_their_segment_base() {
    let text = "f:\n\t#APP\n\t#OLIFANT read 4 4 %fs:x@TPOFF(%rdi) %rax %rcx %xmm1\n\t#NO_APP\n\tretq\n\t.size f, .-f\n";
    let counted = instrument(text, LibraryCalls::Keep).text;
    assert!(counted.contains("\tleaq\tx@TPOFF(%rdi), %rcx\n\taddq\t%fs:0, %rcx\n"), "{counted}");
}

#[test]
fn slow_paths_are_never_fallen_into_and_stay_in_the_functions_section() {
    let text = "f:\n\t#APP\n\t#OLIFANT read 4 4 (%rdi) %rax %rcx %xmm1\n\t#NO_APP\n\tjmp\t*%rax\n\t.section\t.rodata\n\
                .L4:\n\t.long\t.L7-.L4\n\t.text\n.L7:\n\t#APP\n\t#OLIFANT read 4 4 (%rdi) %rax %rcx %xmm1\n\t#NO_APP\n\
                \tcall\tabort\n\t.cfi_endproc\n\t.size f, .-f\n";
    let counted = instrument(text, LibraryCalls::Keep).text;
    let rodata = counted.find(".section").unwrap();
    assert!(
        counted[..rodata].contains(".Lolifant_slow"),
        "the first part's slow path stands before the table"
    );
    let table_end = counted.find("\t.text\n").unwrap();
    assert!(!counted[rodata..table_end].contains("olifant"), "nothing of ours in the table's section");
    assert!(
        counted[table_end..].contains("\tjmp\t.Lolifant_over"),
        "a call may return: jump over\n{counted}"
    );
}

#[test]
fn labels_that_only_tables_of_call_sites_name_start_no_block() {
    let text: Vec<&str> = "f:\n.Ltmp0:\n\tcallq\tg\n.Ltmp1:\n\tretq\n.Ltmp2:\n\tretq\n\t.section\t.gcc_except_table,\"a\"\n\
        \t.uleb128 .Ltmp0-.Lfunc_begin0\n\t.uleb128 .Ltmp1-.Ltmp0\n\t.uleb128 .Ltmp2-.Lfunc_begin0\n\t.byte 3\n"
        .lines()
        .collect();
    let targets = Targets::find(&text);
    let blocks = blocks::cut(&text, 0, 7, &targets);
    assert_eq!(
        blocks.iter().filter(|block| !block.events.is_empty()).count(),
        2,
        "the body and the landing pad"
    );
}
