//! The conversation about the conversation.
