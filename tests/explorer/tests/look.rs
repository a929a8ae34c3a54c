//! The appearance of the explorer's pages: contrast in both themes, and no overlaps at several sizes. Also pages of long,
//! incomplete or malicious traces.

use azulejo_explorer_test::browser::Browser;
use azulejo_explorer_test::pages;

/// A browser with a page; `None` if no browser is installed.
fn open(name: &str, trace: &str) -> Option<Browser> {
    match Browser::start(1280, 800) {
        Ok(browser) => {
            browser.prefer("light");
            browser.open_text("page", &azulejo::explore::page(name, trace));
            Some(browser)
        }
        Err(reason) => {
            println!("not looked at: {reason}");
            None
        }
    }
}

/// Computes the contrast of texts with their background, as WCAG defines it, and returns those that are too low.
const CONTRAST: &str = "
    const rgb = (text) => {
        const canvas = new OffscreenCanvas(1, 1).getContext('2d');
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = (element) => {
        for (let each = element; each; each = each.parentElement) {
            if (each.classList?.contains('node')) return rgb(getComputedStyle(each.querySelector('.back')).fill)[3]
                ? rgb(getComputedStyle(each.querySelector('.back')).fill) : rgb(getComputedStyle(document.body).backgroundColor);
            if (each instanceof SVGElement) continue;
            const color = rgb(getComputedStyle(each).backgroundColor);
            if (color[3] === 255) return color;
        }
        return [255, 255, 255, 255];
    };
    const low = [];
    for (const element of document.querySelectorAll('h1, h2, p, button, .row *, .row, #node text, #node tspan, #status *, .count')) {
        if (!element.textContent.trim() || !element.getClientRects().length || element.disabled) continue;
        const style = getComputedStyle(element);
        const front = rgb(element instanceof SVGElement ? style.fill : style.color);
        const [one, other] = [light(front), light(behind(element))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (other + 0.05);
        if (ratio < 4.5) low.push(`${element.tagName}.${element.getAttribute('class')} ${ratio.toFixed(2)} ${element.textContent.slice(0, 20)}`);
    }
    return [...new Set(low)]";

#[test]
fn light_and_dark_have_contrast() {
    let Some(browser) = open("sieve", &pages::trace("sieve")) else { return };
    let back = |browser: &Browser| {
        browser.texts("return [getComputedStyle(document.body).backgroundColor]").remove(0)
    };
    let light = back(&browser);
    browser.prefer("dark");
    let dark = back(&browser);
    assert_ne!(light, dark);
    browser.press("t");
    assert_eq!(back(&browser), light);
    browser.click("#theme");
    assert_eq!(back(&browser), dark);
    // Highlighted and linked rows, and a graph with changes.
    for theme in [&dark, &light] {
        assert_eq!(&back(&browser), theme);
        for step in [2, 10] {
            browser.run(&format!("document.querySelector('#time li:nth-child({step}) button').click()"));
            browser.point_at("#byte-3");
            assert_eq!(browser.texts(CONTRAST), Vec::<String>::new(), "{theme} {step}");
        }
        browser.press("t");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Returns the elements that overlap others or leave the window.
const OVERLAPS: &str = "
    const bad = [];
    const boxes = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.getClientRects().length)
        .map((each) => ({ name: each.id || each.className || each.textContent, box: each.getBoundingClientRect() }));
    const groups = ['#top > *', '#bar > *', '#time li', '#shown button', '.column', 'body > header, body > nav, body > main, body > footer'];
    for (const group of groups.concat([...document.querySelectorAll('.column')].map((column) => `[data-kind=${column.dataset.kind}] > header > *`))) {
        const all = boxes(group);
        all.forEach((one, at) => all.slice(at + 1).forEach((other) => {
            const [a, b] = [one.box, other.box];
            const [x, y] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
            if (x > 1 && y > 1) bad.push(`${group}: ${one.name} over ${other.name} by ${x}x${y}`);
        }));
    }
    for (const { name, box } of boxes('#top > *, #shown, body > *')) {
        if (box.right > innerWidth + 1 || box.bottom > innerHeight + 1) bad.push(`${name} sticks out`);
    }
    if (document.documentElement.scrollWidth > innerWidth) bad.push('the page scrolls sideways');
    return bad";

#[test]
fn nothing_overlaps() {
    let Some(browser) = open("mandelbrot.txt", &pages::trace("mandelbrot")) else { return };
    for (width, height) in [(1280, 800), (1920, 1080), (1024, 700), (768, 900), (390, 844)] {
        browser.resize(width, height);
        for step in [2, 10] {
            browser.run(&format!("document.querySelector('#time li:nth-child({step}) button').click()"));
            assert_eq!(browser.texts(OVERLAPS), Vec::<String>::new(), "{width}x{height} {step}");
        }
        if width >= 1280 {
            let widths = browser.numbers("return [...document.querySelectorAll('.column')].map((column) => Math.round(column.clientWidth))");
            assert!(widths.len() == 5 && widths.iter().all(|width| *width >= 150), "{widths:?}");
        }
    }
    // The graph's blocks are apart, and the rows of the chart are aligned with those of the tile list.
    browser.resize(1280, 800);
    browser.press("0");
    let overlaps = browser.texts(
        "const boxes = [...document.querySelectorAll('#node .box')].map((box) => box.getBoundingClientRect());
         const bad = [];
         boxes.forEach((a, at) => boxes.slice(at + 1).forEach((b) => {
             if (Math.min(a.right, b.right) > Math.max(a.left, b.left) && Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top)) bad.push('two');
         }));
         return boxes.length > 3 ? bad : ['too few']",
    );
    assert_eq!(overlaps, Vec::<String>::new());
    browser.run("const tiles = document.getElementById('tile'); tiles.scrollTop = 240; tiles.dispatchEvent(new Event('scroll'))");
    assert_eq!(browser.run("return document.getElementById('range').scrollTop").as_u64(), Some(240));
    let heights = "return ['tile', 'range'].map((id) => document.getElementById(id).scrollHeight)";
    let heights = browser.numbers(heights);
    assert_eq!(heights[0], heights[1]);
}

#[test]
fn five_thousand_bytecodes_do_not_freeze_it() {
    let program = pages::long(5000);
    let trace = pages::trace_of(&program);
    let Some(browser) = open("long", &trace) else { return };
    let measure = |name: &str| {
        let script = format!("return performance.getEntriesByName('explorer-{name}')[0].duration");
        browser.run(&script).as_f64().expect("a time")
    };
    let (read, links, ready) = (measure("read"), measure("links"), measure("ready"));
    let bytecodes =
        browser.texts("return [document.querySelector('[data-kind=byte] .count').textContent]").remove(0);
    assert!(bytecodes.replace(',', "").parse::<usize>().is_ok_and(|count| count >= 4900), "{bytecodes}");
    // The median time of many pointer moves, including layout.
    let times = browser.texts(
        "const times = [];
         for (const id of ['byte', 'tile', 'code']) {
             const body = document.getElementById(id);
             for (const top of [0, 20000, 60000]) {
                 body.scrollTop = top;
                 body.dispatchEvent(new Event('scroll'));
                 for (const row of [...body.querySelectorAll('.row')].slice(15, 35)) {
                     const start = performance.now();
                     row.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 10, clientY: 10 }));
                     document.body.offsetHeight;
                     times.push(performance.now() - start);
                 }
             }
         }
         times.sort((one, other) => one - other);
         const scrolls = [];
         for (let top = 0; top < 40000; top += 700) {
             const start = performance.now();
             for (const id of ['byte', 'node', 'tile', 'range', 'code']) {
                 document.getElementById(id).scrollTop = top;
                 document.getElementById(id).dispatchEvent(new Event('scroll'));
             }
             document.body.offsetHeight;
             scrolls.push(performance.now() - start);
         }
         scrolls.sort((one, other) => one - other);
         const steps = [...document.querySelectorAll('#time button')].map((step) => {
             const start = performance.now();
             step.click();
             document.body.offsetHeight;
             return performance.now() - start;
         });
         return [times[times.length >> 1], times[Math.floor(times.length * 0.95)], scrolls[scrolls.length >> 1], Math.max(...steps)].map(String)",
    );
    let times: Vec<f64> = times.iter().map(|time| time.parse().expect("a time")).collect();
    let elements = browser.run("return document.querySelectorAll('*').length").as_u64().expect("a number");
    println!("{bytecodes} bytecodes, {} bytes of trace, {elements} elements", trace.len());
    println!("read {read:.0} ms, links {links:.0} ms, ready {ready:.0} ms");
    println!(
        "hover {:.1} ms (95 of 100 under {:.1}), scroll {:.1} ms, slowest pass {:.0} ms",
        times[0], times[1], times[2], times[3]
    );
    // The bounds are generous, because the machine may be busy.
    assert!(read + links < 3000.0 && ready < 6000.0, "read {read} links {links} ready {ready}");
    assert!(times[0] < 50.0 && times[2] < 150.0 && times[3] < 5000.0, "{times:?}");
    assert!(elements < 20_000, "{elements}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn names_do_no_harm() {
    let hostile = "</script><img src=x onerror=\"document.title='harm'\"><!--<script>\\x3c {{script}} & \"'";
    let trace = format!(
        "function {hostile}\ntier optimizer\n\n== bytecode\n    0: Say {{ text: {hostile:?} }}\n\n== build\nb0:\n    return.i64 v0 {hostile}\n\nfunction two {hostile}\ntier optimizer\n\n== bytecode\n    0: {hostile}\n"
    );
    let Some(browser) = open(hostile, &trace) else { return };
    assert_eq!(
        browser.texts("return [document.title, document.querySelector('h1').textContent]"),
        [hostile, hostile]
    );
    let names = browser.texts("return [...document.querySelectorAll('#function option')].map((option) => option.value && option.label)");
    assert_eq!(names, [hostile, &format!("two {hostile}")]);
    let images = "return document.querySelectorAll('img').length";
    assert_eq!(browser.run(images).as_u64(), Some(0));
    browser.point_at("#byte-0");
    let status = browser.texts("return [document.getElementById('status').textContent]").remove(0);
    assert!(status.contains(&format!("{hostile:?}")), "{status}");
    browser.run("const pick = document.getElementById('function'); pick.value = 1; pick.dispatchEvent(new Event('change'))");
    browser.point_at("#byte-0");
    assert_eq!(browser.run(images).as_u64(), Some(0));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_log_may_hold_a_part() {
    let whole = pages::trace("calls");
    let baseline = "function quick\ntier baseline\n\n== bytecode\n    0: Add { dst: r0, a: r0, b: r0 }\n    1: Return { a: r0 }\n\n== emit\n     0  48 8b 06                       mov rax, [rsi]                       ; @0\n     3  c3                             ret                                  ; @1\n";
    let Some(browser) = open("quick", baseline) else { return };
    let columns =
        "return [...document.querySelectorAll('.column:not([hidden])')].map((column) => column.dataset.kind)";
    assert_eq!(browser.texts(columns), ["byte", "code"]);
    browser.point_at("#code-1");
    let linked = "return [...document.querySelectorAll('#byte .linked .n')].map((n) => n.textContent.trim())";
    assert_eq!(browser.texts(linked), ["1"]);
    // Unknown stages are ignored, unless they are graphs.
    let more = format!(
        "{baseline}\n== machine code\n     0  mov rax, [rsi]\n\n== later\nb0:\n    return.i64 v0 @1\n"
    );
    browser.open_text("more", &azulejo::explore::page("more", &more));
    let steps = "return [...document.querySelectorAll('#time button')].map((step) => step.textContent)";
    assert_eq!(browser.texts(steps), ["emit", "later"]);
    // Some stages without the others, and no stages at all.
    let stages: Vec<&str> = whole.split("\n== ").collect();
    for kept in [&[1, 2][..], &[7], &[8], &[9], &[10], &[3, 6, 9], &[]] {
        let part: String =
            kept.iter().filter_map(|at| stages.get(*at)).map(|stage| format!("\n== {stage}\n")).collect();
        browser.open_text("part", &azulejo::explore::page("part", &format!("function part\n{part}")));
        browser.run("document.querySelectorAll('#time button').forEach((step) => step.click())");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{kept:?}");
    }
    // One page shows all functions of a program.
    browser.open_text("all", &azulejo::explore::page("all", &whole));
    let names = browser
        .texts("return [...document.querySelectorAll('#function option')].map((option) => option.label)");
    assert_eq!(names, ["fib", "crowd", "gcd", "main"]);
    let tiers = format!("{whole}{baseline}\n{baseline}");
    browser.open_text("tiers", &azulejo::explore::page("tiers", &tiers));
    let names = browser.texts(
        "return [...document.querySelectorAll('#function option')].map((option) => option.label).slice(3)",
    );
    assert_eq!(names, ["main (optimizer)", "quick (baseline)", "quick (baseline) #2"]);
    for at in 0..4 {
        browser.run(&format!("const pick = document.getElementById('function'); pick.value = {at}; pick.dispatchEvent(new Event('change'))"));
        assert_eq!(browser.texts(columns).len(), 5);
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
