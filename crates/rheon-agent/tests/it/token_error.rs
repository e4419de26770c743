//! How far token estimates are off, against real vocabularies, on a corpus of many kinds of text.
//!
//! `cargo run -p rheon-agent --example token_error` prints the table.

use std::path::Path;

use rheon_agent::{TokenCounter, flat_tokens};

/// A vocabulary, and a model that uses it.
const VOCABULARIES: [(&str, &str); 5] = [
    ("o200k_base", "gpt-5"),
    ("cl100k_base", "gpt-4"),
    ("llama3", "llama-3.3"),
    ("qwen2", "qwen3-coder"),
    ("deepseek_v3", "deepseek-chat"),
];

/// One text and how far the estimate of it is off, in thousandths, by vocabulary.
pub(crate) struct Row {
    name: String,
    bytes: usize,
    errors: [i64; VOCABULARIES.len()],
    /// The same of four bytes per token, against the first vocabulary.
    flat: i64,
}

/// Measures every text of the corpus.
pub(crate) fn rows() -> Vec<Row> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/corpus");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let row = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let real = |vocabulary| tiktoken::get_encoding(vocabulary).unwrap().count(&text) as u64;
        Row {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            bytes: text.len(),
            errors: VOCABULARIES
                .map(|(vocabulary, model)| off(TokenCounter::for_model(model).text(&text), real(vocabulary))),
            flat: off(flat_tokens(text.len()), real("o200k_base")),
        }
    };
    files.iter().map(row).collect()
}

/// The rows as a table, with the mean of what each column is off.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<16}{:>7}", "text", "bytes");
    for (vocabulary, _) in VOCABULARIES {
        text.push_str(&format!("{vocabulary:>13}"));
    }
    text.push_str(&format!("{:>13}\n", "flat/o200k"));
    for row in rows {
        text.push_str(&format!("{:<16}{:>7}", row.name, row.bytes));
        for error in row.errors.iter().chain([&row.flat]) {
            text.push_str(&format!("{:>+11.1} %", *error as f64 / 10.0));
        }
        text.push('\n');
    }
    text.push_str(&format!("{:<23}", "mean off by"));
    for column in 0..VOCABULARIES.len() {
        text.push_str(&format!("{:>11.1} %", mean(rows.iter().map(|row| row.errors[column]))));
    }
    text.push_str(&format!("{:>11.1} %\n", mean(rows.iter().map(|row| row.flat))));
    text
}

fn mean(errors: impl ExactSizeIterator<Item = i64>) -> f64 {
    let count = errors.len() as f64;
    errors.map(|error| error.abs() as f64 / 10.0).sum::<f64>() / count
}

fn off(estimate: u64, real: u64) -> i64 {
    (estimate as i64 - real as i64) * 1_000 / real as i64
}

#[test]
fn estimates_are_close_to_real_vocabularies_on_every_kind_of_text() {
    let rows = rows();
    let shown = table(&rows);
    assert!(rows.len() >= 17, "{shown}");
    for row in &rows {
        // Prose in a language that only some vocabularies know well is the hardest; code, data and English are closer.
        let bound = match row.name.as_str() {
            "german" | "russian" | "chinese" | "japanese" | "korean" | "emoji" => 170,
            _ => 120,
        };
        assert!(row.errors.iter().all(|error| error.abs() <= bound), "{} is off:\n{shown}", row.name);
    }
    for column in 0..VOCABULARIES.len() {
        assert!(mean(rows.iter().map(|row| row.errors[column])) <= 8.0, "{shown}");
    }
    assert!(mean(rows.iter().map(|row| row.flat)) > 15.0, "the flat rule would do:\n{shown}");
}
