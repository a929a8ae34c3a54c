//! The explorer: an interactive page that shows the stages of a function's compilation, from bytecode to machine code.
//!
//! In: a trace, the text that [`Engine::stages`](crate::Engine::stages) returns and that logs consist of. Out: one
//! self-contained HTML page, which any browser shows without a network.
//!
//! A script in the page parses the trace, and derives from the text every link between bytecode, nodes, tiles, live ranges
//! and machine code. So the page shows exactly what the text says, and old logs can be viewed as well.

/// The page without its parts, with a marker for each of them.
const PAGE: &str = include_str!("page.html");

/// Makes a page that shows a trace: the text that [`Engine::stages`](crate::Engine::stages) returns, the contents of a log
/// file, or several of these concatenated.
///
/// ```
/// # use azulejo::prelude::*;
/// # #[derive(Bytecode, Clone, Copy, Debug)]
/// # enum Op { Double { dst: Out<i64>, a: In<i64> }, Return { a: In<i64> } }
/// # template! {
/// #     Op::Double => (add $a $a)
/// #     Op::Return => (return $a)
/// # }
/// let engine = Engine::<Op>::new();
/// let code = vec![Op::Double { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
/// let function = engine.define("double", code, 1)?;
/// # if azulejo::can_compile().is_ok() {
/// let page = azulejo::explore::page("double", &engine.stages(function)?);
/// assert!(page.contains("<title>double</title>"));
/// assert!(page.contains("Double { dst: r0, a: r0 }"));
/// # }
/// # Ok::<(), Error>(())
/// ```
pub fn page(title: &str, trace: &str) -> String {
    let parts: [(&str, &str); 4] = [
        ("{{title}}", &text(title)),
        ("{{style}}", include_str!("page.css")),
        ("{{trace}}", &raw(trace)),
        (
            "{{script}}",
            concat!(
                include_str!("parse.js"),
                include_str!("links.js"),
                include_str!("list.js"),
                include_str!("layout.js"),
                include_str!("graph.js"),
                include_str!("ranges.js"),
                include_str!("columns.js"),
                include_str!("input.js"),
                include_str!("page.js"),
            ),
        ),
    ];
    let mut page =
        String::with_capacity(PAGE.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = PAGE;
    // Each marker is searched for after the previous marker, so no text within a part is taken for one.
    for (place, part) in parts {
        let (before, after) =
            rest.split_once(place).expect("the page has a place for each part, in this order");
        page.push_str(before);
        page.push_str(part);
        rest = after;
    }
    page.push_str(rest);
    page
}

/// Escapes text for HTML.
fn text(plain: &str) -> String {
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Escapes text for a `script` element. HTML decodes nothing in it, but text that looks like the start or end of a `script`
/// element or of a comment must not occur. The page reads `\x3c` as `<` and `\x5c` as `\`; neither occurs for another reason.
fn raw(trace: &str) -> String {
    let mut out = String::with_capacity(trace.len());
    for (at, char) in trace.char_indices() {
        let rest = &trace.as_bytes()[at + char.len_utf8()..];
        let starts = |word: &str| {
            rest.get(..word.len()).is_some_and(|rest| rest.eq_ignore_ascii_case(word.as_bytes()))
        };
        match char {
            '<' if starts("/script") || starts("script") || starts("!--") => out.push_str("\\x3c"),
            '\\' if starts("x") => out.push_str("\\x5c"),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{page, raw, text};

    #[test]
    fn a_trace_stands_in_the_page_as_it_is() {
        let trace = "function f\n\n== build\nb1 <- b0:\n    v3 = add.i32 v1 v2 @7\n";
        assert_eq!(raw(trace), trace);
        assert!(page("f", trace).contains(trace));
    }

    #[test]
    fn nothing_in_a_trace_ends_it() {
        for hostile in ["</script><script>alert(1)</script>", "</SCRIPT >", "<!--<script>", "</scr</script"] {
            let page = page(hostile, hostile);
            let (_, from_trace) = page.split_once("id=\"trace\">").expect("the page has a trace");
            let (trace, _) = from_trace.split_once("</script>").expect("the trace ends");
            assert_eq!(trace.replace("\\x3c", "<").trim(), hostile);
            assert!(!trace.contains("<!--") && !trace.to_ascii_lowercase().contains("<script"), "{trace}");
            assert!(page.contains(&format!("<title>{}</title>", text(hostile))));
        }
    }

    #[test]
    fn what_looks_escaped_reads_back() {
        assert_eq!(raw(r"\x3c \\x \n </script"), r"\x5cx3c \\x5cx \n \x3c/script");
    }

    #[test]
    fn parts_are_not_taken_for_places() {
        let page = page("{{script}}", "{{trace}} {{style}}");
        assert!(page.contains("<title>{{script}}</title>") && page.contains("{{trace}} {{style}}"));
    }
}
