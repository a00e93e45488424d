//! Memory and descriptors of this process, for the metrics.

use std::fs;

/// Memory in use and descriptors open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub resident_bytes: u64,
    pub descriptors: u64,
}

/// `None` where the kernel does not say, as on systems without /proc.
pub fn usage() -> Option<Usage> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    Some(Usage {
        resident_bytes: resident_bytes(&status)?,
        descriptors: fs::read_dir("/proc/self/fd").ok()?.count() as u64,
    })
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_words_are_read() {
        let status = "Name:\tcontext402\nVmPeak:\t   9 kB\nVmRSS:\t   11284 kB\nThreads:\t3\n";
        assert_eq!(resident_bytes(status), Some(11_284 * 1024));
        for broken in [
            "",
            "VmRSS:",
            "VmRSS:\t12 MB\n",
            "VmRSS:\t18446744073709551615 kB",
        ] {
            assert_eq!(resident_bytes(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn this_process_uses_something() {
        let usage = usage().expect("a system with /proc");
        assert!(usage.resident_bytes > 1_000_000 && usage.descriptors >= 3);
    }
}
