//! Estimates the complexity of a task from its text: points from a table, with reasons.
//!
//! This is only a heuristic for defaults: it sets guidance and limits that the user did not set. Shape (length, paths,
//! lists, code) counts the same in every language. Keywords cover a handful of languages; tasks in other languages are
//! scored by shape, which rates any sentence at least as simple, with the same effort as moderate.

use std::collections::HashSet;

/// The estimated complexity of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Complexity {
    /// A question or a one-line change.
    Trivial,
    /// One place.
    Simple,
    /// Several places or steps.
    Moderate,
    /// The whole project, or a hard problem.
    Complex,
}

impl Complexity {
    /// Its name, for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trivial => "trivial",
            Self::Simple => "simple",
            Self::Moderate => "moderate",
            Self::Complex => "complex",
        }
    }

    fn of(points: i32) -> Self {
        match points {
            ..=1 => Self::Trivial,
            2..=4 => Self::Simple,
            5..=8 => Self::Moderate,
            9.. => Self::Complex,
        }
    }
}

/// The complexity of a task, with reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComplexityScore {
    /// The complexity.
    pub complexity: Complexity,
    /// The sum of the points.
    pub points: i32,
    /// The reasons. Features without points are omitted.
    pub reasons: Vec<ComplexityReason>,
}

/// Points for one feature of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComplexityReason {
    /// The feature.
    pub feature: &'static str,
    /// Its points.
    pub points: i32,
    /// The evidence: a number or a keyword.
    pub evidence: String,
}

/// The maximum number of bytes to scan; a longer task counts as long anyway.
const BYTES_MAX: usize = 16 << 10;
/// Characters per word in scripts without spaces.
const WIDE_PER_WORD: usize = 2;

/// Points by number of words outside code: the first row that is not exceeded.
const LENGTH: &[(usize, i32)] = &[(8, 1), (30, 2), (80, 3), (200, 4), (usize::MAX, 6)];

/// A counted feature: one point for each occurrence beyond the free ones, up to the maximum.
struct CountedFeature {
    feature: &'static str,
    count: fn(&Task) -> usize,
    free: usize,
    points_max: i32,
}

const COUNTED: &[CountedFeature] = &[
    CountedFeature { feature: "files", count: |task| task.paths, free: 0, points_max: 4 },
    CountedFeature { feature: "list items", count: |task| task.items, free: 1, points_max: 4 },
    CountedFeature { feature: "code blocks", count: |task| task.fences, free: 0, points_max: 1 },
];

/// A group of keywords with points that count once. Stems are separated by spaces. An ASCII stem matches the beginning
/// of a word, or the whole word if it ends with a dot; other stems match anywhere, because not all scripts use spaces.
struct Words {
    feature: &'static str,
    points: i32,
    stems: &'static str,
}

const WORDS: &[Words] = &[
    Words {
        feature: "broad change",
        points: 4,
        stems: "refactor migrat rewrite redesign rearchitect architect port. upgrade convert overhaul \
                refaktor migrier umschreib umbau refactoris réécri migrar reescrib 重构 重寫 重写 迁移 \
                遷移 リファクタ 移行 書き換え 리팩터 리팩토 마이그레이션 рефактор мигр перепиш",
    },
    Words {
        feature: "new behavior",
        points: 2,
        stems: "implement add. create build support develop integrat write extend design hinzu erstell \
                ergänz bau. schreib ajout crée añad agreg crea. 实现 添加 增加 创建 支持 実装 追加 作成 구현 \
                추가 만들 добав реализ созда",
    },
    Words {
        feature: "repair",
        points: 2,
        stems: "fix bug. debug broken crash fail regress flaky investigat diagnos beheb fehler repar corrig \
                arregl 修复 修正 错误 エラー バグ 直して 수정 고쳐 오류 исправ ошибк",
    },
    Words {
        feature: "cause requested",
        points: 2,
        stems: "why warum wieso ursache pourquoi porque 为什么 为何 原因 なぜ どうして 왜 원인 почему",
    },
    Words {
        feature: "wide scope",
        points: 2,
        stems: "all. every entire whole across codebase everywhere throughout alle. gesamt überall tous \
                toutes partout todos todas 所有 全部 整个 すべて 全体 全て 모든 전체 все весь",
    },
    Words {
        feature: "hard subject",
        points: 2,
        stems: "race. deadlock concurren performan optimi secur leak distribut async thread protocol schema \
                transaction compiler nebenläufig sicherheit 并发 性能 安全 死锁 並行 セキュリティ \
                パフォーマンス 동시성 성능 보안 производительн безопасн поток",
    },
    Words {
        feature: "small change",
        points: -2,
        stems: "typo rename comment bump reword whitespace tippfehler umbenenn renomm renombr 重命名 注释 \
                名前を変 コメント 주석 이름을 переимен опечат",
    },
];

/// Points for a question that requests no change.
const QUESTION: i32 = -1;
/// The keyword groups that request a change.
const CHANGES: [&str; 3] = ["broad change", "new behavior", "repair"];

/// Estimates the complexity of `task`.
pub fn score_complexity(task: &str) -> ComplexityScore {
    let task = Task::read(task);
    let mut reasons = Vec::new();
    let mut give = |feature: &'static str, points: i32, evidence: String| {
        if points != 0 {
            reasons.push(ComplexityReason { feature, points, evidence });
        }
    };
    let length = LENGTH.iter().find(|(words, _)| task.words <= *words).map_or(0, |(_, points)| *points);
    give("length", if task.words == 0 { 0 } else { length }, format!("{} words", task.words));
    for counted in COUNTED {
        let count = (counted.count)(&task);
        let points = i32::try_from(count.saturating_sub(counted.free)).unwrap_or(i32::MAX);
        give(counted.feature, points.min(counted.points_max), count.to_string());
    }
    for group in WORDS {
        if let Some(stem) = group.stems.split(' ').find(|stem| task.contains(stem)) {
            give(group.feature, group.points, stem.trim_end_matches('.').to_owned());
        }
    }
    if task.asks && !reasons.iter().any(|reason| CHANGES.contains(&reason.feature)) {
        reasons.push(ComplexityReason { feature: "question", points: QUESTION, evidence: "?".to_owned() });
    }
    let points = reasons.iter().map(|reason| reason.points).sum();
    ComplexityScore { complexity: Complexity::of(points), points, reasons }
}

/// The features of a task.
struct Task {
    /// Its prose in lower case, without code blocks.
    prose: String,
    /// The number of words in the prose.
    words: usize,
    /// The number of distinct paths.
    paths: usize,
    /// Items of lists.
    items: usize,
    /// Blocks of code.
    fences: usize,
    /// Whether it is a question.
    asks: bool,
}

impl Task {
    fn read(text: &str) -> Self {
        let text = text.get(..text.floor_char_boundary(BYTES_MAX)).unwrap_or(text);
        let mut prose = String::with_capacity(text.len());
        let (mut fences, mut items, mut inside) = (0, 0, false);
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                fences += usize::from(!inside);
                inside = !inside;
            } else if !inside {
                items += usize::from(is_item(line));
                prose.push_str(&line.to_lowercase());
                prose.push('\n');
            }
        }
        let paths: HashSet<&str> = prose.split_whitespace().filter_map(path).collect();
        let paths = paths.len();
        let wide = prose.chars().filter(|c| is_wide(*c)).count();
        let words = prose.split_whitespace().filter(|word| !word.chars().any(is_wide)).count();
        let asks = prose.trim_end().ends_with(['?', '？', '؟']);
        let words = words + wide.div_ceil(WIDE_PER_WORD);
        Self { words, paths, items, fences, asks, prose }
    }

    fn contains(&self, stem: &str) -> bool {
        if !stem.is_ascii() {
            return self.prose.contains(stem);
        }
        let mut words = self.prose.split(|c: char| !c.is_alphanumeric());
        match stem.strip_suffix('.') {
            Some(whole) => words.any(|word| word == whole),
            None => words.any(|word| word.starts_with(stem)),
        }
    }
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "• "].iter().any(|mark| line.starts_with(mark))
        || number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "))
}

/// `word` as a path, if it looks like one: it contains a slash, or it is a name with a short extension.
fn path(word: &str) -> Option<&str> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_'));
    let word = word.trim_end_matches(['.', ':', ',']);
    if word.contains("://") {
        return None;
    }
    let (stem, extension) = word.rsplit_once('.').unwrap_or((word, ""));
    let file = stem.chars().any(char::is_alphabetic)
        && (1..=5).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && extension.chars().any(|c| c.is_ascii_alphabetic())
        && stem.len() > 1;
    let directory = word.trim_matches('/').contains('/') && word.len() > 4;
    (file || directory).then_some(word)
}

/// Whether `c` belongs to a script without spaces between words.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}
