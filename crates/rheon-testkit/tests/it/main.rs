//! The fake model server from the outside: requests in, bytes out.

#![cfg(test)]

mod answers;
mod fallback;
mod faults;
mod program;
mod rules_anthropic;
mod rules_bedrock;
mod rules_gemini;
mod rules_openai;
mod support;
mod workers;
