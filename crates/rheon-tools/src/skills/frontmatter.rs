//! The frontmatter of a `SKILL.md`, read leniently.

use crate::markdown::{Fields, Readable, is_usable, is_words_with_hyphens, parse, text_of};
use crate::skills::skill::{DESCRIPTION_CHARACTERS_MAX, Invocation};
use crate::skills::warning::SkillProblem;

/// What a file says about itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frontmatter {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) invocation: Invocation,
}

/// What the frontmatter says, with what is odd about it; an error is a reason to leave the skill out.
pub(crate) fn read(
    frontmatter: &str,
    folder_name: &str,
) -> Result<(Frontmatter, Vec<SkillProblem>), SkillProblem> {
    let mut problems = Vec::new();
    let (fields, readable) = parse(frontmatter).map_err(SkillProblem::Unreadable)?;
    match readable {
        Readable::AsItIs => {}
        Readable::Mended(problem) => problems.push(SkillProblem::Mended(problem)),
    }
    let name = name(&fields, folder_name, &mut problems)?;
    let description = text_of(&fields, "description").ok_or(SkillProblem::NoDescription)?;
    if description.chars().nth(DESCRIPTION_CHARACTERS_MAX).is_some() {
        problems.push(SkillProblem::DescriptionCut);
    }
    let description = description.chars().take(DESCRIPTION_CHARACTERS_MAX).collect();
    let invocation = invocation(&fields, &mut problems);
    Ok((Frontmatter { name, description, invocation }, problems))
}

fn name(
    fields: &Fields,
    folder_name: &str,
    problems: &mut Vec<SkillProblem>,
) -> Result<String, SkillProblem> {
    let folder = || folder_name.to_owned();
    let Some(name) = text_of(fields, "name").filter(|name| is_usable(name)) else {
        if !is_usable(folder_name) {
            return Err(SkillProblem::NameUnusable);
        }
        problems.push(SkillProblem::NameMissing { folder: folder() });
        return Ok(folder());
    };
    if !is_words_with_hyphens(&name) {
        problems.push(SkillProblem::NameOdd { name: name.clone() });
    }
    if name != folder_name {
        problems.push(SkillProblem::NameDiffers { name: name.clone(), folder: folder() });
    }
    Ok(name)
}

fn invocation(fields: &Fields, problems: &mut Vec<SkillProblem>) -> Invocation {
    match text_of(fields, "disable-model-invocation").as_deref() {
        None if !fields.contains_key("disable-model-invocation") => Invocation::Anyone,
        Some("false") => Invocation::Anyone,
        Some("true") => Invocation::UserOnly,
        Some(_) | None => {
            problems.push(SkillProblem::InvocationOdd);
            Invocation::UserOnly
        }
    }
}
