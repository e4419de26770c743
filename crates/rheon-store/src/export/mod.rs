//! A session as markdown, JSON or one page of HTML.
