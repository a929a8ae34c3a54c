//! Takes the README's picture: `cargo run -p azulejo-explorer-test -- docs/explorer.png`.

use azulejo_explorer_test::browser::Browser;
use azulejo_explorer_test::pages;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: cargo run -p azulejo-explorer-test -- docs/explorer.png");
        return ExitCode::FAILURE;
    };
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    browser.prefer("light");
    browser.open_text("mandelbrot", &azulejo::explore::page("mandelbrot", &pages::trace("mandelbrot")));
    // Pin the sum in the inner loop: every column highlights its part.
    browser.click("#byte-21");
    match std::fs::write(&file, browser.picture()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
    }
}
