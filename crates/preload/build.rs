//! Has the linker send the allocator's locks through `fork_gate.rs` and its mappings past the plan (`mappings.rs`).

fn main() {
    for call in ["pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock", "mmap", "munmap"] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--wrap={call}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
