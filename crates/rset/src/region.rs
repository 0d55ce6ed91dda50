//! Memory allocated under a set: the papers' NumaVirtualAllocLocked for today's kernels.
//!
//! The policy is on the addresses before anything touches them, so that every page comes where it belongs, now or
//! later. A region is unmapped when it goes out of scope.

use crate::System;
use crate::error::{Cause, Error, Result};
use crate::place::PlaceOptions;
use crate::read_back::ReadBack;
use core::ops::Range;
use olifant_placement::{ResourceSet, SetPolicy, Spread};
use olifant_sys::{Errno, HugePages, Mapping, MappingOptions, Pid};

/// What a new region shall be like beyond its size, set and policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegionOptions {
    /// The start is a multiple of this power of two; 0 for a page.
    pub alignment: usize,
    /// What pages back it.
    pub huge_pages: HugePages,
    /// Allocate every page now.
    pub populate: bool,
    /// Keep every page in memory (ulimit -l permitting).
    pub lock: bool,
}

/// Memory placed under a set.
#[derive(Debug)]
pub struct Region {
    mapping: Mapping,
    spread: Spread,
}

impl System {
    /// Allocates memory under a set by a policy; the read-back covers what exists already, which without `populate` or
    /// `lock` is nothing.
    /// # Errors  [`Error::Policy`] or [`Error::Refused`] with the cause; then nothing is allocated.
    pub fn allocate(
        &self,
        bytes: usize,
        set: &ResourceSet,
        policy: &SetPolicy,
        options: &RegionOptions,
    ) -> Result<(Region, ReadBack)> {
        let spread = self.spread(set, policy)?;
        self.allocate_spread(bytes, spread, options)
    }

    /// Allocates memory as a spread says; see [`System::allocate`].
    /// # Errors  As [`System::allocate`].
    pub fn allocate_spread(
        &self,
        bytes: usize,
        spread: Spread,
        options: &RegionOptions,
    ) -> Result<(Region, ReadBack)> {
        let action = || format!("allocate {bytes} bytes on nodes {}", spread.nodes());
        let mapping_options = MappingOptions {
            alignment: options.alignment.max(1),
            huge_pages: options.huge_pages,
            ..MappingOptions::new(bytes)
        };
        let mapping = Mapping::anonymous(&mapping_options).map_err(|error| match options.huge_pages {
            HugePages::Reserved(size) if error.errno == Errno::ENOMEM => {
                Error::refused(action(), Cause::NoReservedHugePages { page_bytes: size as u64 })
            }
            _ => self.refusal(action(), error, None),
        })?;
        let place = PlaceOptions { populate: options.populate, lock: options.lock, ..Default::default() };
        let found = self.place_range(mapping.range(), &spread, &place, true)?;
        Ok((Region { mapping, spread }, found))
    }
}

impl Region {
    /// Where its pages are now.
    /// # Errors  [`Error::Refused`] under a seccomp filter.
    pub fn read_back(&self, system: &System) -> Result<ReadBack> {
        system.query(Pid::CALLING, self.mapping.range(), Some(&self.spread))
    }

    /// How its pages are spread.
    pub fn spread(&self) -> &Spread {
        &self.spread
    }

    /// The addresses.
    pub fn range(&self) -> Range<usize> {
        self.mapping.range()
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.mapping.as_ptr()
    }

    /// The contents.
    pub fn as_slice(&self) -> &[u8] {
        self.mapping.as_slice()
    }

    /// The contents, to write.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        self.mapping.as_mut_slice()
    }

    /// The memory alone, which its new owner unmaps.
    pub fn into_mapping(self) -> Mapping {
        self.mapping
    }
}
