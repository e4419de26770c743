//! Which places of a prompt are marked for the service's cache: at most four, as the strictest service allows. Pure.

use rheon_types::{CacheStrategy, Request, SystemSection};

/// The places that are marked. Everything up to a mark is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CacheMarks {
    /// After the last tool definition.
    pub(crate) tools: bool,
    /// After the sections of the system prompt with these numbers, of those that say something.
    pub(crate) system: [Option<usize>; 2],
    /// After the messages with these numbers, of those that are sent.
    pub(crate) messages: [Option<usize>; 2],
}

impl CacheMarks {
    /// The marks for `request`, of which `user_messages` are the places of messages in the user's role.
    ///
    /// The last one is marked to be written, the one before it to be read: that is where the request before ended. The same
    /// holds for the stable sections of the system prompt: the first of two outlives a change in the second. It stands behind
    /// the tools, so that these need no mark of their own then.
    pub(crate) fn new(request: &Request, user_messages: impl DoubleEndedIterator<Item = usize>) -> Self {
        let (system, tools, messages) = match request.cache.strategy {
            _ if !request.cache.enabled => return Self::default(),
            CacheStrategy::Disabled => return Self::default(),
            CacheStrategy::Auto => (true, true, true),
            CacheStrategy::Manual { cache_system, cache_tools, cache_messages } => {
                (cache_system, cache_tools, cache_messages)
            }
        };
        // Some wires leave blank sections out.
        let is_marked = |section: &SystemSection| system && section.stable && !section.text.trim().is_empty();
        let sections = request.system.sections().enumerate();
        let stable: Vec<usize> =
            sections.filter(|(_, section)| is_marked(section)).map(|(place, _)| place).collect();
        let mut stable = stable.into_iter().rev();
        let system = [stable.next(), stable.next()];
        let mut last = user_messages.rev().filter(|_| messages);
        Self {
            tools: tools && !request.tools.is_empty() && !system.iter().all(Option::is_some),
            system,
            messages: [last.next(), last.next()],
        }
    }

    /// Whether the section of the system prompt with this number is marked.
    pub(crate) fn section(&self, place: usize) -> bool {
        self.system.contains(&Some(place))
    }

    /// Whether the message with this number is marked.
    pub(crate) fn message(&self, place: usize) -> bool {
        self.messages.contains(&Some(place))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rheon_types::{CacheConfig, ToolDefinition};
    use serde_json::json;

    use super::*;

    fn request(strategy: CacheStrategy) -> Request {
        let section = |text: &str, stable| SystemSection { text: text.into(), stable };
        let tool = ToolDefinition {
            name: "t".into(),
            description: String::new(),
            parameters: json!({"type": "object"}),
        };
        Request {
            system: [section("a", true), section("", true), section("b", true), section("c", false)]
                .into_iter()
                .collect(),
            tools: Arc::from([tool]),
            cache: CacheConfig { enabled: true, strategy },
            ..Request::new("m")
        }
    }

    #[test]
    fn by_itself_marks_both_stable_ends_of_the_system_prompt_and_the_last_two_user_messages() {
        let marks = CacheMarks::new(&request(CacheStrategy::Auto), [0, 2, 4].into_iter());
        let expected = CacheMarks { tools: false, system: [Some(1), Some(0)], messages: [Some(4), Some(2)] };
        assert_eq!(marks, expected);
        assert!(marks.message(2) && !marks.message(0) && marks.section(0) && !marks.section(2));
    }

    #[test]
    fn with_one_stable_section_the_tools_have_a_mark_too() {
        let one = Request { system: "a".into(), ..request(CacheStrategy::Auto) };
        let marks = CacheMarks::new(&one, [0, 2].into_iter());
        let expected = CacheMarks { tools: true, system: [Some(0), None], messages: [Some(2), Some(0)] };
        assert_eq!(marks, expected);
    }

    #[test]
    fn only_what_is_chosen_is_marked() {
        let manual = CacheStrategy::Manual { cache_system: true, cache_tools: false, cache_messages: false };
        let marks = CacheMarks::new(&request(manual), [0].into_iter());
        assert_eq!(marks, CacheMarks { tools: false, system: [Some(1), Some(0)], messages: [None, None] });
        assert_eq!(
            CacheMarks::new(&request(CacheStrategy::Disabled), [0].into_iter()),
            CacheMarks::default()
        );
        let mut off = request(CacheStrategy::Auto);
        off.cache.enabled = false;
        assert_eq!(CacheMarks::new(&off, [0].into_iter()), CacheMarks::default());
    }

    #[test]
    fn a_prompt_without_tools_or_system_has_no_marks_there() {
        let marks = CacheMarks::new(&Request::new("m"), [0].into_iter());
        assert_eq!(marks, CacheMarks { tools: false, system: [None, None], messages: [Some(0), None] });
    }
}
