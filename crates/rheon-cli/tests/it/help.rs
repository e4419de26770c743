//! What the program says about itself.

use expect_test::{expect, expect_file};

use crate::support::Place;

fn stdout_of(arguments: &[&str]) -> String {
    let ran = Place::new().run(arguments);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    ran.stdout
}

fn stderr_of(arguments: &[&str]) -> String {
    let ran = Place::new().run(arguments);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(2)));
    ran.stderr
}

#[test]
fn version() {
    for flag in ["--version", "-V", "-v"] {
        assert_eq!(stdout_of(&[flag]), concat!("rheon ", env!("CARGO_PKG_VERSION"), "\n"));
    }
}

#[test]
fn help() {
    expect_file!["help/rheon.txt"].assert_eq(&stdout_of(&["--help"]));
}

#[test]
fn short_help() {
    expect![[r#"
        Runs coding agents: a model, its tools, and a log of all that happens

        Usage: rheon [OPTIONS] [PROMPT]
               rheon <COMMAND>

        Commands:
          run          Do one thing and print the answer; the same as rheon -p
          sessions     Find, read, go on with, rewind, export and delete sessions
          models       List the models that are known, with their windows and prices
          demo         Watch an agent at work; needs no network and no key
          completions  Print completions for a shell
          man          Print the manual page
          help         Print this message or the help of the given subcommand(s)

        Arguments:
          [PROMPT]  What to do

        Options:
          -p, --print    Do one thing, print the answer and exit
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version

        Input and output:
              --output-format <FORMAT>    How a headless run is shown [default: text] [possible values:
                                          text, json, stream-json, events]
              --input-format <FORMAT>     What standard input is [default: text] [possible values: text,
                                          stream-json]
              --json-schema <SCHEMA>      The form the answer must have: a JSON schema, or a file with one
              --include-partial-messages  With stream-json: what the model says as it says it, too
              --replay-user-messages      With stream-json in and out: repeat what the user said
              --verbose                   Say more: notices, retries, what hooks did
              --trace <FILE>              Write every event as a line of JSON to this file, too
              --plain                     Speak line by line, without a full-screen interface

        Session:
          -c, --continue                Go on with the session of this folder that was active last
          -r, --resume <ID>             Go on with this session: its id, or the beginning of it; one of
                                        Claude Code's too
              --fork-session            With -c or -r: leave that session as it is and go on in a new one
              --session-id <UUID>       Begin a session with this id (a UUID)
              --no-session-persistence  Keep nothing of this session

        Model and limits:
          -m, --model <MODEL>           The model to ask, as vendor/model; a name that only one vendor has
                                        will do
              --fallback-model <MODEL>  Ask this one where the model is overloaded
              --effort <EFFORT>         How hard to try; by default it follows the task [possible values:
                                        low, medium, high, max]
              --max-turns <N>           Stop after this many turns
              --max-budget-usd <USD>    Stop before more than this is spent, in US dollars
              --max-tokens <N>          Stop before more than this many tokens are spent
              --max-minutes <MINUTES>   Stop after this many minutes

        Permissions:
              --allowed-tools <RULES>...      What may run without asking: rules such as "Bash(git *)" or
                                              "Edit"; separate several by commas or spaces [alias:
                                              --allowedTools]
              --disallowed-tools <RULES>...   What may not run, or not even be known to the model [alias:
                                              --disallowedTools]
              --tools <TOOLS>...              The only tools to offer, by name; "default" for all, "" for
                                              none
              --permission-mode <MODE>        How much may be done without asking [possible values: default,
                                              acceptEdits, plan, dontAsk, bypassPermissions]
              --dangerously-skip-permissions  Ask nothing: the same as --permission-mode bypassPermissions
              --add-dir <FOLDER>...           Another folder that tools may work in
              --no-sandbox                    Run commands without a sandbox, where the machine has none
              --network                       Let commands reach the network
              --trust                         Trust what this project brings along (hooks, skills, commands,
                                              MCP servers) for this run

        Setup:
              --system-prompt <TEXT>         Say this to the model instead of the usual instructions
              --system-prompt-file <FILE>    The same, from a file
              --append-system-prompt <TEXT>  Say this to the model besides the usual instructions
              --settings <FILE|TEXT>         More settings: a file, or JSON or TOML as it stands
              --setting-sources <SOURCES>    The only settings to read, of user, project and local; none if
                                             empty
              --mcp-config <FILE|JSON>...    MCP servers: a file, or JSON as it stands
              --strict-mcp-config            Only the MCP servers of --mcp-config
          -C, --cd <FOLDER>                  Work in this folder
              --bare                         Only what is asked for: no rules, no skills, no memory, no
                                             hooks, no project settings

        Examples:
          rheon demo                          Watch an agent at work; needs no network and no key
          rheon                               Speak with an agent about this folder
          rheon -p "explain this project"     One answer, for scripts
          git diff | rheon -p "review this"   Piped text belongs to the prompt
          rheon -c                            Go on with the last session of this folder
          rheon sessions list                 What was said before
    "#]]
    .assert_eq(&stdout_of(&["-h"]));
}

#[test]
fn help_of_demo() {
    expect![[r#"
        Watch an agent at work; needs no network and no key

        A scripted model finds out why a test fails, mends it and runs the test again, in a fresh
        repository. Only the model is scripted: the tools, the rules, the sandbox and the session are the
        real ones. What it did stays, to be listed, replayed, taken back and exported.

        Usage: rheon demo [OPTIONS]

        Options:
              --fast
                  Play without pauses

              --discard
                  Leave nothing behind: no repository, no session

              --events
                  Print every event as one line of JSON instead

          -h, --help
                  Print help (see a summary with '-h')
    "#]]
    .assert_eq(&stdout_of(&["demo", "--help"]));
}

#[test]
fn no_command() {
    assert_eq!(
        stderr_of(&[]),
        "error: there is no prompt: write one, as in rheon -p \"explain this\", or pipe one in\n"
    );
}

#[test]
fn unknown_command() {
    expect![[r#"
        error: no model is configured, and no local server answers. One of these helps:
          a key:           export ANTHROPIC_API_KEY=...   (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY; `rheon models --vendors` lists all)
          a local server:  ollama serve, with a model     (or LM Studio, llama.cpp, vLLM on their usual ports)
          nothing at all:  rheon demo                     (a scripted model, offline)
    "#]]
    .assert_eq(&stderr_of(&["dmo"]));
}

#[test]
fn unknown_option() {
    expect![[r#"
        error: unexpected argument '--fats' found

          tip: a similar argument exists: '--fast'

        Usage: rheon demo --fast

        For more information, try '--help'.
    "#]]
    .assert_eq(&stderr_of(&["demo", "--fats"]));
}
