//! The explorer's pages in a browser: their contents, the highlighting (compared with the trace), the effects of keys and
//! pointer.

use azulejo_explorer_test::browser::Browser;
use azulejo_explorer_test::pages;
use azulejo_explorer_test::trace::{Trace, marked};
use std::collections::{BTreeMap, BTreeSet};

const ENTER: &str = "\u{E007}";
const ESCAPE: &str = "\u{E00C}";
const LEFT: &str = "\u{E012}";
const RIGHT: &str = "\u{E014}";
const DOWN: &str = "\u{E015}";

/// A browser with a page; `None` if no browser is installed.
fn open(name: &str, trace: &str) -> Option<Browser> {
    match Browser::start(1280, 800) {
        Ok(browser) => {
            browser.prefer("light");
            browser.open_text(name, &azulejo::explore::page(name, trace));
            Some(browser)
        }
        Err(reason) => {
            println!("not looked at: {reason}");
            None
        }
    }
}

#[test]
fn nodes_show_the_kinds_of_their_values() {
    let trace = "function f\n\n== bytecode\n    0: Get\n\n== kinds\nb0:\n    v0 = tc\n    v1 = load.i64 v0  # number|nil\n    return.i64 v1  # v2\n";
    let Some(browser) = open("kinds", trace) else { return };
    let lines =
        browser.texts("return [...document.querySelectorAll('#node .node')].map((node) => node.textContent)");
    let with_kinds: Vec<&String> = lines.iter().filter(|line| line.contains("# number|nil")).collect();
    assert!(matches!(with_kinds[..], [line] if line.contains("load")), "{lines:?}");
}

#[test]
fn bytecodes_show_what_they_have_learned() {
    let trace = "function f\n\n== bytecode\n    0: Get { cache: site of 4 } # 1 of 4 cases: Field { shape: 1 }\n    1: End\n\n== build\nb0:\n    return.i64 v1  # v2\n";
    let Some(browser) = open("learned", trace) else { return };
    let lines =
        browser.texts("return [...document.querySelectorAll('#byte .row')].map((row) => row.textContent)");
    let [get, end] = &lines[..] else { panic!("{lines:?}") };
    assert!(get.ends_with("cache site of 4  1 of 4 cases: Field { shape: 1 }"), "{get}");
    assert!(end.ends_with("End"), "{end}");
}

fn set<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    items.into_iter().collect()
}

/// The numbers at the start of those rows of a column that have a class.
fn numbers(browser: &Browser, column: &str, class: &str) -> BTreeSet<u32> {
    let script = format!(
        "return [...document.querySelectorAll('#{column} .row{class} > .n')].map((n) => parseInt(n.textContent))"
    );
    set(browser.numbers(&script))
}

/// The rows of the code that have a class.
fn code_rows(browser: &Browser, class: &str) -> BTreeSet<u32> {
    let script =
        format!("return [...document.querySelectorAll('#code .row{class}')].map((row) => row.dataset.row)");
    set(browser.numbers(&script))
}

/// The names of the graph's nodes that have a class; an unnamed node yields an empty string.
fn nodes(browser: &Browser, class: &str) -> BTreeSet<String> {
    let script = format!(
        "return [...document.querySelectorAll('#node .node{class} .id')].map((id) => id.textContent.trim())"
    );
    set(browser.texts(&script))
}

/// The live ranges that are shown as linked, or as the selected one.
fn ranges(browser: &Browser, which: &str) -> BTreeSet<String> {
    let text = browser.texts(&format!("return [document.getElementById('range').dataset.{which} || '']"));
    text[0].split_whitespace().map(str::to_string).collect()
}

/// Shows all of a graph on the screen, so that each highlighted node is an element.
fn show_all(browser: &Browser) {
    browser.resize(3600, 3400);
    browser.run("document.querySelector('[data-tool=fit]').click()");
    let is_readable = "const { width } = document.querySelector('#node .node text').getBoundingClientRect(); return [String(width > 0)]";
    assert_eq!(browser.texts(is_readable), ["true"]);
}

fn end(browser: &Browser) {
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn every_stage_is_there() {
    let text = pages::trace("sieve");
    let Some(browser) = open("sieve", &text) else { return };
    let trace = Trace::of(&text);
    let steps = browser
        .texts("return [...document.querySelectorAll('#time button')].map((step) => step.textContent)");
    assert_eq!(steps, trace.names()[1..]);
    for stage in
        ["bytecode", "build", "represent", "rewrite", "dead", "place", "tile", "live", "allocate", "emit"]
    {
        assert!(trace.names().contains(&stage), "{stage}");
    }
    show_all(&browser);
    let columns = browser
        .texts("return [...document.querySelectorAll('.column:not([hidden]) h2')].map((h) => h.textContent)");
    assert_eq!(columns, ["Bytecode", "Graph", "Tiles", "Ranges", "Code"]);
    let bytecodes = trace.last("bytecode").len();
    assert_eq!(numbers(&browser, "byte", "").len(), bytecodes);
    assert_eq!(numbers(&browser, "tile", ""), set(trace.insts().into_keys()));
    assert_eq!(code_rows(&browser, "").len(), trace.code().len());
    let place = trace.names().iter().position(|name| *name == "place").expect("a stage");
    let named = trace.nodes(place).into_keys().map(|id| format!("v{id}"));
    assert_eq!(named_nodes(&browser, ""), set(named));
    // The chart is drawn on a canvas: it is not empty if it has more than one colour.
    let colors = browser.run(
        "const canvas = document.querySelector('#range canvas');
         const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
         return new Set(new Uint32Array(data.buffer)).size",
    );
    assert!(colors.as_u64() > Some(10), "{colors} colors");
    end(&browser);
}

#[test]
fn a_machine_instruction_lights_up_what_it_came_from() {
    for program in ["sieve", "mandelbrot"] {
        let text = pages::trace(program);
        let Some(browser) = open(program, &text) else { return };
        let trace = Trace::of(&text);
        let insts = trace.insts();
        let owned = set(insts.values().filter_map(|inst| inst.node).map(|node| format!("v{node}")));
        show_all(&browser);
        let code = trace.code();
        let mut seen = 0;
        for (row, item) in code.iter().enumerate().step_by(5) {
            let Some(number) = item.inst.filter(|_| !item.is_move) else { continue };
            browser.point_at(&format!("#code-{row}"));
            let inst = &insts[&number];
            assert_eq!(code_rows(&browser, ".self"), set([row as u32]));
            let others =
                code.iter().enumerate().filter(|(at, other)| *at != row && other.inst == Some(number));
            let others = others.filter(|(_, other)| !other.is_move).map(|(at, _)| at as u32);
            assert_eq!(code_rows(&browser, ".linked"), set(others), "{program} {row}: {item:?}");
            assert_eq!(numbers(&browser, "byte", ".linked"), set(item.origin), "{program} {row}: {item:?}");
            assert_eq!(numbers(&browser, "tile", ".linked"), set([number]), "{program} {row}: {item:?}");
            assert_eq!(
                ranges(&browser, "linked"),
                trace.ranges_of(&inst.writes),
                "{program} {row}: {item:?}"
            );
            let soft = trace.ranges_of(&inst.reads);
            assert_eq!(
                ranges(&browser, "soft"),
                &soft - &trace.ranges_of(&inst.writes),
                "{program} {row}: {item:?}"
            );
            let linked = nodes(&browser, ".linked");
            let name = format!("v{}", item.node.expect("tiles have nodes"));
            // The tile's node is linked, or is the unnamed one. All other linked nodes are inner nodes of this tile, not of
            // another.
            assert!(linked.contains(&name) || linked.contains(""), "{program} {row}: {linked:?}");
            for other in linked.iter().filter(|other| **other != name && !other.is_empty()) {
                assert!(!owned.contains(other), "{program} {row}: {other} is another tile's");
            }
            seen += 1;
        }
        assert!(seen >= 6, "{program}: {seen}");
        end(&browser);
    }
}

#[test]
fn a_move_lights_up_the_allocators_move() {
    let text = pages::trace("sieve");
    let Some(browser) = open("sieve", &text) else { return };
    let trace = Trace::of(&text);
    show_all(&browser);
    let code = trace.code();
    let (row, item) = code.iter().enumerate().find(|(_, item)| item.is_move).expect("there is a move");
    browser.point_at(&format!("#code-{row}"));
    assert_eq!(numbers(&browser, "byte", ".linked"), set(item.origin));
    let moves = browser.texts(
        "return [...document.querySelectorAll('#tile .row.linked')].map((row) => row.textContent.trim())",
    );
    assert_eq!(moves.len(), 1, "{moves:?}");
    let in_trace = moves[0].replace('←', "<-");
    assert!(trace.last("allocate").iter().any(|line| line.contains(&in_trace)), "{moves:?}");
    assert_eq!(numbers(&browser, "tile", ".soft"), set(item.inst));
    end(&browser);
}

#[test]
fn a_bytecode_lights_up_what_it_became() {
    let text = pages::trace("mandelbrot");
    let Some(browser) = open("mandelbrot", &text) else { return };
    let trace = Trace::of(&text);
    let (insts, code) = (trace.insts(), trace.code());
    show_all(&browser);
    for at in (0..trace.last("bytecode").len() as u32).step_by(4) {
        browser.point_at(&format!("#byte-{at}"));
        assert_eq!(numbers(&browser, "byte", ".self"), set([at]));
        let of_this = || insts.iter().filter(|(_, inst)| inst.origin == at);
        assert_eq!(numbers(&browser, "tile", ".linked"), set(of_this().map(|(number, _)| *number)), "@{at}");
        let rows =
            code.iter().enumerate().filter(|(_, item)| item.origin == Some(at)).map(|(row, _)| row as u32);
        assert_eq!(code_rows(&browser, ".linked"), set(rows), "@{at}");
        let vregs: Vec<u32> = of_this().flat_map(|(_, inst)| inst.writes.clone()).collect();
        assert_eq!(ranges(&browser, "linked"), trace.ranges_of(&vregs), "@{at}");
        let place = trace.names().iter().position(|name| *name == "place").expect("a stage");
        let is_this = |text: &String| text.ends_with(&format!(" @{at}"));
        let named =
            trace.nodes(place).into_iter().filter(|(_, text)| is_this(text)).map(|(id, _)| format!("v{id}"));
        let shown: BTreeSet<String> =
            nodes(&browser, ".linked").into_iter().filter(|name| !name.is_empty()).collect();
        let expected: BTreeSet<String> = named.collect();
        // The page assigns nodes without a bytecode to the first one.
        assert!(
            if at == 0 { shown.is_superset(&expected) } else { shown == expected },
            "@{at}: {shown:?} {expected:?}"
        );
    }
    end(&browser);
}

#[test]
fn a_node_and_a_tile_light_up_both_ways() {
    let text = pages::trace("sieve");
    let Some(browser) = open("sieve", &text) else { return };
    let trace = Trace::of(&text);
    let (insts, code) = (trace.insts(), trace.code());
    show_all(&browser);
    for (number, inst) in insts.iter().step_by(6) {
        browser.run(&format!(
            "const row = [...document.querySelectorAll('#tile .row')].find((row) => row.firstChild.textContent.trim() === '{number}');
             row.dispatchEvent(new PointerEvent('pointermove', {{ bubbles: true }}))"
        ));
        assert_eq!(numbers(&browser, "tile", ".self"), set([*number]));
        assert!(numbers(&browser, "byte", ".linked").contains(&inst.origin), "{number}");
        let rows = code.iter().enumerate().filter(|(_, item)| item.inst == Some(*number) && !item.is_move);
        assert_eq!(code_rows(&browser, ".linked"), set(rows.map(|(row, _)| row as u32)), "{number}");
        assert_eq!(ranges(&browser, "linked"), trace.ranges_of(&inst.writes), "{number}");
        // The way back, from its node.
        let Some(node) = inst.node.filter(|_| !inst.writes.is_empty()) else { continue };
        browser.run(&format!(
            "const id = [...document.querySelectorAll('#node .node .id')].find((id) => id.textContent.trim() === 'v{node}');
             id.closest('.node').querySelector('.back').dispatchEvent(new PointerEvent('pointermove', {{ bubbles: true }}))"
        ));
        assert_eq!(nodes(&browser, ".self"), set([format!("v{node}")]));
        assert_eq!(numbers(&browser, "tile", ".linked"), set([*number]), "v{node}");
        assert_eq!(ranges(&browser, "linked"), trace.ranges_of(&inst.writes), "v{node}");
    }
    end(&browser);
}

#[test]
fn a_block_lights_up_as_a_whole() {
    let text = pages::trace("sieve");
    let Some(browser) = open("sieve", &text) else { return };
    let trace = Trace::of(&text);
    show_all(&browser);
    // The block of the most instructions among those that nodes are in.
    let mut blocks: Vec<(&str, BTreeSet<u32>)> = Vec::new();
    for line in trace.last("tile") {
        if line.starts_with('b') {
            blocks.push((line.split(' ').next().expect("it has a name"), BTreeSet::new()));
        } else if let (Some((_, insts)), true) = (blocks.last_mut(), line.starts_with("    ")) {
            insts.extend(line.trim().split_once(": ").and_then(|(number, _)| number.parse::<u32>().ok()));
        }
    }
    let shown = "return [...document.querySelectorAll('#node [data-block] .head')].map((head) => 'b' + head.closest('[data-block]').dataset.block)";
    let shown = browser.texts(shown);
    let shown = blocks.into_iter().filter(|(block, _)| shown.iter().any(|name| name == block));
    let (block, insts) = shown.max_by_key(|(_, insts)| insts.len()).expect("there is one");
    assert!(insts.len() > 1);
    browser.point_at(&format!("#node [data-block='{}'] .head", &block[1..]));
    assert_eq!(numbers(&browser, "tile", ".linked"), insts);
    let code = trace.code();
    let rows =
        code.iter().enumerate().filter(|(_, item)| item.inst.is_some_and(|number| insts.contains(&number)));
    assert_eq!(code_rows(&browser, ".linked"), set(rows.map(|(row, _)| row as u32)));
    let heads = "return [...document.querySelectorAll('#tile .row.head.self')].map((row) => row.textContent.split(' ')[0])";
    assert_eq!(browser.texts(heads), [block]);
    end(&browser);
}

#[test]
fn a_range_lights_up_who_writes_and_reads_it() {
    let text = pages::trace("calls")
        .split("\nfunction ")
        .nth(1)
        .map(|rest| format!("function {rest}"))
        .expect("two functions");
    let Some(browser) = open("crowd", &text) else { return };
    let trace = Trace::of(&text);
    let insts = trace.insts();
    show_all(&browser);
    let mut seen = BTreeSet::new();
    let chart = browser.run("const box = document.getElementById('range').getBoundingClientRect(); return [box.x, box.y].map(Math.round)");
    let (left, top) = (chart[0].as_i64().expect("a place"), chart[1].as_i64().expect("a place"));
    for (lane, y) in [(0, 40), (1, 40), (0, 300), (1, 300), (2, 300), (3, 400), (1, 600)] {
        browser.point(left + 10 + lane * 32 + 16, top + y, false);
        let Some(name) = ranges(&browser, "self").pop_first() else { continue };
        let range = trace
            .ranges()
            .into_iter()
            .find(|range| format!("r{}", range[0]) == name)
            .expect("the trace's range");
        let has = |vregs: &[u32]| vregs.iter().any(|vreg| range.contains(vreg));
        let writers = set(insts.iter().filter(|(_, inst)| has(&inst.writes)).map(|(number, _)| *number));
        let readers = set(insts.iter().filter(|(_, inst)| has(&inst.reads)).map(|(number, _)| *number));
        assert_eq!(numbers(&browser, "tile", ".linked"), writers, "{name}");
        assert_eq!(numbers(&browser, "tile", ".soft"), &readers - &writers, "{name}");
        let origins = set(writers.iter().map(|number| insts[number].origin));
        let origins = &origins | &trace.param_origins(&range);
        assert_eq!(numbers(&browser, "byte", ".linked"), origins, "{name}");
        seen.insert(name);
    }
    assert!(seen.len() >= 4, "{seen:?}");
    end(&browser);
}

/// The names of those named nodes that have a class.
fn named_nodes(browser: &Browser, class: &str) -> BTreeSet<String> {
    nodes(browser, class).into_iter().filter(|name| !name.is_empty()).collect()
}

/// Checks that the nodes that a pass added, changed and removed are marked.
fn changes_are_marked(browser: &Browser, trace: &Trace, at: usize) {
    let name = trace.names()[at];
    let (before, after) = (trace.nodes(at - 1), trace.nodes(at));
    let old = |line: &String| Some((marked(line, 'v')?, marked(line.split_once("# was ")?.1, 'v')?));
    let new_numbers: BTreeMap<u32, u32> =
        trace.stage(at).iter().filter(|line| line.contains(" = ")).filter_map(old).collect();
    let old_of = |id: u32| if new_numbers.is_empty() { Some(id) } else { new_numbers.get(&id).copied() };
    let name_of = |id: &u32| format!("v{id}");
    let is_new = |id: &&u32| !old_of(**id).is_some_and(|old| before.contains_key(&old));
    assert_eq!(named_nodes(browser, ".added"), set(after.keys().filter(is_new).map(name_of)), "{name}");
    if new_numbers.is_empty() {
        let body = |text: &str| text.split(" @").next().unwrap_or("").to_string();
        let is_other =
            |(id, text): &(&u32, &String)| before.get(id).is_some_and(|old| body(old) != body(text));
        let changed = set(after.iter().filter(is_other).map(|(id, _)| name_of(id)));
        assert_eq!(named_nodes(browser, ".changed"), changed, "{name}");
    }
    let kept = set(after.keys().filter_map(|id| old_of(*id)));
    let gone = set(before.keys().filter(|id| !kept.contains(id)).map(name_of));
    let shown = browser.texts(
        "return [...document.querySelectorAll('#node .gone .id')].map((id) => id.textContent.trim()).filter((name) => name)",
    );
    // Nodes of removed blocks are counted, but not shown in the picture.
    assert!(set(shown.iter().cloned()).is_subset(&gone), "{name}: {shown:?}");
    let count =
        browser.texts("return [document.querySelector('.chip.gone')?.textContent.slice(1) || '0']").remove(0);
    assert!(count.parse::<usize>().is_ok_and(|count| count >= gone.len()), "{name}: {count}");
}

#[test]
fn time_steps_through_the_passes() {
    let text = pages::trace("sieve");
    let Some(browser) = open("sieve", &text) else { return };
    let trace = Trace::of(&text);
    show_all(&browser);
    let now = |browser: &Browser| {
        browser.texts("return [document.querySelector('#time [aria-current=step]').textContent]").remove(0)
    };
    assert_eq!(now(&browser), "emit");
    let names = trace.names();
    let graphs = names.iter().position(|name| *name == "place").expect("a stage");
    for (at, name) in names.iter().enumerate().take(graphs + 1).skip(1) {
        browser.click(&format!("#time li:nth-child({at}) button"));
        assert_eq!(now(&browser), *name);
        browser.run("document.querySelector('[data-tool=fit]').click()");
        let expected = set(trace.nodes(at).into_keys().map(|id| format!("v{id}")));
        assert_eq!(named_nodes(&browser, ""), expected, "{name}");
        if at > 1 {
            changes_are_marked(&browser, &trace, at);
        }
    }
    // Places of operands are shown from `allocate` on.
    let has_places = |browser: &Browser| {
        !browser
            .texts("return [...document.querySelectorAll('#tile .reg')].map((reg) => reg.textContent)")
            .is_empty()
    };
    for (step, expected) in [("tile", false), ("live", false), ("allocate", true), ("emit", true)] {
        let at = names.iter().position(|name| *name == step).expect("a stage");
        browser.click(&format!("#time li:nth-child({at}) button"));
        assert_eq!(has_places(&browser), expected, "{step}");
    }
    browser.click("[data-tool=places]");
    assert!(!has_places(&browser));
    browser.press(LEFT);
    assert_eq!(now(&browser), "allocate");
    browser.press("[[");
    assert_eq!(now(&browser), "tile");
    browser.press(RIGHT);
    browser.press("]]");
    assert_eq!(now(&browser), "emit");
    browser.press("]");
    assert_eq!(now(&browser), "emit");
    end(&browser);
}

#[test]
fn blocks_fold() {
    let text = pages::trace("sieve");
    let Some(browser) = open("sieve", &text) else { return };
    let height = |browser: &Browser| {
        browser.run("return +document.querySelector('#node svg').getAttribute('height')").as_f64()
    };
    let lines = |browser: &Browser| {
        browser.run("return document.querySelectorAll('#node [data-block=\"0\"] .node').length").as_u64()
    };
    let (tall, n_lines) = (height(&browser), lines(&browser));
    assert!(n_lines > Some(2));
    browser.click("#node [data-block=\"0\"] .head");
    assert_eq!(lines(&browser), Some(0));
    assert!(height(&browser) < tall);
    // Nodes in a folded block light up its head.
    browser.point_at("#byte-0");
    let within = "return [...document.querySelectorAll('#node .within')].map((block) => block.dataset.block)";
    assert_eq!(browser.texts(within), ["0"]);
    browser.click("#node [data-block=\"0\"] .head");
    assert_eq!((height(&browser), lines(&browser)), (tall, n_lines));
    browser.press("f");
    let nodes = "return document.querySelectorAll('#node .node').length";
    assert_eq!(browser.run(nodes).as_u64(), Some(0));
    assert!(browser.run("return document.querySelectorAll('#node .folded').length").as_u64() > Some(4));
    browser.press("f");
    assert!(browser.run(nodes).as_u64() > Some(10));
    end(&browser);
}

#[test]
fn keys_move_keep_and_search() {
    let text = pages::trace("sieve");
    let Some(browser) = open("sieve", &text) else { return };
    let is_pinned =
        |browser: &Browser| browser.run("return document.body.classList.contains('pinned')").as_bool();
    browser.press("1");
    browser.press(&format!("{DOWN}{DOWN}{DOWN}"));
    assert_eq!(numbers(&browser, "byte", ".self.cursor"), set([3]));
    assert!(!numbers(&browser, "tile", ".linked").is_empty());
    browser.press(ENTER);
    assert_eq!(is_pinned(&browser), Some(true));
    // A pinned row stays selected when the pointer moves.
    browser.point_at("#byte-9");
    assert_eq!(numbers(&browser, "byte", ".self"), set([3]));
    browser.press(ESCAPE);
    assert_eq!(is_pinned(&browser), Some(false));
    browser.click("#byte-5");
    assert_eq!((is_pinned(&browser), numbers(&browser, "byte", ".self")), (Some(true), set([5])));
    browser.press(ESCAPE);

    browser.press("/");
    assert_eq!(browser.texts("return [document.activeElement.id]"), ["search"]);
    browser.press("imul");
    let found =
        |browser: &Browser| browser.texts("return [document.getElementById('found').textContent]").remove(0);
    assert_eq!(found(&browser), "1");
    browser.press(ENTER);
    assert_eq!(found(&browser), "1/1");
    let row = browser.texts("return [document.querySelector('#code .row.self').textContent]").remove(0);
    assert!(row.contains("imul"), "{row}");
    browser.press(ESCAPE);
    assert_eq!(found(&browser), "");

    for (key, column) in ['1', '2', '3', '4', '5'].into_iter().zip(["byte", "node", "tile", "range", "code"])
    {
        browser.press(&format!("{key}{DOWN}"));
        assert_eq!(browser.texts("return [document.activeElement.id]"), [column]);
        let status = browser.texts("return [document.querySelector('#status .from b').textContent]");
        assert_eq!(status, [["Bytecode", "Graph", "Tiles", "Ranges", "Code"][key as usize - '1' as usize]]);
    }
    browser.press("?");
    assert_eq!(browser.run("return document.getElementById('panel').open").as_bool(), Some(true));
    browser.press(ESCAPE);
    assert_eq!(browser.run("return document.getElementById('panel').open").as_bool(), Some(false));
    browser.click("#shown [data-kind=node]");
    let hidden =
        "return [...document.querySelectorAll('.column[hidden]')].map((column) => column.dataset.kind)";
    assert_eq!(browser.texts(hidden), ["node"]);
    let width = "return document.querySelector('.column[data-kind=tile]').clientWidth";
    let before = browser.run(width).as_i64();
    browser.run(
        "const divider = [...document.querySelectorAll('.divider:not([hidden])')][0], { x } = divider.getBoundingClientRect();
         divider.setPointerCapture = () => {};
         divider.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, clientX: x, pointerId: 1 }));
         divider.dispatchEvent(new PointerEvent('pointermove', { clientX: x + 60 }));
         divider.dispatchEvent(new PointerEvent('pointerup'))",
    );
    assert_eq!(browser.run(width).as_i64().zip(before).map(|(after, before)| before - after), Some(60));
    end(&browser);
}
