//! Splits a chapter's text into its blocks.
//!
//! In: Markdown. Out: each fenced block with the comment before it.

/// A fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The line number of the opening fence, starting at one.
    pub line: usize,
    /// The comment's text before the colon; empty if there is no comment.
    pub role: String,
    /// The comment's text behind the colon.
    pub about: String,
    /// The word behind the opening fence.
    pub language: String,
    /// The lines between the fences, with their line ends.
    pub text: String,
}

/// All blocks of a chapter.
pub fn blocks(chapter: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut comment = (String::new(), String::new());
    for (at, line) in chapter.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(language)) => {
                let (role, about) = std::mem::take(&mut comment);
                open =
                    Some(Block { line: at + 1, role, about, language: language.into(), text: String::new() });
            }
            (None, None) => comment = parse_comment(line).unwrap_or_default(),
        }
    }
    blocks
}

fn parse_comment(line: &str) -> Option<(String, String)> {
    let inside = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    let (role, about) = inside.split_once(": ").unwrap_or((inside, ""));
    Some((role.into(), about.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_comment_right_before_it() {
        let text = "<!-- run: a -->\n\nwords\n```text\none\n```\n<!-- file: b/c -->\n```rust\ntwo\n\n```\n<!-- drawing -->\n```text\n```\n";
        let found = blocks(text);
        let parts: Vec<_> = found
            .iter()
            .map(|block| (block.line, &*block.role, &*block.about, &*block.language, &*block.text))
            .collect();
        let expected = [
            (4, "", "", "text", "one\n"),
            (8, "file", "b/c", "rust", "two\n\n"),
            (13, "drawing", "", "text", ""),
        ];
        assert_eq!(parts, expected);
    }
}
