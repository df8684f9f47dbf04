//! Progress, for people at a terminal only.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shorter inputs are done before a bar could be read, in bytes.
const BAR_FROM: u64 = 8 << 20;

/// A bar over `total` input bytes; hidden if it would get in the way of the output, or is no use.
pub(crate) fn bytes(total: Option<u64>, output_is_file: bool) -> ProgressBar {
    let clear = output_is_file || !std::io::stdout().is_terminal();
    match total {
        Some(total) if total >= BAR_FROM && clear && std::io::stderr().is_terminal() => {
            let bar = ProgressBar::new(total);
            if let Ok(style) = ProgressStyle::with_template(
                "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
            ) {
                bar.set_style(style);
            }
            bar
        }
        _ => ProgressBar::hidden(),
    }
}

/// A spinner that names the current stage.
pub(crate) fn stages(quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}
