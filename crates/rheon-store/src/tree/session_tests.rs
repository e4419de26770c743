//! Queries of a session.

use expect_test::expect;

use crate::tree::SessionRecorderConfig;
use crate::tree::fixtures::{RecorderFixture, outline};

#[test]
fn a_session_drained_early_is_merged() {
    let mut fixture = RecorderFixture::new(SessionRecorderConfig::default());
    fixture.run("s.c.0", None);
    let mut early = fixture.recorder.drain_completed().remove(0);
    fixture.run("s.c.1", Some("s.c.0"));
    fixture.run("s.c.2", None);
    let later = fixture.recorder.drain_completed().remove(0);
    expect![[r#"
        s of "agent" 1003..1008 FirstLoop
          s.c.1 Completed parent=Some("s.c.0") children=[] events=3 tokens=12
          s.c.2 Completed parent=None children=[] events=3 tokens=12"#]]
    .assert_eq(&outline(&later));
    early.merge(later.clone());
    let once = early.clone();
    early.merge(later);
    assert_eq!(early, once);
    expect![[r#"
        s of "agent" 1000..1008 FirstLoop
          s.c.0 Completed parent=None children=["s.c.1"] events=3 tokens=12
          s.c.1 Completed parent=Some("s.c.0") children=[] events=3 tokens=12
          s.c.2 Completed parent=None children=[] events=3 tokens=12"#]]
    .assert_eq(&outline(&early));
    let roots: Vec<&str> = early.root_loops().map(|record| record.loop_id.as_str()).collect();
    assert_eq!(roots, ["s.c.0", "s.c.2"]);
    let parent = "s.c.0".into();
    let children: Vec<&str> = early.children_of(&parent).map(|record| record.loop_id.as_str()).collect();
    assert_eq!(children, ["s.c.1"]);
    assert_eq!(early.total_usage().total(), 36);
}
