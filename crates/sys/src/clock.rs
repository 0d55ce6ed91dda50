//! The clock that the kernel's records are stamped by.

/// Nanoseconds of `CLOCK_MONOTONIC`. Source: clock_gettime(2).
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is valid, and this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_does_not_go_back() {
        let times: Vec<u64> = (0..100).map(|_| super::monotonic_ns()).collect();
        assert!(times.is_sorted() && times[0] > 0);
    }
}
