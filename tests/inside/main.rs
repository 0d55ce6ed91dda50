//! Programs that know nothing of the preload library run under it unharmed: their own results are checked, on whatever
//! computer this is. Longer runs with servers are in experiments/real-programs.

use olifant_tests::{olifant_command, root};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What is in the program: the library alone, threads bound, and each kind of heap.
const FORMS: [&[&str]; 4] = [
    &["--thread", "9999=float"],
    &["--threads", "fill", "--children"],
    &["--heap", "local"],
    &["--heap", "striped:4"],
];

/// A program of the system under one form.
fn run(form: &[&str], command: &[&str], folder: &Path) -> Output {
    let words: Vec<&str> = [&["exec"], form, &["--"], command].concat();
    olifant_command(&words).current_dir(folder).output().expect("olifant can be started")
}

/// Its stdout, if it ended well and said nothing of its own to stderr.
fn answer(form: &[&str], command: &[&str], folder: &Path) -> String {
    let output = run(form, command, folder);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.is_empty(),
        "{form:?} {command:?}: {:?}\n{stderr}",
        output.status
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Builds one of the programs beside this file.
fn build(compiler: &str, source: &str, options: &[&str], folder: &Path) -> String {
    let source = root().join("tests/inside").join(source);
    let program = folder.join(source.file_stem().expect("the source has a name"));
    let built = Command::new(compiler)
        .args(["-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread"])
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .status();
    assert!(built.is_ok_and(|status| status.success()), "{compiler} cannot build {}", source.display());
    program.to_string_lossy().into_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("temporary files can be made")
}

/// The interpreter itself; a script in its place would start it by env(1), out of the library's reach.
fn python() -> PathBuf {
    PathBuf::from("/usr/bin/python3")
}

#[test]
fn python_computes_the_same_with_threads_and_processes() {
    let folder = folder();
    let script = "\
import collections, multiprocessing, subprocess, threading
sums = []
threads = [threading.Thread(target=lambda n=n: sums.append(sum(len(str(i)) for i in range(n, n + 20000)))) for n in range(4)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
words = collections.Counter(str(i) for i in range(200000))
with multiprocessing.Pool(2) as pool:
    squares = pool.starmap(pow, [(i, 2) for i in range(100)])
child = subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout
print(sorted(sums), len(words), sum(squares), child.strip())
";
    let python = python();
    let plain = Command::new(&python).args(["-c", script]).output().expect("python3 can be started");
    let expected = String::from_utf8_lossy(&plain.stdout).into_owned();
    assert!(plain.status.success() && expected.ends_with(" 200000 328350 child\n"), "{expected}");
    for form in FORMS {
        assert_eq!(
            answer(form, &[&python.to_string_lossy(), "-c", script], folder.path()),
            expected,
            "{form:?}"
        );
    }
}

#[test]
fn gcc_compiles_to_the_same_bytes() {
    let folder = folder();
    let source = root().join("tests/inside/stress.c");
    let object = |form: Option<&[&str]>| {
        let path = source.to_string_lossy().into_owned();
        let command = ["gcc", "-O2", "-g", "-c", "-o", "object.o", &path];
        match form {
            Some(form) => drop(answer(form, &command, folder.path())),
            None => {
                let status = Command::new("gcc").args(&command[1..]).current_dir(folder.path()).status();
                assert!(status.is_ok_and(|status| status.success()));
            }
        }
        std::fs::read(folder.path().join("object.o")).expect("gcc wrote the object")
    };
    let plain = object(None);
    for form in FORMS {
        assert!(object(Some(form)) == plain, "{form:?}");
    }
}

#[test]
fn git_clones_what_it_committed() {
    let folder = folder();
    let git = |form: &[&str], words: &[&str]| {
        let named = [
            "git",
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "-c",
            "init.defaultBranch=main",
        ];
        answer(form, &[&named[..], words].concat(), folder.path())
    };
    for (number, form) in FORMS.iter().enumerate() {
        let (from, to) = (format!("from{number}"), format!("to{number}"));
        git(form, &["init", "--quiet", &from]);
        for file in 0..50 {
            let text = format!("{file}\n").repeat(1000 * (file + 1));
            std::fs::write(folder.path().join(&from).join(format!("file{file}")), text)
                .expect("the folder is ours");
        }
        git(form, &["-C", &from, "add", "."]);
        git(form, &["-C", &from, "commit", "--quiet", "--message", "all"]);
        git(form, &["clone", "--quiet", "--no-local", &from, &to]);
        git(form, &["-C", &to, "fsck", "--no-progress", "--full", "--strict"]);
        assert_eq!(
            git(form, &["-C", &to, "rev-parse", "HEAD"]),
            git(form, &["-C", &from, "rev-parse", "HEAD"])
        );
        assert_eq!(git(form, &["-C", &to, "status", "--porcelain"]), "");
    }
}

#[test]
fn threads_that_fork_load_libraries_and_free_each_others_blocks_are_unharmed() {
    let folder = folder();
    let stress = build("gcc", "stress.c", &["-std=c11"], folder.path());
    for form in FORMS {
        let done = answer(form, &[&stress, "2", "libm.so.6"], folder.path());
        assert!(done.ends_with(" loads\n"), "{form:?}: {done}");
    }
}

#[test]
fn new_and_delete_of_every_form_keep_their_promises() {
    let folder = folder();
    let new = build("g++", "new.cpp", &["-std=c++17"], folder.path());
    for form in FORMS {
        answer(form, &[&new], folder.path());
    }
}

#[test]
fn a_static_program_runs_without_the_library_and_a_remark_says_so() {
    let folder = folder();
    let source = folder.path().join("hello.c");
    std::fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(\"hello\") < 0; }\n")
        .expect("ours");
    let built =
        Command::new("gcc").args(["-static", "-o", "hello", "hello.c"]).current_dir(folder.path()).status();
    assert!(built.is_ok_and(|status| status.success()), "gcc cannot link statically");
    let output = run(&["--heap", "local"], &["./hello"], folder.path());
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"hello\n"[..]));
    let remark = "olifant: ./hello runs without what needs the preload library: it is statically linked\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), remark);
}

#[test]
fn nothing_of_the_library_is_left_in_the_environment_unless_asked() {
    let folder = folder();
    let count = |form: &[&str]| answer(form, &["sh", "-c", "env | grep -c PRELOAD || true"], folder.path());
    assert_eq!(count(&["--heap", "local"]), "0\n");
    assert_eq!(count(&["--heap", "local", "--children"]), "2\n");
    // A library that the user preloads stays.
    let mut command = olifant_command(&["exec", "--heap", "local", "--", "sh", "-c", "echo $LD_PRELOAD"]);
    let output = command.env("LD_PRELOAD", "libm.so.6").output().expect("olifant can be started");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "libm.so.6\n");
}
