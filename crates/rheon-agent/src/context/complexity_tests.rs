//! Tasks as people write them, and what they are taken for.

use expect_test::expect;

use super::{Complexity, score_complexity};

fn verdict(task: &str) -> String {
    let score = score_complexity(task);
    let reasons: Vec<String> = score
        .reasons
        .iter()
        .map(|reason| format!("{} {:+} ({})", reason.feature, reason.points, reason.evidence))
        .collect();
    format!("{} {}: {}", score.complexity.as_str(), score.points, reasons.join(", "))
}

#[test]
fn tasks_are_scored_with_reasons() {
    let tasks = [
        "What does this function return?",
        "fix the typo in README.md",
        "Add a --verbose flag to the CLI and a test for it",
        "Why does `cargo test` fail on CI but not locally? See src/run.rs and tests/it/run.rs",
        "Migrate the whole codebase from callbacks to async/await:\n- src/a.ts\n- src/b.ts\n- src/c.ts\nKeep all tests green and mind performance.",
        "",
    ];
    let shown: Vec<String> = tasks.iter().map(|task| verdict(task)).collect();
    expect![[r#"
        trivial 0: length +1 (5 words), question -1 (?)
        simple 2: length +1 (5 words), files +1 (1), repair +2 (fix), small change -2 (typo)
        simple 4: length +2 (12 words), new behavior +2 (add)
        moderate 8: length +2 (14 words), files +2 (2), repair +2 (fail), cause requested +2 (why)
        complex 16: length +2 (21 words), files +4 (4), list items +2 (3), broad change +4 (migrat), wide scope +2 (all), hard subject +2 (performan)
        trivial 0: "#]].assert_eq(&shown.join("\n"));
}

#[test]
fn the_same_task_in_other_languages_is_at_most_one_step_away() {
    let tasks = [
        "Refactor the storage module and add tests for every error case",
        "Refaktoriere das Speichermodul und ergänze Tests für alle Fehlerfälle",
        "Refactorise le module de stockage et ajoute des tests pour tous les cas d'erreur",
        "重构存储模块，并为所有错误情况添加测试",
        "ストレージモジュールをリファクタリングし、すべてのエラーケースのテストを追加してください",
        "스토리지 모듈을 리팩터링하고 모든 오류 사례에 대한 테스트를 추가해 주세요",
        "Проведи рефакторинг модуля хранения и добавь тесты для всех ошибок",
        // No word of these two languages is listed.
        "Refaktorera lagringsmodulen och lägg till tester för varje felfall",
        "Depolama modülünü yeniden düzenle ve her hata durumu için testler ekle",
    ];
    let english = score_complexity(tasks[0]).complexity as i32;
    for task in tasks {
        let complexity = score_complexity(task).complexity;
        assert!(complexity > Complexity::Trivial, "{task}: {}", verdict(task));
    }
    let listed: Vec<Complexity> =
        tasks.iter().take(7).map(|task| score_complexity(task).complexity).collect();
    assert!(listed.iter().all(|complexity| (*complexity as i32 - english).abs() <= 1), "{listed:?}");
}

#[test]
fn short_stems_are_whole_words() {
    assert_eq!(verdict("the address allows portals"), "trivial 1: length +1 (4 words)");
}

#[test]
fn pasted_output_does_not_make_a_task_complex() {
    let log = "error: migrate refactor all\n".repeat(500);
    assert_eq!(score_complexity(&format!("fix this\n```\n{log}```")).complexity, Complexity::Simple);
}

#[test]
fn a_huge_task_is_scanned_in_part() {
    assert_eq!(score_complexity(&"word ".repeat(3_000_000)).points, 6);
    assert_eq!(score_complexity(&"漢".repeat(3_000_000)).points, 6);
}
