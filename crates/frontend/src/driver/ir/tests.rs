//! Laws of the IR pass on small modules, with typed pointers (LLVM 14) and opaque ones (15 and newer).

use std::io::Write;
use std::process::{Command, Stdio};

use super::*;

/// A module around a function's body, in the old and the new spelling of pointers.
fn modules(body: &str) -> [String; 2] {
    let module = format!(
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128\"\n\
         target triple = \"x86_64-pc-linux-gnu\"\n\
         %struct.pair = type {{ i64, i64 }}\n\
         @g = global [8 x i32] zeroinitializer\n\
         define i64 @f(i64* %0, i64 %1) #0 {{\n{body}}}\n\
         attributes #0 = {{ nounwind \"target-features\"=\"+sse,+sse2\" }}\n"
    );
    let opaque = [
        "i64*",
        "i32*",
        "i16*",
        "i8*",
        "double*",
        "x86_fp80*",
        "%struct.pair*",
        "[8 x i32]*",
        "<4 x double>*",
    ]
    .iter()
    .fold(module.clone(), |text, kind| text.replace(kind, "ptr"));
    [module, opaque]
}

/// Checks `module` with the installed clang; without one, says so.
fn assert_verifies(module: &str) {
    let is_opaque = module.contains("(ptr ");
    let child = Command::new("clang")
        .args(["-x", "ir", "-", "-O1", "-Xclang", "-disable-llvm-passes", "-S", "-o", "-"])
        .args(is_opaque.then_some(["-mllvm", "-opaque-pointers"]).into_iter().flatten())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: no clang in PATH to verify the module with");
        return;
    };
    child.stdin.take().unwrap().write_all(module.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    // Newer compilers know only opaque pointers and no such option, older ones the reverse.
    if errors.contains("unknown argument") || errors.contains("opaque pointers") {
        eprintln!("skipped: this clang does not read this spelling of pointers");
        return;
    }
    assert!(output.status.success(), "{errors}\n{module}");
}

fn hooks(module: &str) -> Vec<String> {
    module
        .lines()
        .filter_map(|line| {
            line.split_once("#OLIFANT ").map(|(_, rest)| rest.split(" $").next().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn every_load_and_store_gets_one_hook_and_the_module_still_verifies() {
    let body = "  %3 = load i64, i64* %0, align 8\n  %4 = getelementptr inbounds i64, i64* %0, i64 %1\n\
                \x20 store volatile i64 %3, i64* %4, align 8\n  %5 = bitcast i64* %0 to double*\n\
                \x20 %6 = load double, double* %5, align 4\n  br label %7\n\n\
                7:                                                ; preds = %2\n\
                \x20 store i32 1, i32* getelementptr inbounds ([8 x i32], [8 x i32]* @g, i64 0, i64 2), align 8\n\
                \x20 ret i64 %3\n";
    for module in modules(body) {
        let out = instrument(&module);
        assert_eq!(hooks(&out), ["read 8 8", "write 8 8", "read 8 4", "write 4 8"], "{out}");
        assert_verifies(&out);
    }
}

#[test]
fn atomics_go_to_the_runtime_with_their_orderings() {
    let body = "  %3 = load atomic i64, i64* %0 acquire, align 8\n  store atomic i64 %3, i64* %0 release, align 8\n\
                \x20 %4 = atomicrmw add i64* %0, i64 2 monotonic, align 8\n\
                \x20 %5 = cmpxchg weak i64* %0, i64 %3, i64 %4 acq_rel monotonic, align 8\n\
                \x20 %6 = extractvalue { i64, i1 } %5, 0\n  fence seq_cst\n\
                \x20 %7 = atomicrmw umax i64* %0, i64 %6 seq_cst, align 8\n\
                \x20 %8 = bitcast i64* %0 to double*\n  %9 = load atomic double, double* %8 seq_cst, align 8\n\
                \x20 ret i64 %7\n";
    for module in modules(body) {
        let out = instrument(&module);
        for call in ["64_load(", "64_store(", "64_fetch_add(", "64_compare_exchange_val("] {
            assert!(out.contains(&format!("@__tsan_atomic{call}")), "{call}\n{out}");
        }
        assert!(out.contains("i32 2)") && out.contains("i32 3)") && out.contains("i32 4, i32 0)"), "{out}");
        assert!(
            !out.contains("load atomic") && !out.contains("cmpxchg") && !out.contains("atomicrmw add"),
            "{out}"
        );
        assert_eq!(hooks(&out), ["update 8 8"], "the maximum stays an instruction");
        assert_verifies(&out);
    }
}

#[test]
fn copies_are_counted_by_range_and_small_ones_in_line() {
    let body = "  %3 = bitcast i64* %0 to i8*\n  %4 = getelementptr i8, i8* %3, i64 64\n\
                \x20 call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %4, i8* noundef nonnull align 8 dereferenceable(16) %3, i64 16, i1 false)\n\
                \x20 call void @llvm.memset.p0i8.i64(i8* align 8 %3, i8 0, i64 %1, i1 false)\n  ret i64 0\n";
    let module = modules(body)[0].clone()
        + "declare void @llvm.memcpy.p0i8.p0i8.i64(i8*, i8*, i64, i1)\ndeclare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)\n";
    let out = instrument(&module);
    assert_eq!(hooks(&out), ["read 16 8", "write 16 8"]);
    assert!(out.contains("call void @__olifant_range(i8* %n.3, i64 %n.1, i64 281474976710657)"), "{out}");
    assert_verifies(&out);
}

#[test]
fn aggregates_and_long_vectors_are_ranges_and_odd_scalars_keep_their_size() {
    let body = "  %3 = bitcast i64* %0 to %struct.pair*\n  %4 = load %struct.pair, %struct.pair* %3, align 8\n\
                \x20 %5 = bitcast i64* %0 to <4 x double>*\n  %6 = load <4 x double>, <4 x double>* %5, align 8\n\
                \x20 %7 = bitcast i64* %0 to x86_fp80*\n  %8 = load x86_fp80, x86_fp80* %7, align 16\n  ret i64 0\n";
    for module in modules(body) {
        let out = instrument(&module);
        assert_eq!(hooks(&out), ["read 32 8", "read 10 16"]);
        assert!(out.contains("getelementptr (%struct.pair, "), "{out}");
        assert_verifies(&out);
    }
}

#[test]
fn volatile_reads_are_shown_to_the_runtime() {
    let module = &modules("  %3 = load volatile i64, i64* %0, align 8\n  ret i64 %3\n")[0];
    let out = instrument(module);
    assert!(out.contains("call void @__tsan_volatile_read8(i8* %olifant.1)"), "{out}");
    assert!(hooks(&out).is_empty());
    assert_verifies(&out);
}

#[test]
fn code_without_vector_registers_gets_hooks_without() {
    let [module, _] = modules("  %3 = load i64, i64* %0, align 8\n  ret i64 %3\n");
    let out = instrument(&module.replace("+sse,+sse2", "-sse,-sse2"));
    assert!(
        out.contains("{ i64, i64 } asm sideeffect \"#OLIFANT read 8 8 $2 $0 $1\", \"=&r,=&r,*m,"),
        "{out}"
    );
    assert_verifies(&out);
}

#[test]
fn library_functions_are_renamed_everywhere_but_in_strings() {
    let module = "@s = constant [11 x i8] c\"@strlen(x)\\00\"\n@p = global i64 (i8*)* @strlen\n\
                  define i64 @f(i8* %0) {\n  %2 = call i64 @strlen(i8* %0)\n  ret i64 %2\n}\ndeclare i64 @strlen(i8*)\n";
    let out = instrument(module);
    assert!(out.contains("c\"@strlen(x)\\00\""));
    assert!(out.contains("global i64 (i8*)* @__olifant_strlen"));
    assert!(out.contains("call i64 @__olifant_strlen(") && out.contains("declare i64 @__olifant_strlen("));
    assert_verifies(&out);
    let own = module.replace("declare i64 @strlen(i8*)", "define i64 @strlen(i8* %0) {\n  ret i64 0\n}");
    assert!(instrument(&own).contains("call i64 @strlen("), "the program's own function is the program's");
}

#[test]
fn resolvers_of_indirect_functions_are_left_alone() {
    let module = "@chosen = ifunc i32 (), i32 ()* ()* @choose\n@level = global i32 0\n\
                  define i32 ()* @choose() {\n  %1 = load i32, i32* @level, align 4\n  ret i32 ()* null\n}\n";
    assert!(hooks(&instrument(module)).is_empty());
}

#[test]
fn a_module_with_numbered_types_keeps_its_order() {
    let module = "%0 = type { i32 }\ndefine i32 @f(i32* %0, i64 %1) {\n  %3 = load i32, i32* %0, align 4\n\
                  \x20 %4 = getelementptr i32, i32* %0, i64 %1\n  %5 = load i32, i32* %4, align 4\n  ret i32 %5\n}\n";
    let out = instrument(module);
    assert_eq!(hooks(&out).len(), 2);
    assert!(out.contains("  %4 = getelementptr i32, i32* %0, i64 %1"), "{out}");
    assert_verifies(&out);
}
