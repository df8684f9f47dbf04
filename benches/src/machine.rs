//! Where a run took place. Nothing here names a host or a user.

use std::fs::read_to_string;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The machine and the versions.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Date of the run, UTC.
    pub date: String,
    /// CPU model.
    pub cpu: String,
    /// CPUs this process may use.
    pub cpus: usize,
    /// Operating system kernel.
    pub kernel: String,
    /// Reserved huge pages and the transparent-huge-page setting.
    pub huge_pages: String,
    /// Compiler.
    pub rustc: String,
    /// Versions of the peers, of this build.
    pub versions: Vec<String>,
}

fn output(program: &str, arguments: &[&str]) -> String {
    Command::new(program)
        .args(arguments)
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
}

/// The value of the first line of `text` whose name is `name`.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

/// A field of a `/proc` file that is in kB, in MiB.
pub(crate) fn mib(text: &str, name: &str) -> Option<f64> {
    let kilobytes: f64 = field(text, name)?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

impl Machine {
    /// Looks around.
    #[must_use]
    pub fn here() -> Self {
        let read = |path: &str| read_to_string(path).unwrap_or_default();
        let meminfo = read("/proc/meminfo");
        let thp = read("/sys/kernel/mm/transparent_hugepage/enabled");
        Self {
            date: output("date", &["-u", "+%Y-%m-%d"]),
            cpu: field(&read("/proc/cpuinfo"), "model name")
                .unwrap_or("unknown")
                .to_owned(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: output("uname", &["-sr"]),
            huge_pages: format!(
                "{} reserved of {}; transparent: {}",
                field(&meminfo, "HugePages_Total").unwrap_or("0"),
                field(&meminfo, "Hugepagesize").unwrap_or("unknown size"),
                thp.trim()
            ),
            rustc: output("rustc", &["--version"]),
            versions: versions(),
        }
    }
}

#[cfg(feature = "peers")]
fn versions() -> Vec<String> {
    crate::peers::VERSIONS
        .iter()
        .map(|&version| version.to_owned())
        .collect()
}

#[cfg(not(feature = "peers"))]
fn versions() -> Vec<String> {
    vec!["built without the peers feature".to_owned()]
}
