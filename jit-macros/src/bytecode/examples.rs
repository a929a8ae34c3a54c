//! What `derive(Bytecode)` finds out from a bytecode of each opcode, when the user's crate is compiled.
//!
//! In: the opcodes of an enum. Out: constants of these bytecodes, code that measures where their operands are, and an assertion about
//! their first bytes.

use super::operands::Opcode;
use azulejo_core::ir::bytecode::OperandKind;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

/// How many opcodes are measured by one function. rustc looks at all opcodes in each place where one is matched, so it should not be one;
/// and makes room for all that a function may do when it evaluates a call, so it should not be all.
const AT_ONCE: usize = 32;

/// The constants `__EXAMPLES`, a bytecode of each opcode, and `__PLACES`, the offsets of its operands; and the assertion.
pub(super) fn examples(core: &TokenStream, name: &Ident, opcodes: &[Opcode<'_>]) -> TokenStream {
    let n_opcodes = opcodes.len();
    let examples = opcodes.iter().map(|opcode| example(name, opcode));
    let groups = opcodes.chunks(AT_ONCE).zip((0..).step_by(AT_ONCE));
    let places = groups.map(|(some, first)| places(name, some, first));
    let become_by_first_byte = become_by_first_byte(core, name);
    quote! {
        const __EXAMPLES: [#name; #n_opcodes] = [#(#examples),*];
        const __PLACES: [[u16; __bytecode::MAX_OPERANDS]; #n_opcodes] = {
            let mut all = [[0; __bytecode::MAX_OPERANDS]; #n_opcodes];
            #(#places)*
            all
        };
        #become_by_first_byte
    }
}

/// A bytecode of an opcode, as the value of a constant.
fn example(name: &Ident, opcode: &Opcode<'_>) -> TokenStream {
    let variant = &opcode.variant.ident;
    let operands = opcode.operands.iter().map(|operand| {
        let (member, kind) = (&operand.member, format_ident!("{}", operand.kind.name()));
        let value = match operand.kind {
            OperandKind::Pop | OperandKind::Push => quote!(__bytecode::#kind::new()),
            OperandKind::In | OperandKind::Out | OperandKind::InOut => quote!(__bytecode::#kind::new(0)),
            OperandKind::Label => quote!(__bytecode::Label(0)),
            OperandKind::Site => quote!(__bytecode::Site::new()),
            OperandKind::Imm => {
                let ty = operand.ty.as_ref();
                quote!(__bytecode::Imm(0 as #ty))
            }
            _ => quote!(__bytecode::#kind { first: 0, count: 0 }),
        };
        quote!(#member: #value)
    });
    quote!(#name::#variant { #(#operands),* })
}

/// Measures where the operands of some opcodes are, on examples, since there is no other way to know.
fn places(name: &Ident, opcodes: &[Opcode<'_>], first: usize) -> TokenStream {
    let arms = opcodes.iter().map(|opcode| {
        let variant = &opcode.variant.ident;
        let numbers = 0..opcode.operands.len();
        let locals: Vec<_> = numbers.clone().map(|number| format_ident!("operand{number}")).collect();
        let members = opcode.operands.iter().map(|operand| &operand.member);
        quote! {
            // SAFETY: a field lies in its enum.
            #name::#variant { #(#members: #locals),* } => {
                #(places[#numbers] =
                    unsafe { ::core::ptr::from_ref(#locals).cast::<u8>().offset_from_unsigned(start) } as u16;)*
            }
        }
    });
    let behind = first + opcodes.len();
    quote! {{
        #[allow(unreachable_patterns, unused_mut, unused_variables, reason = "there may be no other opcodes, or no operands")]
        const fn places(example: &#name) -> [u16; __bytecode::MAX_OPERANDS] {
            let start = ::core::ptr::from_ref(example).cast::<u8>();
            let mut places = [0; __bytecode::MAX_OPERANDS];
            match example {
                #(#arms)*
                _ => {}
            }
            places
        }
        let mut opcode = #first;
        while opcode < #behind {
            all[opcode] = places(&__EXAMPLES[opcode]);
            opcode += 1;
        }
    }}
}

/// Asserts that bytecodes become others if their first byte is changed, where templates do that.
fn become_by_first_byte(core: &TokenStream, name: &Ident) -> TokenStream {
    // SAFETY: where bytecodes become others there are several opcodes, so the enum has a tag, and starts with it.
    // Located at the enum's name, with this macro's hygiene: the crate may forbid unsafe code.
    quote_spanned! {Span::call_site().located_at(name.span())=>
        const _: () = if !<#name as __bytecode::Bytecode>::QUICKENS.is_empty() {
            #core::ir::template::Template::assert_become_by_first_byte(
                TEMPLATES, <#name as __bytecode::Bytecode>::OFFSETS, &unsafe { __bytecode::first_bytes(&__EXAMPLES) },
            );
        };
    }
}
