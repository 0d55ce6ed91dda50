//! Which variable, array element or member lies at an address of a global: from the types in the debugging information.
//!
//! Leaves out: types that another unit declares (C++ type units), bit fields (the member's storage is named), and memory from
//! malloc, whose type no debugging information tells.

use gimli::{
    self, AttributeValue, Dwarf, EndianArcSlice, Operation, Reader, RunTimeEndian, Unit, UnitOffset,
};
use object::{Object, ObjectSection};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

type Bytes = EndianArcSlice<RunTimeEndian>;
type Entry = gimli::DebuggingInformationEntry<Bytes>;

/// Nested members that are followed; a type that nests deeper is damaged.
const MOST_LEVELS: usize = 64;

/// A part of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// As in the source: `stats[3].hits`.
    pub name: String,
    /// Offset of its first byte in the variable.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The global variables of an object with their types.
#[derive(Default)]
pub struct Variables {
    units: Vec<Unit<Bytes>>,
    dwarf: Option<Dwarf<Bytes>>,
    /// By address in the file: name, index of the unit, and the type.
    by_address: HashMap<u64, (String, usize, UnitOffset)>,
}

impl Variables {
    /// Reads the variables of `object`; none if it has no debugging information that can be read.
    /// Cost: a walk over all of it.
    pub fn open(object: &Path) -> Self {
        let read = || -> Option<Variables> {
            let bytes = std::fs::read(object).ok()?;
            let file = object::File::parse(&*bytes).ok()?;
            let section = |id: gimli::SectionId| {
                let data = file.section_by_name(id.name()).and_then(|section| section.data().ok());
                Ok::<_, gimli::Error>(Bytes::new(Arc::from(data.unwrap_or_default()), RunTimeEndian::Little))
            };
            let dwarf = Dwarf::load(section).ok()?;
            let mut variables = Variables::default();
            let mut headers = dwarf.units();
            while let Ok(Some(header)) = headers.next() {
                if let Ok(unit) = dwarf.unit(header) {
                    variables.add_unit(&dwarf, unit);
                }
            }
            variables.dwarf = Some(dwarf);
            Some(variables)
        };
        read().unwrap_or_default()
    }

    /// The innermost part of the variable at `address` that holds the byte at `offset` from it.
    pub fn field_at(&self, address: u64, offset: u64) -> Option<Field> {
        let (name, unit, kind) = self.by_address.get(&address)?;
        let view = View { dwarf: self.dwarf.as_ref()?, unit: &self.units[*unit] };
        let whole = Field { name: name.clone(), offset: 0, bytes: 0 };
        view.descend(*kind, offset, whole, MOST_LEVELS)
    }

    fn add_unit(&mut self, dwarf: &Dwarf<Bytes>, unit: Unit<Bytes>) {
        let mut found = Vec::new();
        let view = View { dwarf, unit: &unit };
        let mut entries = unit.entries();
        while let Ok(Some(entry)) = entries.next_dfs() {
            if entry.tag() == gimli::DW_TAG_variable {
                found.extend(view.variable(entry));
            }
        }
        for (address, name, kind) in found {
            self.by_address.entry(address).or_insert((name, self.units.len(), kind));
        }
        self.units.push(unit);
    }
}

/// One unit of the debugging information.
struct View<'d> {
    dwarf: &'d Dwarf<Bytes>,
    unit: &'d Unit<Bytes>,
}

impl View<'_> {
    /// Address, name and type of a variable that has a fixed address.
    fn variable(&self, entry: &Entry) -> Option<(u64, String, UnitOffset)> {
        let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(gimli::DW_AT_location) else {
            return None;
        };
        let mut operations = expression.operations(self.unit.encoding());
        let address = match operations.next().ok()?? {
            Operation::Address { address } => address,
            Operation::AddressIndex { index } => self.dwarf.address(self.unit, index).ok()?,
            _ => return None,
        };
        // A definition outside of its class or namespace refers to the declaration, which has the name.
        let declaration = match entry.attr_value(gimli::DW_AT_specification) {
            Some(AttributeValue::UnitRef(offset)) => self.unit.entry(offset).ok(),
            _ => None,
        };
        let of = |entry: &Entry| Some((self.name(entry), self.kind(entry)));
        let (name, kind) = of(entry)?;
        let (other_name, other_kind) = declaration.as_ref().and_then(of).unwrap_or_default();
        Some((address, name.or(other_name)?, kind.or(other_kind)?))
    }

    fn name(&self, entry: &Entry) -> Option<String> {
        let value = entry.attr_value(gimli::DW_AT_name)?;
        let text = self.dwarf.attr_string(self.unit, value).ok()?;
        Some(text.to_string_lossy().ok()?.into_owned())
    }

    fn kind(&self, entry: &Entry) -> Option<UnitOffset> {
        match entry.attr_value(gimli::DW_AT_type)? {
            AttributeValue::UnitRef(offset) => Some(offset),
            _ => None,
        }
    }

    /// The part of `whole`, which has type `kind`, that holds the byte at `offset` from its start.
    fn descend(&self, kind: UnitOffset, offset: u64, whole: Field, levels: usize) -> Option<Field> {
        let levels = levels.checked_sub(1)?;
        let entry = self.unit.entry(kind).ok()?;
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_restrict_type => self.descend(self.kind(&entry)?, offset, whole, levels),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                self.member(kind, offset, whole, levels)
            }
            gimli::DW_TAG_array_type => {
                let element = self.kind(&entry)?;
                let bytes = self.bytes(element, levels)?;
                let index = offset.checked_div(bytes)?;
                let counts = self.counts(kind)?;
                // The last dimension runs fastest.
                let (mut rest, mut indices) = (index, String::new());
                for count in counts.iter().skip(1).rev() {
                    indices = format!("[{}]{indices}", rest.checked_rem(*count)?);
                    rest /= count;
                }
                let name = format!("{}[{rest}]{indices}", whole.name);
                let part = Field { name, offset: whole.offset + index * bytes, bytes };
                self.descend(element, offset - index * bytes, part, levels)
            }
            _ => Some(Field { bytes: self.bytes(kind, levels)?, ..whole }),
        }
    }

    /// The member that holds the byte; between members, the whole.
    fn member(&self, kind: UnitOffset, offset: u64, whole: Field, levels: usize) -> Option<Field> {
        let mut tree = self.unit.entries_tree(Some(kind)).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            if !matches!(entry.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance) {
                continue;
            }
            let start = entry
                .attr_value(gimli::DW_AT_data_member_location)
                .map_or(Some(0), |value| value.udata_value());
            let (Some(start), Some(of)) = (start, self.kind(entry)) else { continue };
            let bytes = self.bytes(of, levels)?;
            if !(start..start + bytes).contains(&offset) {
                continue;
            }
            // A base class and an anonymous union have no name of their own.
            let name = match self.name(entry) {
                Some(name) => format!("{}.{name}", whole.name),
                None => whole.name.clone(),
            };
            let part = Field { name, offset: whole.offset + start, bytes };
            return self.descend(of, offset - start, part, levels);
        }
        Some(Field { bytes: self.bytes(kind, levels)?, ..whole })
    }

    /// Numbers of elements by dimension; the first is 0 where the type does not tell it.
    fn counts(&self, array: UnitOffset) -> Option<Vec<u64>> {
        let mut tree = self.unit.entries_tree(Some(array)).ok()?;
        let mut children = tree.root().ok()?.children();
        let mut counts = Vec::new();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            if entry.tag() == gimli::DW_TAG_subrange_type {
                let of = |name| entry.attr_value(name).and_then(|value| value.udata_value());
                let count =
                    of(gimli::DW_AT_count).or_else(|| of(gimli::DW_AT_upper_bound).map(|last| last + 1));
                counts.push(count.unwrap_or(0));
            }
        }
        Some(counts)
    }

    /// Bytes of a type.
    fn bytes(&self, kind: UnitOffset, levels: usize) -> Option<u64> {
        let levels = levels.checked_sub(1)?;
        let entry = self.unit.entry(kind).ok()?;
        if let Some(bytes) = entry.attr_value(gimli::DW_AT_byte_size).and_then(|value| value.udata_value()) {
            return Some(bytes);
        }
        match entry.tag() {
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => {
                Some(u64::from(self.unit.encoding().address_size))
            }
            gimli::DW_TAG_array_type => {
                let element = self.bytes(self.kind(&entry)?, levels)?;
                self.counts(kind)?.iter().try_fold(element, |bytes, count| bytes.checked_mul(*count))
            }
            _ => self.bytes(self.kind(&entry)?, levels),
        }
    }
}
