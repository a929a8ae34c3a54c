//! The command line: what is measured, how often, and where the results go.

#[derive(Default)]
pub(crate) struct Options {
    pub(crate) json: Option<String>,
    pub(crate) only: Option<String>,
    pub(crate) rounds: Option<usize>,
    pub(crate) is_quick: bool,
    pub(crate) is_longer: bool,
    pub(crate) passes: bool,
    pub(crate) code: bool,
    pub(crate) suite: Option<String>,
}

impl Options {
    /// Reads the arguments of this process.
    pub(crate) fn read() -> Result<Options, String> {
        let mut options = Options::default();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{word}` wants a value"));
            match word.as_str() {
                "--json" => options.json = Some(value()?),
                "--only" => options.only = Some(value()?),
                "--rounds" => {
                    options.rounds = Some(value()?.parse().map_err(|_| "`--rounds` wants a number")?)
                }
                "--suite" => options.suite = Some(value()?),
                "--quick" => options.is_quick = true,
                "--longer" => options.is_longer = true,
                "--passes" => options.passes = true,
                "--code" => options.code = true,
                _ => {
                    let known = "--json FILE, --only NAME, --rounds N, --quick, --longer, --passes, --code, --suite wasm|dynamic|lua";
                    return Err(format!("unknown: `{word}`; known are {known}"));
                }
            }
        }
        Ok(options)
    }
}
