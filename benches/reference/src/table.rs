//! The table: times in, text out.

use std::time::Duration;

use crate::work::Work;

/// One line per work: the best time and the median of each system, and how many times as long as the first it takes.
///
/// The ratio is that of the best times: whatever else the machine does can only add to a time.
pub(crate) fn render(systems: &[&str], lines: &[(&Work, Vec<Vec<Duration>>)]) -> String {
    let mut text = format!("| per unit: minimum (median) | {} |\n", heads(systems).join(" | "));
    text.push_str(&format!("|---|{}\n", "---|".repeat(heads(systems).len())));
    for (work, times) in lines {
        let first = times.first().map(|times| best(times)).unwrap_or_default();
        let cells: Vec<String> =
            times.iter().enumerate().map(|(index, times)| cell(index, times, first)).collect();
        text.push_str(&format!("| {} | {} |\n", work.title, cells.join(" | ")));
    }
    text
}

fn heads(systems: &[&str]) -> Vec<String> {
    let mut heads = Vec::new();
    for (index, system) in systems.iter().enumerate() {
        heads.push((*system).to_owned());
        if index > 0 {
            heads.push("ratio".to_owned());
        }
    }
    heads
}

fn cell(index: usize, times: &[Duration], first: Duration) -> String {
    let shown = format!("{} ({})", time(best(times)), time(median(times)));
    if index == 0 {
        shown
    } else {
        format!("{shown} | {:.1}", best(times).as_secs_f64() / first.as_secs_f64())
    }
}

fn best(times: &[Duration]) -> Duration {
    times.iter().min().copied().unwrap_or_default()
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn time(duration: Duration) -> String {
    let nanos = duration.as_secs_f64() * 1e9;
    match nanos {
        small if small < 1e3 => format!("{small:.0} ns"),
        medium if medium < 1e6 => format!("{:.1} µs", medium / 1e3),
        large => format!("{:.2} ms", large / 1e6),
    }
}
