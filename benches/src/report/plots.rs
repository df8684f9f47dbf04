//! A run as SVG bar charts.

use std::path::Path;

use plotters::prelude::*;

use super::title;
use crate::Result;
use crate::engine::OURS;
use crate::measure::Spread;
use crate::results::{Fresh, Results};

struct Bar {
    label: String,
    value: Spread,
    ours: bool,
}

impl Bar {
    fn new(engine: &str, value: Spread) -> Self {
        Self {
            label: title(engine),
            value,
            ours: engine.starts_with(OURS),
        }
    }
}

/// Draws what `results` has into `dir`; returns files and titles.
pub(super) fn draw(dir: &Path, results: &Results) -> Result<Vec<(String, String)>> {
    let mut charts: Vec<(String, String, Vec<Bar>)> = Vec::new();
    let in_report = ["ladder", "ladder-viterbi", "repeated-512", "stream"];
    for table in results
        .tables
        .iter()
        .filter(|table| in_report.contains(&table.name.as_str()))
    {
        let bars = table
            .rows
            .iter()
            .map(|row| Bar::new(&row.engine, row.mb_per_s))
            .collect();
        charts.push((
            table.name.clone(),
            format!("{}: MB/s, {}", table.name, table.title),
            bars,
        ));
    }
    for fresh in Fresh::ALL {
        let rows = results.unseen.iter().filter(|row| row.fresh == fresh);
        let bars = rows
            .map(|row| Bar::new(&row.engine, row.mb_per_s))
            .collect();
        let title = format!("Unseen text: MB/s, {}", fresh.title());
        charts.push((fresh.name().to_owned(), title, bars));
    }
    for (dropped, name, how) in [
        (false, "cold", "warm page cache"),
        (true, "cold-dropped", "page cache dropped"),
    ] {
        let rows = results
            .cold
            .iter()
            .filter(|row| row.dropped_cache == dropped);
        let bars = rows.map(|row| Bar::new(&row.engine, row.ms)).collect();
        charts.push((
            name.to_owned(),
            format!("Process start to first ids: milliseconds, {how}"),
            bars,
        ));
    }
    let languages = results
        .tables
        .iter()
        .filter(|table| table.name.starts_with("language-"));
    let bars = languages.filter_map(|table| {
        let ours = table.rows.iter().find(|row| row.engine == OURS)?;
        let value = ours.speedup_over_baseline?;
        Some(Bar {
            label: table.name.trim_start_matches("language-").to_owned(),
            value,
            ours: true,
        })
    });
    charts.push((
        "languages".to_owned(),
        "This project over the published engine, by language".to_owned(),
        bars.collect(),
    ));

    let mut drawn = Vec::new();
    for (name, title, bars) in charts.into_iter().filter(|(.., bars)| !bars.is_empty()) {
        let file = format!("{name}.svg");
        chart(&dir.join(&file), &title, &bars).map_err(|e| format!("{file}: {e}"))?;
        drawn.push((file, title));
    }
    Ok(drawn)
}

/// Horizontal bars with quartile whiskers, the first on top.
fn chart(
    path: &Path,
    title: &str,
    bars: &[Bar],
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    const LABELS: i32 = 310;
    const WIDTH: u32 = 860;
    const BAR: i32 = 26;
    const TOP: i32 = 44;
    let height = TOP + BAR * bars.len() as i32 + 14;
    let area = SVGBackend::new(path, (WIDTH, height as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    area.draw(&Text::new(title.to_owned(), (12, 14), ("sans-serif", 17)))?;
    let most = bars
        .iter()
        .map(|bar| bar.value.high)
        .fold(f64::MIN_POSITIVE, f64::max);
    let scale = f64::from(WIDTH as i32 - LABELS - 90) / most;
    let x = |value: f64| LABELS + (value * scale) as i32;
    let ink = RGBColor(60, 60, 60);
    for (bar, index) in bars.iter().zip(0..) {
        let top = TOP + BAR * index;
        let middle = top + BAR / 2 - 2;
        let colour = if bar.ours {
            RGBColor(200, 80, 30)
        } else {
            RGBColor(120, 150, 185)
        };
        let Spread { low, median, high } = bar.value;
        area.draw(&Text::new(
            bar.label.clone(),
            (12, middle - 6),
            ("sans-serif", 13),
        ))?;
        area.draw(&Rectangle::new(
            [(LABELS, top + 2), (x(median), top + BAR - 6)],
            colour.filled(),
        ))?;
        area.draw(&PathElement::new(
            [(x(low), middle), (x(high), middle)],
            ink.stroke_width(2),
        ))?;
        let digits = if median < 10.0 { 2 } else { 1 };
        area.draw(&Text::new(
            format!("{median:.digits$}"),
            (x(high) + 6, middle - 6),
            ("sans-serif", 13),
        ))?;
    }
    Ok(area.present()?)
}
