//! What is measured of each agent, and of the parts of a turn of ours.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::agent::{Agent, Kind};
use super::doorway::Doorway;
use super::stage::Stage;
use super::watched::{Taken, Watched};
use crate::bench::figures::Figures;
use crate::bench::process::target;
use crate::fake_model::FakeModel;

/// How many turns with a tool a long run has.
pub(super) const TURNS: u32 = 50;

/// Ways to run ours with less, to know what the rest costs: a name, further arguments, and whether turns run commands.
const LESS: [(&str, &[&str], Tool); 4] = [
    ("list", &["--no-session-persistence"], Tool::List),
    ("list, kept", &[], Tool::List),
    ("bash, free", &["--no-session-persistence", "--no-sandbox"], Tool::Bash),
    ("bash, held", &["--no-session-persistence"], Tool::Bash),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Bash,
    List,
}

/// Several measurements of one thing.
#[derive(Debug, Default)]
struct Sample(Vec<f64>);

impl Sample {
    fn take(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e9);
    }

    /// Writes down the median as `case` and the least as `case/best`.
    fn note(&mut self, case: &str, figures: &mut Figures) {
        self.0.sort_by(f64::total_cmp);
        if let (Some(least), Some(median)) = (self.0.first(), self.0.get(self.0.len() / 2)) {
            figures.insert(case, *median);
            figures.insert(&format!("{case}/best"), *least);
        }
    }

    fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Measures ours and the others, each thing `runs` times, and writes the figures down.
pub(super) fn measure(others: &[Agent], runs: u32, figures: &mut Figures) -> Result<()> {
    let bench = Bench { server: target("dist/rheon-fake-model"), runs };
    let rheon = Agent::rheon("rheon", target("dist/rheon"));
    let agents: Vec<&Agent> = std::iter::once(&rheon).chain(others).collect();
    for agent in agents.iter().filter(|agent| agent.kind == Kind::Rheon) {
        for program in &agent.program {
            let size = std::fs::metadata(program).with_context(|| format!("no {}", program.display()))?.len();
            #[expect(clippy::cast_precision_loss, reason = "a figure to be shown")]
            figures.insert(&format!("{}/binary", agent.name), size as f64);
        }
    }
    let names: Vec<&str> = agents.iter().map(|agent| agent.name).collect();
    println!("== {}, in turns", names.join(", "));
    bench.agents(&agents, figures)?;
    println!("== the parts of a turn");
    bench.parts(&rheon, figures)
}

struct Bench {
    server: PathBuf,
    runs: u32,
}

/// What several runs took.
#[derive(Debug, Default)]
struct Runs {
    wall: Sample,
    own_work: Sample,
    all_work: Sample,
    peak_bytes: u64,
}

impl Runs {
    fn take(&mut self, taken: &Taken) {
        self.wall.take(taken.wall);
        self.own_work.take(taken.own_work);
        self.all_work.take(taken.all_work);
        self.peak_bytes = self.peak_bytes.max(taken.peak_bytes);
    }
}

/// An agent with its own stage, and what was measured of it so far.
struct Entrant<'a> {
    agent: &'a Agent,
    stage: Stage,
    version: Sample,
    first_byte: Sample,
    body_bytes: u64,
    short: Runs,
    long: Runs,
}

impl Entrant<'_> {
    /// Writes the figures down.
    fn note(mut self, figures: &mut Figures) {
        let case = |what: &str| format!("{}/{what}", self.agent.name);
        self.version.note(&case("version"), figures);
        self.first_byte.note(&case("first byte"), figures);
        #[expect(clippy::cast_precision_loss, reason = "a figure to be shown")]
        figures.insert(&case("body"), self.body_bytes as f64);
        let per_turn = |long: &Sample, short: &Sample| (long.median() - short.median()) / f64::from(TURNS);
        figures.insert(&case("turn"), per_turn(&self.long.wall, &self.short.wall));
        figures.insert(&case("turn/own work"), per_turn(&self.long.own_work, &self.short.own_work));
        figures.insert(&case("turn/all work"), per_turn(&self.long.all_work, &self.short.all_work));
        for (runs, name) in [(&mut self.short, "short"), (&mut self.long, "long")] {
            runs.wall.note(&case(name), figures);
            runs.all_work.note(&case(&format!("{name}/work")), figures);
            #[expect(clippy::cast_precision_loss, reason = "a figure to be shown")]
            figures.insert(&case(&format!("{name}/peak")), runs.peak_bytes as f64);
        }
    }
}

impl Bench {
    /// Measures all agents in turns: whatever else the machine does disturbs all of them.
    fn agents(&self, agents: &[&Agent], figures: &mut Figures) -> Result<()> {
        let failed = |agent: &Agent| format!("cannot measure {}", agent.name);
        let mut entrants = Vec::new();
        for agent in agents {
            let entrant = self.entrant(agent).with_context(|| failed(agent))?;
            entrants.push(entrant);
        }
        for _ in 0..self.runs {
            for entrant in &mut entrants {
                self.round(entrant).with_context(|| failed(entrant.agent))?;
            }
        }
        for entrant in entrants {
            entrant.note(figures);
        }
        Ok(())
    }

    fn entrant<'a>(&self, agent: &'a Agent) -> Result<Entrant<'a>> {
        let stage = Stage::new(target("bench/cli").join(agent.name))?;
        // The first start makes directories and finds out what the machine can do; it is not measured.
        self.turns(agent, &stage, 1, &[])?;
        let (version, first_byte) = <_>::default();
        let (short, long) = <_>::default();
        Ok(Entrant { agent, stage, version, first_byte, body_bytes: 0, short, long })
    }

    /// Measures everything once.
    fn round(&self, entrant: &mut Entrant<'_>) -> Result<()> {
        let (agent, stage) = (entrant.agent, &entrant.stage);
        let taken = Watched::start(&mut agent.bare(stage, &["--version"]))?.end()?;
        ensure!(taken.is_success, "`{} --version` failed", agent.name);
        entrant.version.take(taken.wall);
        let (time, body_bytes) = first_byte(agent, stage)?;
        entrant.first_byte.take(time);
        entrant.body_bytes = body_bytes;
        entrant.short.take(&self.turns(agent, stage, 0, &[])?);
        entrant.long.take(&self.turns(agent, stage, TURNS, &[])?);
        Ok(())
    }

    /// One run with so many commands, one after the other.
    fn turns(&self, agent: &Agent, stage: &Stage, turns: u32, more: &[&str]) -> Result<Taken> {
        self.play(agent, stage, &agent.commands(turns), more)
    }

    fn play(&self, agent: &Agent, stage: &Stage, script: &str, more: &[&str]) -> Result<Taken> {
        let script = stage.script(script)?.display().to_string();
        let model = FakeModel::start_program(&self.server, &["--script", &script])?;
        stage.point_to(model.url())?;
        let taken = Watched::start(&mut agent.run(stage, model.url(), more))?.end()?;
        ensure!(taken.is_success, "a run of {} failed", agent.name);
        Ok(taken)
    }

    /// What a turn of ours consists of: the same run with less and less of it. All ways take turns.
    fn parts(&self, rheon: &Agent, figures: &mut Figures) -> Result<()> {
        debug_assert_eq!(rheon.kind, Kind::Rheon);
        let stage = Stage::new(target("bench/cli/parts"))?;
        let mut walls: Vec<(Sample, Sample)> = LESS.iter().map(|_| <_>::default()).collect();
        let mut bare = Sample::default();
        for _ in 0..self.runs {
            for ((_, more, tool), (short, long)) in LESS.iter().zip(&mut walls) {
                let play = match tool {
                    Tool::Bash => rheon.commands(TURNS),
                    Tool::List => listings(),
                };
                short.take(self.turns(rheon, &stage, 0, more)?.wall);
                long.take(self.play(rheon, &stage, &play, more)?.wall);
            }
            bare.take(bare_commands()? / TURNS);
        }
        let turn = |place: usize| {
            let taken = walls.get(place).map(|(short, long)| long.median() - short.median());
            taken.unwrap_or(f64::NAN) / f64::from(TURNS)
        };
        let [list, kept, free, held] = [0, 1, 2, 3].map(turn);
        figures.insert("part/loop", list);
        figures.insert("part/sync", kept - list);
        figures.insert("part/spawn", free - list);
        figures.insert("part/sandbox", held - free);
        figures.insert("part/bare", bare.median());
        Ok(())
    }
}

/// From the start of the process to the first byte of its first request, and how long that is.
fn first_byte(agent: &Agent, stage: &Stage) -> Result<(Duration, u64)> {
    let doorway = Doorway::open()?;
    stage.point_to(&doorway.url)?;
    let process = Watched::start(&mut agent.run(stage, &doorway.url, &[]))?;
    let began = process.began;
    let knock = doorway.wait();
    process.stop()?;
    let knock = knock?;
    Ok((knock.at.duration_since(began), knock.body_bytes))
}

/// A script in which every turn lists the workspace: a tool that starts no process.
fn listings() -> String {
    let call = |turn: u32| {
        let arguments =
            format!("{{ include_ignored = {}, depth = {} }}", turn.is_multiple_of(2), 1 + turn % 20);
        format!(
            "[[reply]]\nwhen = {{ tools = true }}\ncalls = [{{ name = \"list\", arguments = {arguments} }}]\n"
        )
    };
    let calls: String = (1..=TURNS).map(call).collect();
    format!("[default]\ntext = \"All done.\"\n{calls}")
}

/// As many commands as a long run has, started by hand.
fn bare_commands() -> Result<Duration> {
    let began = Instant::now();
    for _ in 0..TURNS {
        let status = Command::new("bash").args(["-c", "echo ok"]).stdin(Stdio::null()).output();
        ensure!(status.context("cannot start bash")?.status.success(), "bash failed");
    }
    Ok(began.elapsed())
}
