//! Chooses which positions of a prompt get cache marks: at most four, the limit of the strictest service. Pure.

use rheon_types::{CacheStrategy, Request, SystemSection};

/// The marked positions. The service caches everything up to a mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CacheMarks {
    /// After the last tool definition.
    pub(crate) tools: bool,
    /// After the sections of the system prompt with these indexes, counting only non-blank ones.
    pub(crate) system: [Option<usize>; 2],
    /// After the messages with these indexes, counting only those that are sent.
    pub(crate) messages: [Option<usize>; 2],
}

impl CacheMarks {
    /// The marks for `request`; `user_messages` are the indexes of messages in the user role.
    ///
    /// The last one is marked for writing, the one before it for reading: that is where the previous request ended.
    /// The same holds for the stable sections of the system prompt: the first of the two survives a change in the
    /// second. It comes after the tools, so the tools need no separate mark.
    pub(crate) fn new(request: &Request, user_messages: impl DoubleEndedIterator<Item = usize>) -> Self {
        let (system, tools, messages) = match request.cache.strategy {
            _ if !request.cache.enabled => return Self::default(),
            CacheStrategy::Disabled => return Self::default(),
            CacheStrategy::Auto => (true, true, true),
            CacheStrategy::Manual { cache_system, cache_tools, cache_messages } => {
                (cache_system, cache_tools, cache_messages)
            }
        };
        // Some wires omit blank sections.
        let is_marked = |section: &SystemSection| system && section.stable && !section.text.trim().is_empty();
        let sections = request.system.sections().enumerate();
        let stable: Vec<usize> =
            sections.filter(|(_, section)| is_marked(section)).map(|(index, _)| index).collect();
        let mut stable = stable.into_iter().rev();
        let system = [stable.next(), stable.next()];
        let mut last = user_messages.rev().filter(|_| messages);
        Self {
            tools: tools && !request.tools.is_empty() && !system.iter().all(Option::is_some),
            system,
            messages: [last.next(), last.next()],
        }
    }

    /// Whether the section of the system prompt with this index is marked.
    pub(crate) fn section(&self, index: usize) -> bool {
        self.system.contains(&Some(index))
    }

    /// Whether the message with this index is marked.
    pub(crate) fn message(&self, index: usize) -> bool {
        self.messages.contains(&Some(index))
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
    fn auto_marks_stable_system_sections_and_last_two_user_messages() {
        let marks = CacheMarks::new(&request(CacheStrategy::Auto), [0, 2, 4].into_iter());
        let expected = CacheMarks { tools: false, system: [Some(1), Some(0)], messages: [Some(4), Some(2)] };
        assert_eq!(marks, expected);
        assert!(marks.message(2) && !marks.message(0) && marks.section(0) && !marks.section(2));
    }

    #[test]
    fn tools_are_marked_if_there_is_one_stable_section() {
        let one = Request { system: "a".into(), ..request(CacheStrategy::Auto) };
        let marks = CacheMarks::new(&one, [0, 2].into_iter());
        let expected = CacheMarks { tools: true, system: [Some(0), None], messages: [Some(2), Some(0)] };
        assert_eq!(marks, expected);
    }

    #[test]
    fn only_selected_parts_are_marked() {
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
    fn no_marks_without_tools_and_system_prompt() {
        let marks = CacheMarks::new(&Request::new("m"), [0].into_iter());
        assert_eq!(marks, CacheMarks { tools: false, system: [None, None], messages: [Some(0), None] });
    }
}
