//! The parser beside C's Lua: the same chunks are refused, with the same words at the same line.
//!
//! In: programs, whole and changed at random. Where `lua5.1` is not installed, only the list of known messages is tried.

use azulejo_lua::syntax::{Arena, parse};
use std::fmt::Write;
use std::process::Command;

/// Chunks, and what is wrong with them.
const WRONG: [(&str, &str); 42] = [
    ("x =", "1: unexpected symbol near '<eof>'"),
    ("x=\"abc", "1: unfinished string near '<eof>'"),
    ("x=\"abc\n\"", "1: unfinished string near '\"abc'"),
    ("x=5x", "1: malformed number near '5x'"),
    ("x=\"\\300\"", "1: escape sequence too large near '\"'"),
    ("x=[==", "1: invalid long string delimiter near '[=='"),
    ("x=[[abc", "1: unfinished long string near '<eof>'"),
    ("x=\u{1}", "1: unexpected symbol near 'char(1)'"),
    ("for", "1: '<name>' expected near '<eof>'"),
    ("if x then\n\nelse", "3: 'end' expected (to close 'if' at line 1) near '<eof>'"),
    ("f\n(x)", "2: ambiguous syntax (function call x new statement) near '('"),
    ("break", "1: no loop to break near '<eof>'"),
    ("function f() return ... end", "1: cannot use '...' outside a vararg function near '...'"),
    ("x.y", "1: '=' expected near '<eof>'"),
    ("local function x.y", "1: '(' expected near '.'"),
    ("a=\"x\\n\" \"y\" z", "1: unexpected symbol near '\"y\"'"),
    ("local t = {\n1,2 3}", "2: '}' expected (to close '{' at line 1) near '3'"),
    ("f(1\n2)", "2: ')' expected (to close '(' at line 1) near '2'"),
    ("for i=1 do end", "1: ',' expected near 'do'"),
    ("for a.b do end", "1: '=' or 'in' expected near '.'"),
    ("a,f() = 1", "1: syntax error near '='"),
    ("f() = 1", "1: unexpected symbol near '='"),
    ("function t:x.y() end", "1: '(' expected near '.'"),
    ("x = function(a,..., b) end", "1: ')' expected near ','"),
    ("x = function(a,) end", "1: <name> or '...' expected near ')'"),
    ("end", "1: '<eof>' expected near 'end'"),
    ("do return 1 x=2 end", "1: 'end' expected near 'x'"),
    ("local 1", "1: '<name>' expected near '1'"),
    ("a.1=2", "1: '=' expected near '.1'"),
    ("a.b:c = 1", "1: function arguments expected near '='"),
    ("(a) = 1", "1: syntax error near '='"),
    ("(a)", "1: syntax error near '<eof>'"),
    ("a = \n(1 \n 2", "3: ')' expected (to close '(' at line 2) near '2'"),
    ("t={[1=2}", "1: ']' expected near '='"),
    ("t={[1] 2}", "1: '=' expected near '2'"),
    ("x = \"s\".b", "1: unexpected symbol near '.'"),
    ("while x", "1: 'do' expected near '<eof>'"),
    ("if x", "1: 'then' expected near '<eof>'"),
    ("x = 3e+", "1: malformed number near '3e+'"),
    ("x = 3..2", "1: malformed number near '3..2'"),
    ("--[==x\nx=", "2: unexpected symbol near '<eof>'"),
    ("a=a\n(b)(c)", "2: ambiguous syntax (function call x new statement) near '('"),
];

/// What is wrong with a chunk; empty if nothing is.
fn message(source: &[u8]) -> Vec<u8> {
    parse(&Arena::default(), source).err().map(|wrong| wrong.text(b"=c")).unwrap_or_default()
}

#[test]
fn messages_are_those_of_lua() {
    for (source, expected) in WRONG {
        let message = message(source.as_bytes());
        assert_eq!(String::from_utf8_lossy(&message), format!("c:{expected}"), "{source:?}");
    }
}

#[test]
fn a_string_with_a_words_letters_is_no_word() {
    let program = "local a = not nil or false and true repeat while a do break end until a
        for b in a do if b then a() elseif a then b() else do end end end return function() end";
    let is_letter = |letter: char| letter.is_ascii_alphabetic();
    let strings: String =
        program.split(|letter| !is_letter(letter)).map(|word| format!("a '{word}' ")).collect();
    for source in [format!("{strings} {program}"), format!("do {program} end {strings} {program}")] {
        assert_eq!(String::from_utf8_lossy(&message(source.as_bytes())), "", "{source}");
    }
}

#[test]
fn what_nests_too_deep_or_is_too_many_is_refused() {
    let levels = "c:1: chunk has too many syntax levels";
    let locals: String = (0..201).map(|at| format!("local a{at};")).collect();
    let names: String = (0..70).map(|at| format!("local x{at}=1 ")).collect();
    let uses: Vec<String> = (0..70).map(|at| format!("x{at}")).collect();
    let cases = [
        ("(".repeat(300), levels),
        (format!("return {}a", "a..".repeat(300)), levels),
        (format!("return {}a", "not ".repeat(210)), levels),
        (format!("{}{}", "do ".repeat(250), "end ".repeat(250)), levels),
        (locals.clone(), "c:1: main function has more than 200 local variables"),
        (format!("\n\nfunction f() {locals}"), "c:3: function at line 3 has more than 200 local variables"),
        (
            format!("{names} function f() return {} end", uses.join("+")),
            "c:1: function at line 1 has more than 60 upvalues",
        ),
        (format!("{}b=1", "a,".repeat(250)), "c:1: main function has more than 197 variables in assignment"),
        (format!("{}b=1", "a,".repeat(198)), "c:1: main function has more than 197 variables in assignment"),
        (format!("{}b=1", "a,".repeat(197)), ""),
        (format!("return {}a", "a+".repeat(100_000)), ""),
        (format!("return a{}", ".a".repeat(100_000)), ""),
        (format!("{}{}", "while 1 do ".repeat(190), "end ".repeat(190)), ""),
    ];
    for (source, expected) in cases {
        let start: String = source.chars().take(40).collect();
        assert_eq!(String::from_utf8_lossy(&message(source.as_bytes())), expected, "{start}");
    }
}

/// A program with every form of the language.
const WHOLE: &str = r#"
local a, b = 1, 2.5e3 --[[ a comment ]] local c
function t.x.y:z(p, ...) local q = { ... ; n = select('#', ...), [p] = 0xff, } return q, #q, -p, not p end
local function f(x, y) if x == y then return f(y) elseif x ~= y then x = x .. "s" .. 'a\n\065\
b' else y = [==[
long ]] ]==] end return (f(x)) end
for i = 1, 10, 2 do while i < 3 do i = i + 1 if i >= 2 then break end end end
for k, v in pairs(t) do repeat local z = k ^ -v until z or k and v end
do local u = function(...) return arg end u{1, 2; 3}; u"s":m(1)[2].x = nil, true end
t.a, t[1], c = f(1, 2), (a + b) * c % 2 / 3 - 1, a <= b
return t.x:y(1), {f()}, ...
"#;

/// Pieces to put somewhere.
const PIECES: [&str; 40] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil",
    "not", "or", "repeat", "return", "then", "true", "until", "while", "+", "-", "..", "...", "=", "==", "(",
    ")", "{", "}", "[", "]", ";", ":", ",", ".", "x", "1", "'s'",
];

/// Programs that were changed in a few places.
fn changed(count: usize) -> Vec<Vec<u8>> {
    let mut seed = 7u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let words: Vec<&str> = WHOLE.split_inclusive(' ').collect();
    let lines: Vec<&str> = WHOLE.split_inclusive('\n').collect();
    (0..count)
        .map(|_| {
            let parts = if random(2) == 0 { &words } else { &lines };
            let mut parts: Vec<Vec<u8>> = parts.iter().map(|part| part.as_bytes().to_vec()).collect();
            for _ in 0..1 + random(3) {
                let at = random(parts.len());
                match random(5) {
                    0 if parts.len() > 1 => drop(parts.remove(at)),
                    0 => {}
                    1 => parts.insert(at, format!(" {} ", PIECES[random(PIECES.len())]).into_bytes()),
                    2 => parts[at] = format!(" {} ", PIECES[random(PIECES.len())]).into_bytes(),
                    3 => parts.truncate(at + 1),
                    _ => {
                        let part = &mut parts[at];
                        let byte = random(part.len().max(1));
                        match random(3) {
                            0 => part.truncate(byte),
                            1 => part.insert(byte.min(part.len()), b"\"'[]=-.0x\\\n$\x01~"[random(14)]),
                            _ => drop(part.drain(..byte)),
                        }
                        if part.is_empty() {
                            part.push(b' ');
                        }
                    }
                }
            }
            parts.concat()
        })
        .collect()
}

#[test]
fn changed_programs_are_refused_as_lua_does() {
    if Command::new("lua5.1").arg("-v").output().is_err() {
        println!("lua5.1 is not installed: nothing is compared");
        return;
    }
    let programs = changed(4000);
    let mut script =
        String::from("local function try(s) io.write((select(2, loadstring(s, '=c')) or ''), '\\0') end\n");
    for program in &programs {
        script.push_str("try '");
        program.iter().for_each(|byte| write!(script, "\\{byte:03}").expect("text has room"));
        script.push_str("'\n");
    }
    let file = std::env::temp_dir().join(format!("azulejo-lua-syntax-{}.lua", std::process::id()));
    std::fs::write(&file, script).expect("the folder for temporary files can be written");
    let output = Command::new("lua5.1").arg(&file).output().expect("it runs");
    std::fs::remove_file(&file).expect("it is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
    assert_eq!(expected.len(), programs.len() + 1);
    let refused = expected.iter().filter(|message| !message.is_empty()).count();
    assert!(refused > 2000, "{refused}");
    for (program, expected) in programs.iter().zip(expected) {
        let found = message(program);
        let [found, expected] = [&found, expected].map(String::from_utf8_lossy);
        assert_eq!(found, expected, "{}", String::from_utf8_lossy(program));
    }
}
