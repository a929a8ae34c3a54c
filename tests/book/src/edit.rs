//! Applies a chapter's change blocks to files.
//!
//! In: the file's text and a block. Out: the text with the block applied, or why it does not fit.

/// The line that stands for unchanged lines.
const KEPT: &str = "// …";

/// Replaces the lines from the block's first line to its last line by the block. If the block contains `// …`, the lines
/// before and behind it are inserted around the unchanged lines.
pub fn change(text: &str, block: &str) -> Result<String, String> {
    let lines: Vec<&str> = text.lines().collect();
    let shown: Vec<&str> = block.lines().collect();
    let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
        return Err("the block is empty".into());
    };
    let find = |line: &str, from: usize| {
        let found = lines[from..].iter().position(|candidate| candidate == &line);
        found.map(|at| at + from).ok_or_else(|| format!("the file has no line `{line}` here"))
    };
    let start = find(first, 0)?;
    let end = find(last, start)?;
    let old = &lines[start..=end];
    let mut dots = shown.iter().enumerate().filter(|(_, line)| line.trim() == KEPT).map(|(at, _)| at);
    let middle: Vec<&str> = match (dots.next(), dots.next()) {
        (None, _) => shown,
        (Some(_), Some(_)) => return Err(format!("`{KEPT}` may stand there once")),
        (Some(at), None) => {
            let (head, tail) = (&shown[..at], &shown[at + 1..]);
            let known = head.iter().zip(old).take_while(|(a, b)| a == b).count();
            let rest = &old[known..];
            let also = tail.iter().rev().zip(rest.iter().rev()).take_while(|(a, b)| a == b).count();
            [head, &rest[..rest.len() - also], tail].concat()
        }
    };
    let parts = [&lines[..start], &middle, &lines[end + 1..]];
    Ok(parts.concat().into_iter().flat_map(|line| [line, "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "enum Op {\n    A,\n    B,\n}\n\nfn main() {\n    a();\n    b();\n}\n";

    #[test]
    fn a_block_takes_the_place_of_what_has_its_ends() {
        let changed = change(FILE, "fn main() {\n    c();\n}\n");
        assert_eq!(changed.as_deref(), Ok("enum Op {\n    A,\n    B,\n}\n\nfn main() {\n    c();\n}\n"));
    }

    #[test]
    fn dots_keep_what_is_there() {
        let changed = change(FILE, "enum Op {\n    // …\n    C,\n}\n");
        assert!(changed.expect("it fits").starts_with("enum Op {\n    A,\n    B,\n    C,\n}\n"));
        let changed = change(FILE, "fn main() {\n    c();\n    // …\n    b();\n    d();\n}\n");
        assert!(
            changed
                .expect("it fits")
                .ends_with("fn main() {\n    c();\n    a();\n    b();\n    b();\n    d();\n}\n")
        );
    }

    #[test]
    fn a_block_without_a_place_is_refused() {
        let error = change(FILE, "fn other() {\n}\n").expect_err("there is none");
        assert_eq!(error, "the file has no line `fn other() {` here");
    }
}
