//! Functions that a machine's code calls by its own convention: the convention is all in which they differ.

/// Writes the functions through which machine code calls its engine, for a convention of Rust's (`"sysv64-unwind"`, …):
///
/// - `callbacks`: the [`Callbacks`](crate::call::Callbacks) of an engine with these
///   [`HostFunctions`](crate::call::HostFunctions), for [`Backend::callbacks`](crate::emit::Backend::callbacks);
/// - `set_tail_call`, `begin_tail_call` and `caught`, for the [`Stubs`](crate::call::Stubs) with these names.
#[macro_export]
macro_rules! engine_functions {
    ($abi:literal) => {
        /// An engine's functions, as the stubs call them.
        pub(crate) fn callbacks<H: $crate::call::HostFunctions>() -> $crate::call::Callbacks {
            unsafe extern $abi fn resolve<H: $crate::call::HostFunctions>(
                call: &mut $crate::call::UnresolvedCall,
            ) {
                // SAFETY: the stub guarantees what the function relies on; the same holds below.
                unsafe { H::resolve(call) }
            }
            unsafe extern $abi fn pack<H: $crate::call::HostFunctions>(
                call: &mut $crate::call::UnresolvedCall,
            ) {
                // SAFETY: as above.
                unsafe { H::pack(call) }
            }
            unsafe extern $abi fn resume<H: $crate::call::HostFunctions>(
                cell: &$crate::call::CallCell,
                context: *mut (),
                frame: *mut u64,
                left: $crate::status::RawStatus,
            ) -> $crate::call::Outcome {
                // SAFETY: as above.
                unsafe { H::resume(cell, context, frame, left) }
            }
            unsafe extern $abi fn note<H: $crate::call::HostFunctions>(
                cell: &$crate::call::CallCell,
                at: u32,
            ) {
                // SAFETY: as above.
                unsafe { H::note(cell, at) }
            }
            unsafe extern $abi fn refuse<H: $crate::call::HostFunctions>(
                cell: &$crate::call::CallCell,
                context: *mut (),
            ) -> u64 {
                // SAFETY: as above.
                unsafe { H::refuse(cell, context) }
            }
            let [resolve, pack] = [resolve::<H> as *const (), pack::<H> as *const ()];
            let [resume, note] = [resume::<H> as *const (), note::<H> as *const ()];
            let refuse = refuse::<H> as *const ();
            // SAFETY: these functions have the types by which the stubs call them.
            unsafe { $crate::call::Callbacks::new(resolve, pack, resume, note, refuse) }
        }

        pub(crate) unsafe extern $abi fn set_tail_call(
            cell: &$crate::call::CallCell,
            context: *mut (),
            args: *const u64,
            count: usize,
        ) {
            // SAFETY: compiled code passes the address of its arguments.
            let args = unsafe { core::slice::from_raw_parts(args, count) };
            cell.host().set_tail_call(cell, context, args);
        }

        pub(crate) unsafe extern $abi fn begin_tail_call(
            cell: &$crate::call::CallCell,
            context: *mut (),
            count: usize,
        ) -> *mut u64 {
            cell.host().begin_tail_call(cell, context, count)
        }

        pub(crate) unsafe extern $abi fn caught(cell: &$crate::call::CallCell, code: u64) -> u64 {
            cell.host().caught(code)
        }
    };
}
