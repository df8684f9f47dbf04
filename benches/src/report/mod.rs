//! The report: Markdown, JSON and plots of one run.

mod markdown;
mod plots;
mod targets;

use std::path::Path;

use crate::Result;
use crate::engine;
use crate::results::Results;

pub use markdown::markdown;

/// Writes `report.md`, `results.json` and the plots into `dir`.
///
/// # Errors
/// If a file cannot be written.
pub fn write(dir: &Path, results: &Results) -> Result<()> {
    std::fs::create_dir_all(dir)?;
    std::fs::write(
        dir.join("results.json"),
        serde_json::to_string_pretty(results)?,
    )?;
    let plots = plots::draw(dir, results)?;
    let mut text = markdown(results);
    if !plots.is_empty() {
        text.push_str("\n## Plots\n");
    }
    for (file, title) in plots {
        text.push_str(&format!("\n![{title}]({file})\n"));
    }
    Ok(std::fs::write(dir.join("report.md"), text)?)
}

/// What an engine is called in tables.
fn title(name: &str) -> String {
    let known = engine::all().into_iter().find(|spec| spec.name == name);
    known.map_or_else(|| name.to_owned(), |spec| spec.title.to_owned())
}
