//! The compiler of this machine, if there is one.
//!
//! Everything that depends on whether machine code can be made here is in this file; the engine sees the same
//! types either way.

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod present {
    use crate::rules;
    use azulejo_core::error::{Error, Unsupported};
    use azulejo_core::pass::Blind;
    use azulejo_core::pass::build::Source;
    use azulejo_x64::{Compiler, Features};

    pub(crate) use azulejo_x64::{Compiled, Status};

    /// Makes machine code; the memory for it is reserved when the first function is compiled.
    #[derive(Debug)]
    pub(crate) struct Backend {
        code_bytes: usize,
        features: Features,
        compiler: Option<Compiler>,
    }

    /// Reserving a little memory tells whether code can be run at all.
    pub(crate) fn can_compile() -> Result<(), Unsupported> {
        azulejo_x64::CodeMemory::new(1 << 16).map(drop)
    }

    /// The features with these names, as bits.
    pub(crate) fn features_named(names: &[&str]) -> u32 {
        Features::named(names).bits()
    }

    impl Backend {
        pub(crate) fn new(code_bytes: usize, only: Option<u32>) -> Backend {
            let mut features = Features::detect();
            if let Some(only) = only {
                features &= Features::from_bits_truncate(only);
            }
            Backend { code_bytes, features, compiler: None }
        }

        pub(crate) fn compile(&mut self, source: &Source<'_>) -> Result<Compiled, Error> {
            let compiler = match &mut self.compiler {
                Some(compiler) => compiler,
                None => {
                    let compiler = Compiler::new(self.code_bytes, self.features, &rules::MATCHERS)?;
                    self.compiler.insert(compiler)
                }
            };
            compiler.bytecode(source, &mut Blind)
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
mod absent {
    use azulejo_core::error::{Error, Unsupported};
    use azulejo_core::pass::build::Source;
    use azulejo_core::vocab::Trap;

    /// There is none.
    #[derive(Debug)]
    pub(crate) struct Backend;

    /// There is none of these either.
    #[derive(Debug)]
    pub(crate) enum Compiled {}

    /// How compiled code would be left.
    #[derive(Debug)]
    pub(crate) enum Status {
        Returned(u64),
        Exited { at: u32 },
        Trapped { trap: Trap, at: u32 },
    }

    pub(crate) fn can_compile() -> Result<(), Unsupported> {
        Err(if cfg!(target_arch = "x86_64") { Unsupported::System } else { Unsupported::Architecture })
    }

    pub(crate) fn features_named(_: &[&str]) -> u32 {
        0
    }

    impl Backend {
        pub(crate) fn new(_: usize, _: Option<u32>) -> Backend {
            Backend
        }

        pub(crate) fn compile(&mut self, _: &Source<'_>) -> Result<Compiled, Error> {
            can_compile()?;
            Err(Error::Internal("compile"))
        }
    }

    impl Compiled {
        pub(crate) unsafe fn enter(&self, _: *mut (), _: *mut u64, _: *const ()) -> Status {
            match *self {}
        }

        pub(crate) fn bytes(&self) -> &[u8] {
            match *self {}
        }

        pub(crate) fn map(&self) -> &[(u32, u32)] {
            match *self {}
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
pub(super) use absent::{Backend, Compiled, Status, can_compile, features_named};
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
pub(super) use present::{Backend, Compiled, Status, can_compile, features_named};
