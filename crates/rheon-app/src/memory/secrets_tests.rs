//! What is taken out, and what stays.

use expect_test::expect;
use rheon_text::secrets::canaries;

use super::redacted;

#[test]
fn secrets_in_commands_and_sentences_are_taken_out() {
    let texts = [
        "PGPASSWORD=letmein psql -h db",
        "export GITHUB_TOKEN='one two' && make",
        "tool --password hunter two",
        "tool --api-key='a b c' run",
        "tool --db-password \"a b c\" run",
        "curl -u ada:sesame https://example.com",
        "curl -H 'Authorization: Bearer abc123def456ghi' x",
        "curl https://ada:sesame@example.com/",
        "mysql -u root -psesame shop",
        "sshpass -p sesame ssh host",
        "docker login -u ada -p sesame",
        "git push https://ghp_abcdefghij0123456789@github.com",
        "No, my password is sesame, use that",
        "No, password: sesame",
        "psql 'postgres://u:pw@h/db'; (DB_PASS=x make)",
        "--password",
        "AKIAABCDEFGHIJKLMNOP",
    ];
    expect![[r#"
        PGPASSWORD=[redacted] psql -h db
        export GITHUB_TOKEN=[redacted] && make
        tool --password [redacted] two
        tool --api-key=[redacted] run
        tool --db-password [redacted] run
        curl -u ada:[redacted] https://example.com
        curl -H 'Authorization: Bearer [redacted: bearer token]' x
        curl https://ada:[redacted: password in a URL]@example.com/
        mysql -u root -p[redacted] shop
        sshpass -p [redacted] ssh host
        docker login -u ada -p [redacted]
        git push https://[redacted: GitHub token]@github.com
        No, my password is [redacted] use that
        No, password: [redacted]
        psql 'postgres://u:[redacted: password in a URL]@h/db'; (DB_PASS=[redacted] make)
        --password
        [redacted: AWS key id]"#]]
    .assert_eq(&texts.map(redacted).join("\n"));
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "",
        "cargo test -p rheon-app",
        "mkdir -p a/b",
        "TOKEN=$GITHUB_TOKEN make",
        "tool --password $PASS",
        "tool --token --verbose",
        "The tokens are counted; max_tokens=100",
        "cd src; PWD=/home/ada ls",
        "No, don't ask for the password twice",
        "See https://example.com/password:reset",
        "a  b   c",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn no_secret_of_any_format_is_remembered() {
    for (kind, secret) in canaries() {
        assert_eq!(redacted(&format!("use {secret} now")), format!("use [redacted: {kind}] now"));
    }
}
