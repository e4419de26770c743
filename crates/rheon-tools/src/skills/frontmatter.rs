//! Lenient parsing of the frontmatter of a `SKILL.md`.

use crate::markdown::{Fields, ParseMode, is_kebab_case, is_valid_name, parse, text_field};
use crate::skills::skill::{DESCRIPTION_CHARACTERS_MAX, Invocation};
use crate::skills::warning::SkillProblem;

/// The fields of a `SKILL.md`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frontmatter {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) invocation: Invocation,
}

/// Parses the frontmatter. Returns problems that still allow the skill to load, or the error that does not.
pub(crate) fn read(
    frontmatter: &str,
    dir_name: &str,
) -> Result<(Frontmatter, Vec<SkillProblem>), SkillProblem> {
    let mut problems = Vec::new();
    let (fields, mode) = parse(frontmatter).map_err(SkillProblem::InvalidYaml)?;
    match mode {
        ParseMode::Strict => {}
        ParseMode::Quoted(problem) => problems.push(SkillProblem::UnquotedYaml(problem)),
    }
    let name = name(&fields, dir_name, &mut problems)?;
    let description = text_field(&fields, "description").ok_or(SkillProblem::MissingDescription)?;
    if description.chars().nth(DESCRIPTION_CHARACTERS_MAX).is_some() {
        problems.push(SkillProblem::DescriptionTooLong);
    }
    let description = description.chars().take(DESCRIPTION_CHARACTERS_MAX).collect();
    let invocation = invocation(&fields, &mut problems);
    Ok((Frontmatter { name, description, invocation }, problems))
}

fn name(fields: &Fields, dir_name: &str, problems: &mut Vec<SkillProblem>) -> Result<String, SkillProblem> {
    let dir = || dir_name.to_owned();
    let Some(name) = text_field(fields, "name").filter(|name| is_valid_name(name)) else {
        if !is_valid_name(dir_name) {
            return Err(SkillProblem::InvalidName);
        }
        problems.push(SkillProblem::NameMissing { dir: dir() });
        return Ok(dir());
    };
    if !is_kebab_case(&name) {
        problems.push(SkillProblem::NameNotKebabCase { name: name.clone() });
    }
    if name != dir_name {
        problems.push(SkillProblem::NameDiffers { name: name.clone(), dir: dir() });
    }
    Ok(name)
}

fn invocation(fields: &Fields, problems: &mut Vec<SkillProblem>) -> Invocation {
    match text_field(fields, "disable-model-invocation").as_deref() {
        None if !fields.contains_key("disable-model-invocation") => Invocation::Any,
        Some("false") => Invocation::Any,
        Some("true") => Invocation::UserOnly,
        Some(_) | None => {
            problems.push(SkillProblem::InvalidInvocation);
            Invocation::UserOnly
        }
    }
}
