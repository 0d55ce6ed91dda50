//! The compiler driver from end to end, with a small runtime in C in place of the real one: programs behave as plain ones,
//! build systems find a compiler they can use, and what is counted is what happens.
//!
//! Needs clang, gcc and g++; tests of further tools (gfortran, cmake) say so when they are missing and pass.

#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const BACKENDS: [&str; 2] = ["clang", "gcc"];

/// A folder of one test, with `cc` and `c++` as build systems want them: single commands.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Place {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("driver-{test}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        for (name, command) in [("occ", "cc"), ("ocxx", "c++"), ("ofc", "fc")] {
            let script = format!("#!/bin/sh\nexec '{}' {command} \"$@\"\n", driver().display());
            std::fs::write(path.join(name), script).unwrap();
            assert!(Command::new("chmod").arg("+x").arg(path.join(name)).status().unwrap().success());
        }
        Place(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A command in this folder with the mock runtime.
    fn command(&self, program: &str) -> Command {
        let path = self.0.join(program);
        let mut command = Command::new(if path.exists() { path.as_os_str() } else { OsStr::new(program) });
        command.current_dir(&self.0).env("OLIFANT_RUNTIME", mock_runtime()).env_remove("OLIFANT_CC_BACKEND");
        command
    }

    /// Runs a command line (split at blanks) that must succeed silently; returns its output.
    fn run(&self, line: &str) -> String {
        let output = self.output(line);
        let (out, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line}: {}\n{out}{errors}", output.status);
        out.into_owned() + &errors
    }

    fn output(&self, line: &str) -> Output {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        self.command(words.next().unwrap()).args(words).output().unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// The example `driver`, built beside this test.
fn driver() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().parent().unwrap().join("examples/driver");
    assert!(path.is_file(), "{} is missing: run `cargo build --examples` first", path.display());
    path
}

/// The folder with libolifant_rt.a made of the mock, built once.
fn mock_runtime() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver-mock");
        std::fs::create_dir_all(&folder).unwrap();
        let (source, object) = (folder.join("mock.c"), folder.join("mock.o"));
        std::fs::write(&source, include_str!("driver/mock_runtime.c")).unwrap();
        let built = Command::new("gcc").args(["-O1", "-c", "-o"]).arg(&object).arg(&source).status().unwrap();
        assert!(built.success());
        let library = folder.join("libolifant_rt.a");
        assert!(Command::new("ar").arg("rcs").arg(library).arg(object).status().unwrap().success());
        folder
    })
}

fn is_installed(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        eprintln!("skipped: {program} is not installed");
    }
    is_there
}

/// Options that bring out different code: none, ordinary, vectors with their wide registers, shared-library code.
const FLAVOURS: [&str; 4] =
    ["-O0", "-O2", "-O3 -mavx2 -ftree-vectorize", "-O1 -fPIC -fno-omit-frame-pointer"];

fn behaves_as_plain(place: &Place, source: &str, plain: &str, instrumented: &str) {
    let has_avx2 = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default().contains(" avx2 ");
    for flavour in FLAVOURS.into_iter().filter(|flavour| has_avx2 || !flavour.contains("avx2")) {
        place.run(&format!("{plain} {flavour} {source} -o plain -lm"));
        let expected = place.run("plain");
        for backend in BACKENDS {
            let line = format!(
                "env OLIFANT_CC_BACKEND={backend} {instrumented} {flavour} {source} -o instrumented -lm"
            );
            let said = place.run(&line);
            assert_eq!(said, "", "{backend} {flavour}: a build without warnings stays silent");
            assert_eq!(place.run("instrumented"), expected, "{backend} {flavour}");
        }
    }
}

#[test]
fn a_c_program_with_every_form_of_access_behaves_as_the_plain_one() {
    let place = Place::new("everything-c");
    place.file("everything.c", include_str!("driver/everything.c"));
    behaves_as_plain(&place, "everything.c", "gcc -std=gnu11", "./occ -std=gnu11");
}

#[test]
fn a_cpp_program_with_exceptions_and_containers_behaves_as_the_plain_one() {
    let place = Place::new("everything-cpp");
    place.file("everything.cpp", include_str!("driver/everything.cpp"));
    behaves_as_plain(&place, "everything.cpp", "g++ -std=c++17", "./ocxx -std=c++17");
}

/// The mock's report of a run: instructions, reads, writes.
fn counts(place: &Place, program: &str) -> [u64; 3] {
    let output = place.command(program).env("MOCK_REPORT", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let report = text.lines().find_map(|line| line.strip_prefix("mock ")).expect("a report");
    let numbers: Vec<u64> =
        report.split(' ').map(|field| field.split('=').nth(1).unwrap().parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

#[test]
fn reads_and_writes_are_counted_exactly_and_instructions_nearly() {
    let place = Place::new("counts");
    place.file(
        "loop.c",
        "#include <stdlib.h>\nint in[1000], out[1000];\n\
         int main(int argc, char **argv) { (void)argv; long total = 0;\n\
         for (int round = 0; round < 100 * argc; round++) for (int i = 0; i < 1000; i++) { out[i] = in[i] + round; }\n\
         for (int i = 0; i < 1000; i++) total += out[i]; return total != 99000; }\n",
    );
    for backend in BACKENDS {
        place.run(&format!("env OLIFANT_CC_BACKEND={backend} ./occ -O2 -fno-unroll-loops loop.c -o loop"));
        let [instructions, reads, writes] = counts(&place, "loop");
        assert_eq!((reads, writes), (101_000, 100_000), "{backend}");
        // The plain loop has five or six instructions an element.
        assert!((450_000..=850_000).contains(&instructions), "{backend}: {instructions}");
        place.run("loop");
    }
}

#[test]
fn dependency_files_are_those_of_the_plain_compiler() {
    let place = Place::new("dependencies");
    place.file("part.h", "#define PART 1\n");
    place.file("a.c", "#include \"part.h\"\nint a(void) { return PART; }\n");
    for options in [
        "-MD -c a.c",
        "-MMD -MF deps/x.d -c a.c -o deps/a.o",
        "-MMD -MP -MT target -c a.c",
        "-Wp,-MMD,deps/y.d -c a.c -o a.o",
    ] {
        std::fs::create_dir_all(place.0.join("deps")).unwrap();
        let file = match () {
            () if options.contains("x.d") => "deps/x.d",
            () if options.contains("y.d") => "deps/y.d",
            () => "a.d",
        };
        place.run(&format!("clang {options}"));
        let expected = std::fs::read_to_string(place.0.join(file)).unwrap();
        std::fs::remove_file(place.0.join(file)).unwrap();
        for backend in BACKENDS {
            place.run(&format!("env OLIFANT_CC_BACKEND={backend} ./occ {options}"));
            let written = std::fs::read_to_string(place.0.join(file)).unwrap();
            let plain = |text: &str| {
                text.split_whitespace().filter(|word| *word != "\\").map(str::to_owned).collect::<Vec<_>>()
            };
            let own = |words: Vec<String>| {
                words.into_iter().filter(|word| !word.starts_with('/')).collect::<Vec<_>>()
            };
            assert_eq!(own(plain(&written)), own(plain(&expected)), "{backend} {options}");
        }
    }
}

#[test]
fn questions_are_answered_by_the_compiler() {
    let place = Place::new("questions");
    place.file("a.c", "#include <stdio.h>\nint x = __LINE__;\n#ifdef __SANITIZE_THREAD__\n#error\n#endif\n");
    for question in [
        "--version",
        "-dumpmachine",
        "-print-prog-name=ld",
        "-dumpversion",
        "-E a.c",
        "-M a.c",
        "-fsyntax-only a.c",
    ] {
        assert_eq!(
            place.run(&format!("./occ {question}")),
            place.run(&format!("clang {question}")),
            "{question}"
        );
    }
    let verbose = place.output("./occ -v");
    assert!(String::from_utf8_lossy(&verbose.stderr).contains("clang version"));
}

#[test]
fn what_cannot_be_honoured_is_refused_with_a_reason() {
    let place = Place::new("refusals");
    place.file("a.c", "int main(void) { return 0; }\n");
    for (options, word) in [
        ("-static a.c", "dynamic"),
        ("-fsanitize=address a.c", "sanitizers"),
        ("-m32 a.c", "64-bit"),
        ("-c a.c a.c -o both.o", "one output"),
        ("-x rust a.c", "rust"),
        ("a.c -o", "value"),
        ("", "no input"),
    ] {
        let output = place.output(&format!("./occ {options}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{options}");
        assert!(errors.starts_with("olifant: ") && errors.contains(word), "{options}: {errors}");
    }
    let noted = place.output("./occ -flto -pie -c a.c");
    assert!(noted.status.success());
    assert!(String::from_utf8_lossy(&noted.stderr).contains("-flto dropped"));
}

#[test]
fn missing_pieces_are_named_with_what_to_do() {
    let place = Place::new("missing");
    place.file("a.c", "int main(void) { return 0; }\n");
    let output = place.command("occ").args(["-c", "a.c"]).env("PATH", "/nowhere").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("apt install clang"));
    let output = place.command("occ").args(["a.c"]).env("OLIFANT_RUNTIME", "/nowhere").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("libolifant_rt.a was not found (looked in /nowhere"), "{errors}");
    let output = place.command("occ").args(["-c", "a.c"]).env("OLIFANT_CC_BACKEND", "icc").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected clang or gcc"));
}

#[test]
fn a_compile_error_passes_through_with_its_code_and_leaves_nothing() {
    let place = Place::new("error");
    place.file("bad.c", "int main(void) { return nothing; }\n");
    let output = place.output("./occ -c bad.c -o bad.o");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("bad.c:1:"));
    assert!(!place.0.join("bad.o").exists());
}

#[test]
fn sources_come_in_every_way_a_build_may_give_them() {
    let place = Place::new("sources");
    place.file("a.c", "int b(void); int c(void);\nint main(void) { return b() + c() - 12; }\n");
    place.file("b.c", "int table[4] = { 1, 2, 3, 4 };\nint b(void) { return table[3] + 1; }\n");
    place.file("c.s", "\t.globl c\nc:\tmovl $7, %eax\n\tret\n\t.section .note.GNU-stack,\"\",@progbits\n");
    place.file("args", "-O2 'a.c'\n\"b.c\" c.s");
    place.run("./occ a.c b.c c.s -o all");
    place.run("all");
    place.run("./occ @args -o answered");
    place.run("answered");
    place.run("./occ -c a.c b.c c.s");
    place.run("gcc -c b.c -o plain.o");
    place.run("./occ a.o plain.o c.o -o mixed");
    place.run("mixed");
    place.run("./occ -S -O2 a.c b.c");
    place.run("clang -c -o from_s.o b.s");
    assert!(std::fs::read_to_string(place.0.join("b.s")).unwrap().contains("pcmpeqd"));
    place.run("ar rcs libb.a b.o");
    place.run("./occ a.o c.o -L. -lb -o archived");
    place.run("archived");
    place.run("./occ -r b.o c.o -o bc.o");
    place.run("./occ a.o bc.o -o merged");
    place.run("merged");
    let text = std::fs::File::open(place.0.join("b.c")).unwrap();
    let status = place.command("occ").args(["-xc", "-c", "-", "-o", "piped.o"]).stdin(text).status().unwrap();
    assert!(status.success());
    place.run("./occ a.o piped.o c.o -o piped");
    place.run("piped");
}

#[test]
fn a_shared_library_finds_its_hooks_in_the_program_and_names_them_when_there_are_none() {
    let place = Place::new("shared");
    place.file("library.c", "int cells[100];\nint fill(int n) { for (int i = 0; i < n; i++) cells[i] += i; return cells[n - 1]; }\n");
    place.file("main.c", "int fill(int n);\nint main(void) { return fill(100) != 99; }\n");
    for backend in BACKENDS {
        place.run(&format!(
            "env OLIFANT_CC_BACKEND={backend} ./occ -O2 -fPIC -shared -Wl,-z,defs library.c -o libfill.so"
        ));
        place.run("./occ main.c -L. -lfill -Wl,-rpath,. -o program");
        place.run("program");
        place.run(
            "gcc main.c -L. -lfill -Wl,-rpath,. -Wl,--unresolved-symbols=ignore-in-shared-libs -o plain",
        );
        let output = place.output("plain");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains("__olifant_"), "{backend}: {errors}");
    }
}

/// What configure scripts ask of a compiler, in the order they ask.
const CONFIGURE: &str = r#"#!/bin/sh
set -e
echo 'int main(void) { return 0; }' > conftest.c
"$CC" -o conftest conftest.c 2>conftest.err; test ! -s conftest.err; ./conftest
rm -f a.out; "$CC" conftest.c; test -x a.out
"$CC" -c conftest.c; test -f conftest.o
"$CC" -E conftest.c | grep -q main
echo '#include <no_such_header.h>' > conftest.c; if "$CC" -E conftest.c >/dev/null 2>&1; then exit 3; fi
printf '#ifndef __GNUC__\nchoke me\n#endif\n' > conftest.c; "$CC" -c conftest.c
printf '#include <math.h>\nint main(void){volatile double x=2; return pow(x,2)!=4;}\n' > conftest.c
"$CC" -o conftest conftest.c -lm && ./conftest
printf 'char no_such_function(void); int main(void){return no_such_function();}\n' > conftest.c
if "$CC" -o conftest conftest.c 2>/dev/null; then exit 4; fi
printf 'int x[sizeof(long) == 8 ? 1 : -1];\n' > conftest.c; "$CC" -c conftest.c
printf 'int unused(void){return 0;}\n' > conftest.c
"$CC" -Werror -Wall -Wextra -fvisibility=hidden -c conftest.c
if "$CC" -Werror -fno-such-option -c conftest.c 2>/dev/null; then exit 5; fi
"$CC" -MD -MP -MF conftest.d -c conftest.c && grep -q 'conftest.o: conftest.c' conftest.d
"$CC" -shared -fPIC -o conftest.so conftest.c && test -f conftest.so
"$CC" -print-prog-name=ld >/dev/null
"$CC" -v >/dev/null 2>&1
if "$CC" -static -o conftest conftest.c 2>/dev/null; then exit 6; fi
printf '#include <pthread.h>\nstatic void*f(void*p){return p;} int main(void){pthread_t t;return pthread_create(&t,0,f,0)||pthread_join(t,0);}\n' > conftest.c
"$CC" -pthread -o conftest conftest.c && ./conftest
"#;

#[test]
fn configure_scripts_find_a_compiler_that_works() {
    for backend in BACKENDS {
        let place = Place::new(&format!("configure-{backend}"));
        place.file("configure", CONFIGURE);
        let compiler = place.0.join("occ");
        place.run(&format!("env OLIFANT_CC_BACKEND={backend} CC={} sh -x ./configure", compiler.display()));
    }
}

#[test]
fn cmake_builds_in_parallel_with_the_driver_as_its_compilers() {
    if !is_installed("cmake") {
        return;
    }
    let place = Place::new("cmake");
    place.file(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(sample C CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
         find_package(Threads REQUIRED)\ninclude(CheckCSourceCompiles)\ninclude(CheckFunctionExists)\n\
         check_function_exists(pow HAS_POW_WITHOUT_M)\n\
         check_c_source_compiles(\"int main(void) { return __builtin_popcount(3) - 2; }\" HAS_POPCOUNT)\n\
         if(NOT HAS_POPCOUNT)\nmessage(FATAL_ERROR \"no popcount\")\nendif()\n\
         add_library(shapes SHARED shapes.c)\nadd_library(parts STATIC part0.c part1.c part2.c part3.c)\n\
         add_executable(sample everything.cpp)\ntarget_link_libraries(sample shapes parts Threads::Threads m)\n\
         add_executable(plain_c everything.c)\ntarget_link_libraries(plain_c m)\n",
    );
    place.file("everything.cpp", include_str!("driver/everything.cpp"));
    place.file("everything.c", include_str!("driver/everything.c"));
    place.file("shapes.c", "int shapes_drawn; void draw(void) { shapes_drawn++; }\n");
    for part in 0..4 {
        place.file(
            &format!("part{part}.c"),
            &format!("int part{part}[9]; int get{part}(int i) {{ return part{part}[i]++; }}\n"),
        );
    }
    let (cc, cxx) = (place.0.join("occ"), place.0.join("ocxx"));
    place.run(&format!(
        "cmake -S . -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER={} -DCMAKE_CXX_COMPILER={}",
        cc.display(),
        cxx.display()
    ));
    place.run("cmake --build build --parallel 4");
    assert!(place.run("build/sample").contains("fixed 45"));
    assert!(place.run("build/plain_c").contains("longjmp 5"));
}

#[test]
fn fortran_and_openmp_programs_run() {
    let place = Place::new("fortran-openmp");
    place.file(
        "openmp.c",
        "#include <stdio.h>\nint main(void) { long total = 0;\n#pragma omp parallel for reduction(+:total) num_threads(1)\n\
         for (int i = 0; i < 1000; i++) total += i;\nprintf(\"%ld\\n\", total); return 0; }\n",
    );
    place.run("./occ -O2 -fopenmp openmp.c -o openmp");
    assert_eq!(place.run("openmp"), "499500\n");
    if is_installed("gfortran") {
        place.file(
            "sum.f90",
            "program sum_up\n  real(8), allocatable :: a(:)\n  integer :: i, n\n  n = 100 + command_argument_count()\n  \
             allocate(a(n))\n  do i = 1, n\n    a(i) = i\n  end do\n  print '(f8.1)', sum(a)\nend program\n",
        );
        place.run("./ofc -O2 sum.f90 -o sum");
        assert_eq!(place.run("sum").trim(), "5050.0");
        assert!(counts(&place, "sum")[1] >= 100);
    }
}
