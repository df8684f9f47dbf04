//! What memory an image got: the public answer to "is it really in huge pages?".

use std::fmt;
use std::time::Duration;

use crate::backing::Backing;

/// What memory an image is in, and why nothing better.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// The kind of memory.
    pub backing: Backing,
    /// Length of the image in bytes.
    pub len: usize,
    /// The kernel's word on the pages; `None` where it cannot be asked (no `/proc`).
    pub pages: Option<Pages>,
    /// The kinds that were tried before, and why each could not be had.
    pub fallbacks: Vec<Fallback>,
    /// What each step of loading took.
    pub times: LoadTimes,
}

/// Wall time of each step of loading; zero for a step that was not done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadTimes {
    /// Opening the file, reading and checking its header and section table.
    pub header: Duration,
    /// Getting memory and populating it, or mapping the file.
    pub memory: Duration,
    /// Copying.
    pub copy: Duration,
    /// Checksums of what was just copied, block by block.
    pub checksums: Duration,
    /// Checking the metadata and that every index of every section is in bounds. The only step that safety
    /// rests on, and the only one besides `header` and `memory` that a mapped image has.
    pub structure: Duration,
}

impl LoadTimes {
    /// All steps.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.header + self.memory + self.copy + self.checksums + self.structure
    }
}

impl fmt::Display for LoadTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = [
            ("header", self.header),
            ("memory", self.memory),
            ("copy", self.copy),
            ("checksums", self.checksums),
            ("structure", self.structure),
        ];
        write!(f, "{:.2?}", self.total())?;
        let mut separator = ": ";
        for (name, time) in steps.into_iter().filter(|(_, time)| !time.is_zero()) {
            write!(f, "{separator}{name} {time:.2?}")?;
            separator = ", ";
        }
        Ok(())
    }
}

/// The pages of an image's mapping, from `/proc/self/smaps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pages {
    /// The mapping's page size in bytes.
    pub size: usize,
    /// Bytes that transparent huge pages hold, or all bytes of a mapping whose own pages are huge.
    pub huge: usize,
}

/// A kind of memory that could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fallback {
    /// The kind.
    pub from: Backing,
    /// Why it could not be had.
    pub reason: String,
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, {}", self.len, self.backing)?;
        if let Some(pages) = self.pages {
            write!(f, ", {} KiB pages", pages.size >> 10)?;
            if pages.huge != 0 {
                write!(f, ", {} KiB in huge pages", pages.huge >> 10)?;
            }
        }
        for fallback in &self.fallbacks {
            write!(f, "; not {}: {}", fallback.from, fallback.reason)?;
        }
        Ok(())
    }
}

/// What the kernel says of the mapping that holds `bytes`.
pub(crate) fn kernel_pages(bytes: &[u8]) -> Option<Pages> {
    let smaps = std::fs::read_to_string("/proc/self/smaps").ok()?;
    parse_smaps(&smaps, bytes.as_ptr().addr())
}

fn parse_smaps(smaps: &str, address: usize) -> Option<Pages> {
    let holds_address = |line: &str| {
        let range = line.split(' ').next()?;
        let (start, end) = range.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        Some((start..end).contains(&address))
    };
    let kilobytes = |line: &str, field: &str| -> Option<usize> {
        let value = line.strip_prefix(field)?.trim().strip_suffix(" kB")?;
        Some(value.parse::<usize>().ok()? << 10)
    };
    const HUGE_FIELDS: [&str; 5] = [
        "AnonHugePages:",
        "ShmemPmdMapped:",
        "FilePmdMapped:",
        "Shared_Hugetlb:",
        "Private_Hugetlb:",
    ];
    let mut lines = smaps.lines();
    lines.find(|line| holds_address(line) == Some(true))?;
    let mut size = None;
    let mut huge = 0;
    // The fields go on to the next mapping's line, which holds no such field.
    for line in lines.take_while(|line| holds_address(line).is_none()) {
        size = size.or_else(|| kilobytes(line, "KernelPageSize:"));
        huge += HUGE_FIELDS
            .iter()
            .find_map(|field| kilobytes(line, field))
            .unwrap_or(0);
    }
    Some(Pages { size: size?, huge })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000200000 r--p 00000000 00:00 0
Size:               2048 kB
KernelPageSize:        4 kB
AnonHugePages:         0 kB
VmFlags: rd mr mw me
7f0000200000-7f0000600000 r--p 00000000 00:00 0          [anon]
Size:               4096 kB
KernelPageSize:     2048 kB
AnonHugePages:         0 kB
Private_Hugetlb:    4096 kB
VmFlags: rd ht
";

    #[test]
    fn finds_the_mapping_that_holds_the_address() {
        let pages = |address| parse_smaps(SMAPS, address);
        assert_eq!(
            pages(0x7f00_0000_1000),
            Some(Pages {
                size: 4 << 10,
                huge: 0
            })
        );
        assert_eq!(
            pages(0x7f00_0020_0000),
            Some(Pages {
                size: 2 << 20,
                huge: 4 << 20
            })
        );
        assert_eq!(pages(0x7f00_0060_0000), None);
    }
}
