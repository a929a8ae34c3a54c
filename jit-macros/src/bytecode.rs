//! `#[derive(Bytecode)]`: describes an opcode enum to azulejo.
//!
//! In: an enum whose fields are operands (`In<i64>`, `Label`, …). Out: the implementation of `Bytecode` with the
//! interpreter's loop; a marker type for each opcode, named in error messages; and a macro with the enum's
//! name that passes the description on to `template!`, so that importing one imports the other. The meaning that `template!`
//! defines is an implementation of `Semantics` for the enum and the opcode's number. So a missing meaning is an unsatisfied bound
//! and a second one a conflicting implementation, wherever the rows are.

mod examples;
mod operands;

use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::pass::MAX_PINNED;
use examples::examples;
use operands::{Opcode, Operand, operands};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Fields, Meta, Path, Token, Type, Variant};

/// The arguments of `#[bytecode(…)]`.
struct Attributes {
    context: Type,
    operators: Option<Path>,
    pinned: Vec<Expr>,
}

impl Attributes {
    /// What holds for an enum without attributes.
    fn none() -> Attributes {
        Attributes { context: syn::parse_quote!(()), operators: None, pinned: Vec::new() }
    }

    /// Reads `pinned(constant, …)`.
    fn pin(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if !self.pinned.is_empty() {
            return Err(meta.error("all pinned constants are in one list"));
        }
        if !meta.input.peek(syn::token::Paren) {
            return Err(meta.error("the constants are in parentheses: `pinned(NIL, TAG)`"));
        }
        let list;
        syn::parenthesized!(list in meta.input);
        let constants = Punctuated::<Expr, Token![,]>::parse_terminated(&list)?;
        if constants.is_empty() {
            return Err(meta.error("no constant is pinned"));
        }
        if let Some(more) = constants.iter().nth(MAX_PINNED) {
            return Err(Error::new(
                more.span(),
                "at most two constants are pinned: a machine has few registers",
            ));
        }
        self.pinned.extend(constants);
        Ok(())
    }
}

/// Expands the derive. All errors in the enum are reported together.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut errors: Option<Error> = None;
    let mut note = |error: Error| match &mut errors {
        Some(errors) => errors.combine(error),
        None => errors = Some(error),
    };
    let attributes = attributes(&input).unwrap_or_else(|error| {
        note(error);
        Attributes::none()
    });
    if !input.generics.params.is_empty() {
        note(Error::new(input.generics.span(), "an opcode enum has no parameters"));
    }
    let Data::Enum(data) = &input.data else {
        note(Error::new(input.ident.span(), "`Bytecode` is derived for an enum, a variant for each opcode"));
        return errors.map_or_else(TokenStream::new, Error::into_compile_error);
    };
    if data.variants.is_empty() {
        note(Error::new(input.ident.span(), "a bytecode needs at least one opcode"));
    }
    let mut opcodes = Vec::new();
    for variant in &data.variants {
        match (operands(variant), form_of(variant)) {
            (Ok(operands), Ok(form_of)) => opcodes.push(Opcode { variant, form_of, operands }),
            (Err(error), _) | (_, Err(error)) => note(error),
        }
    }
    match errors {
        Some(errors) => {
            let stand_in =
                input.generics.params.is_empty().then(|| stand_in(&input.ident, &attributes.context));
            let errors = errors.into_compile_error();
            quote!(#errors #stand_in)
        }
        None => expand(&input, &attributes, &opcodes),
    }
}

fn attributes(input: &DeriveInput) -> syn::Result<Attributes> {
    let mut attributes = Attributes::none();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("bytecode")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("context") {
                attributes.context = meta.value()?.parse()?;
                Ok(())
            } else if meta.path.is_ident("operators") {
                attributes.operators = Some(meta.value()?.parse()?);
                Ok(())
            } else if meta.path.is_ident("pinned") {
                attributes.pin(&meta)
            } else {
                Err(meta
                    .error("known here are `context = Type`, `operators = path` and `pinned(constant, …)`"))
            }
        })?;
    }
    Ok(attributes)
}

/// What `#[forms]` says of a variant.
fn form_of(variant: &Variant) -> syn::Result<Option<Ident>> {
    let mut form_of = None;
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("bytecode")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("form_of") {
                return Err(
                    meta.error("attributes of the enum stand above it; `#[forms]` makes those of opcodes")
                );
            }
            let of: Ident = meta.value()?.parse()?;
            let name = variant.ident.to_string();
            if name.strip_prefix(&of.to_string()).is_none_or(|rest| !rest.starts_with("Imm")) {
                return Err(Error::new(of.span(), "only `#[forms]` says this"));
            }
            form_of = Some(of);
            Ok(())
        })?;
    }
    Ok(form_of)
}

/// The tables of what templates do.
fn tables(core: &TokenStream, n_opcodes: usize) -> [TokenStream; 4] {
    let deeds = [
        ("TAKES_UNIT", "TakesUnit"),
        ("FRAME_ADDRESSES", "TakesAddressOfFrame"),
        ("SLOW_PATHS", "HasSlowPath"),
        ("QUICKENS", "Quickens"),
    ];
    deeds.map(|(name, deed)| {
        let (name, table) = (format_ident!("{name}"), table(core, deed, n_opcodes));
        quote!(const #name: &'static [bool] = #table;)
    })
}

/// A table that says of each opcode whether its template, or one that it may become, does this `Deed`. It is empty if none does.
fn table(core: &TokenStream, deed: &str, n_opcodes: usize) -> TokenStream {
    let deed = format_ident!("{deed}");
    quote! {{
        const ALL: [bool; #n_opcodes] = #core::ir::template::Template::all_that_do(TEMPLATES, #core::ir::template::Deed::#deed);
        if __bytecode::any(&ALL) { &ALL } else { &[] }
    }}
}

fn expand(input: &DeriveInput, attributes: &Attributes, opcodes: &[Opcode<'_>]) -> TokenStream {
    let core = quote!(::azulejo::__private::core);
    let (name, context) = (&input.ident, &attributes.context);
    let operators = match &attributes.operators {
        Some(path) => quote!(#path::ROWS),
        None => quote!(&[]),
    };
    let n_opcodes = opcodes.len();
    let infos = opcodes.iter().map(|opcode| info(&core, opcode));
    let numbers = opcodes.iter().enumerate().map(|(number, opcode)| {
        let variant = &opcode.variant.ident;
        quote!(#name::#variant { .. } => #number,)
    });
    let raws = opcodes.iter().map(|opcode| raw_arm(name, opcode));
    let examples = examples(&core, name, opcodes);
    let interpreter = interpreter(name, opcodes);
    let template = |(number, opcode): (usize, &Opcode)| {
        let meaning = meaning_of(name, number, opcode);
        quote!(#meaning::TEMPLATE)
    };
    let templates = opcodes.iter().enumerate().map(template);
    let markers = opcodes.iter().enumerate().map(|(number, opcode)| {
        let variant = &opcode.variant.ident;
        // The marker of an opcode with the enum's name must not shadow the enum.
        let marker = if variant == name { format_ident!("{}_", variant) } else { variant.clone() };
        quote! {
            #[allow(missing_docs, missing_debug_implementations, reason = "stands for an opcode in trait bounds")]
            pub enum #marker {}
            impl __bytecode::Opcode<#number> for #name { type Marker = #marker; }
        }
    });
    // Lints that are allowed on the enum are also allowed on its markers.
    let allowed =
        input.attrs.iter().chain(opcodes.iter().flat_map(|opcode| &opcode.variant.attrs)).filter_map(allowed);
    let pinned = &attributes.pinned;
    let hand_on = hand_on(input, attributes, opcodes);
    let tables = tables(&core, n_opcodes);
    let (has_size, cases) = (has_size(name), cases(name, opcodes));
    let sites = opcodes.iter().filter(|_| !cases.is_empty()).map(sites);
    // The markers have the opcodes' names, so a block of their own keeps them apart from the user's types.
    quote! {
        #(#allowed)*
        const _: () = {
            use #core::ir::bytecode as __bytecode;
            #(#markers)*
        };
        #has_size
        const _: () = {
            use #core::ir::bytecode as __bytecode;
            const TEMPLATES: &[&#core::ir::template::Template; #n_opcodes] = &[#(#templates),*];
            const _: () = #core::ir::template::Template::assert_same_declarations(TEMPLATES);
            #examples
            #cases
            // SAFETY: `OPCODES`, `OFFSETS`, `opcode` and `operands` come from the same variants and fields, and `templates`
            // and `interpret` from the same implementations of `Semantics`.
            unsafe impl __bytecode::Bytecode for #name {
                type Context = #context;
                const OPCODES: &'static [__bytecode::OpcodeInfo] = &[#(#infos),*];
                const OPERATORS: &'static [#core::vocab::OpInfo] = #operators;
                const OFFSETS: &'static [&'static [u16]] =
                    &__bytecode::offsets(&__PLACES, Self::OPCODES);
                const REGISTERS: &'static [::core::option::Option<__bytecode::Registers>] =
                    &__bytecode::Registers::of_all::<#n_opcodes>(Self::OPCODES, Self::OFFSETS);
                #(#tables)*
                const PINNED: &'static [u64] = &[#(#pinned),*];
                const SITES: &'static [&'static [(u8, __bytecode::SiteInfo)]] = &[#(#sites),*];

                #[inline(always)]
                fn opcode(&self) -> usize {
                    match *self { #(#numbers)* }
                }

                #[allow(unused_mut, reason = "an enum without operands sets none")]
                fn operands(&self) -> [__bytecode::Raw; __bytecode::MAX_OPERANDS] {
                    let mut raw = [0; __bytecode::MAX_OPERANDS];
                    match *self { #(#raws)* }
                    raw
                }

                fn templates() -> &'static [&'static #core::ir::template::Template] {
                    // A constant would be in the program once for each unit of code that this function is inlined in.
                    static ALL: [&#core::ir::template::Template; #n_opcodes] = *TEMPLATES;
                    &ALL
                }

                fn guarded_templates() -> &'static [&'static #core::ir::template::Template] {
                    static GUARDED: [&#core::ir::template::Template; #n_opcodes] =
                        #core::ir::template::Template::all_guarded(TEMPLATES);
                    &GUARDED
                }

                #interpreter
            }
        };
        #hand_on
    }
}

/// The index of a bytecode is computed from its address, so its size must not be zero.
fn has_size(name: &Ident) -> TokenStream {
    quote_spanned! {name.span()=>
        const _: () = ::core::assert!(
            ::core::mem::size_of::<#name>() != 0,
            "an enum with one opcode and no operands takes no space, and code of it has no positions: add `#[repr(u8)]`"
        );
    }
}

/// The lints that an attribute allows, or allows by expecting them.
fn allowed(attribute: &Attribute) -> Option<TokenStream> {
    let Meta::List(list) = &attribute.meta else { return None };
    let lints = &list.tokens;
    (list.path.is_ident("allow") || list.path.is_ident("expect")).then(|| quote!(#[allow(#lints)]))
}

/// The trait bound that requires an opcode's meaning. All its tokens are located at the variant, so that a missing meaning is
/// reported there, and once. They have this macro's hygiene, because the variants may come from another macro than the derive.
fn meaning_of(name: &Ident, number: usize, opcode: &Opcode<'_>) -> TokenStream {
    let place = opcode.variant.ident.span();
    let mut name = name.clone();
    name.set_span(name.span().located_at(place));
    let mut number = Literal::usize_unsuffixed(number);
    let shown = Span::call_site().located_at(place);
    number.set_span(shown);
    quote_spanned! {shown=>
        <#name as __bytecode::Means<<#name as __bytecode::Opcode<#number>>::Marker, #number>>
    }
}

fn info(core: &TokenStream, opcode: &Opcode<'_>) -> TokenStream {
    let name = opcode.variant.ident.to_string();
    let operands = opcode.operands.iter().map(|operand| {
        let field = operand.member.to_token_stream().to_string();
        let kind = format_ident!("{}", operand.kind.name());
        let scalar = match &operand.scalar {
            Some(scalar) => {
                let text = scalar.to_string();
                let variant = format_ident!("{}{}", text[..1].to_uppercase(), &text[1..]);
                quote!(::core::option::Option::Some(#core::vocab::Scalar::#variant))
            }
            None => quote!(::core::option::Option::None),
        };
        quote! {
            __bytecode::OperandInfo { name: #field, kind: __bytecode::OperandKind::#kind, scalar: #scalar }
        }
    });
    quote!(__bytecode::OpcodeInfo { name: #name, operands: &[#(#operands),*] })
}

/// Stores an opcode's operands as bits. Operands on the operand stack are not part of the bytecode.
fn raw_arm(name: &Ident, opcode: &Opcode<'_>) -> TokenStream {
    let variant = &opcode.variant.ident;
    let mut fields = Vec::new();
    let mut stores = Vec::new();
    for (number, operand) in opcode.operands.iter().enumerate() {
        let member = &operand.member;
        let local = format_ident!("operand{number}");
        let bits = match operand.kind {
            OperandKind::Pop | OperandKind::Push => continue,
            OperandKind::In | OperandKind::Out | OperandKind::InOut => quote!(#local.index as u64),
            OperandKind::Label => quote!(#local.0 as u64),
            OperandKind::Imm => {
                let scalar = operand.scalar.as_ref().map(Ident::to_string).unwrap_or_default();
                match scalar.as_bytes().first() {
                    Some(b'i') => quote!(#local.0 as i64 as u64),
                    Some(b'f') => quote!(#local.0.to_bits() as u64),
                    Some(b'p') => quote!(#local.0 as usize as u64),
                    _ => quote!(#local.0 as u64),
                }
            }
            OperandKind::Site => quote!(#local.address()),
            _ => quote!(#local.first as u64 | (#local.count as u64) << 32),
        };
        fields.push(quote!(#member: #local));
        stores.push(quote!(raw[#number] = #bits;));
    }
    quote!(#name::#variant { #(#fields,)* .. } => { #(#stores)* })
}

/// Implementations that say of which type the cases of each site are.
fn cases(name: &Ident, opcodes: &[Opcode<'_>]) -> TokenStream {
    let all = opcodes.iter().enumerate().flat_map(|(opcode, Opcode { operands, .. })| {
        let sites =
            operands.iter().enumerate().filter_map(|(at, operand)| Some((at, operand.site.as_ref()?)));
        sites.map(move |(operand, (case, _))| {
            quote!(impl __bytecode::HasSite<#opcode, #operand, #case> for #name {})
        })
    });
    all.collect()
}

/// The sites of an opcode, each with the operand's number.
fn sites(opcode: &Opcode<'_>) -> TokenStream {
    let sites = opcode.operands.iter().enumerate().filter_map(|(number, operand)| {
        let (number, (case, capacity)) = (number as u8, operand.site.as_ref()?);
        let capacity = *capacity as u32;
        let info = quote_spanned!(case.span()=> __bytecode::SiteInfo::of::<#case>(#capacity));
        // Whether the type has `Debug` is decided here, where the type is known: see `CaseRef`.
        Some(quote!((#number, #info.written_by({
            unsafe fn write(case: *const u8, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #[allow(unused_imports, reason = "one of them is used")]
                use __bytecode::{DebugCase, OpaqueCase};
                // SAFETY: the caller guarantees it.
                (&__bytecode::CaseRef(unsafe { &*case.cast::<#case>() })).write(f)
            }
            write
        }))))
    });
    quote!(&[#(#sites),*])
}

/// The interpreter's loop, which has an arm for each opcode.
fn interpreter(name: &Ident, opcodes: &[Opcode<'_>]) -> TokenStream {
    let arms = opcodes.iter().enumerate().map(|(number, opcode)| interpreter_arm(name, number, opcode));
    quote! {
        #[allow(unused_mut, unused_assignments, unused_variables, reason = "not every bytecode has a stack")]
        unsafe fn interpret(
            code: *const [Self],
            machine: &__bytecode::Machine<'_, Self::Context>,
            pc: u32,
            locals: u32,
            depth: u32,
        ) -> (__bytecode::Flow, u32) {
            // A copy to which no other pointer exists: it stays in registers whatever the code writes.
            let machine = &__bytecode::Machine { ..*machine };
            // A pointer instead of an index makes rustc end each arm with its own dispatch.
            let start = code.cast::<Self>();
            // SAFETY: the caller starts within the code.
            let mut op = unsafe { start.add(pc as usize) };
            // SAFETY: verification made the frame large enough for the locals and the maximum stack depth together.
            let mut stack = unsafe { machine.frame.add(locals as usize + depth as usize) };
            loop {
                debug_assert!(
                    (start..start.wrapping_add(code.len())).contains(&op),
                    "verified code stays within itself"
                );
                // SAFETY: verification ensured that no control transfer leaves the code.
                let to = match unsafe { *op } { #(#arms)* };
                // Jumps meet here, which keeps the code that every bytecode runs small.
                // SAFETY: as above.
                let next = unsafe { start.add(to as usize) };
                if next <= op {
                    let left = machine.budget.get().wrapping_sub(1);
                    machine.budget.set(left);
                    let stop = machine.stop.load(::core::sync::atomic::Ordering::Relaxed);
                    if left < 0 || stop != 0 {
                        return (__bytecode::Flow::Jump(to), to);
                    }
                }
                op = next;
            }
        }
    }
}

/// The arm that runs one opcode and transfers control.
fn interpreter_arm(name: &Ident, number: usize, opcode: &Opcode<'_>) -> TokenStream {
    let variant = &opcode.variant.ident;
    let meaning = meaning_of(name, number, opcode);
    let count = |kind: OperandKind| opcode.operands.iter().filter(|operand| operand.kind == kind).count();
    let (pops, pushes) = (count(OperandKind::Pop), count(OperandKind::Push));
    let run = quote!(#meaning::run(op, machine, op.offset_from_unsigned(start) as u32, stack));
    let pop = (pops > 0).then(|| quote!(stack = unsafe { stack.sub(#pops) };));
    let push = (pushes > 0).then(|| quote!(stack = unsafe { stack.add(#pushes) };));
    quote! {
        #name::#variant { .. } => {
            // SAFETY: verification established the stack depth before and after, and that no control transfer leaves the
            // code; the rest is the caller's promise.
            #pop
            let flow = unsafe { #run };
            #push
            match flow {
                __bytecode::Flow::Next => {
                    op = unsafe { op.add(1) };
                    continue;
                }
                __bytecode::Flow::Jump(to) => to,
                end => return (end, unsafe { op.offset_from_unsigned(start) } as u32),
            }
        }
    }
}

/// The expansion for an enum with errors, so that its users do not report further errors: a bytecode that is never run, and a
/// macro that passes no opcodes to `template!`.
fn stand_in(name: &Ident, context: &Type) -> TokenStream {
    let core = quote!(::azulejo::__private::core);
    let hidden = format_ident!("__azulejo_describe_{}", name);
    quote! {
        const _: () = {
            use #core::ir::bytecode as __bytecode;
            // SAFETY: the crate does not compile.
            unsafe impl __bytecode::Bytecode for #name {
                type Context = #context;
                const OPCODES: &'static [__bytecode::OpcodeInfo] = &[];
                const OPERATORS: &'static [#core::vocab::OpInfo] = &[];
                const OFFSETS: &'static [&'static [u16]] = &[];
                const REGISTERS: &'static [::core::option::Option<__bytecode::Registers>] = &[];
                const TAKES_UNIT: &'static [bool] = &[];
                const FRAME_ADDRESSES: &'static [bool] = &[];
                const PINNED: &'static [u64] = &[];
                const SLOW_PATHS: &'static [bool] = &[];
                const QUICKENS: &'static [bool] = &[];
                const SITES: &'static [&'static [(u8, __bytecode::SiteInfo)]] = &[];
                fn opcode(&self) -> usize {
                    ::core::unreachable!()
                }
                fn operands(&self) -> [__bytecode::Raw; __bytecode::MAX_OPERANDS] {
                    ::core::unreachable!()
                }
                fn templates() -> &'static [&'static #core::ir::template::Template] {
                    &[]
                }
                fn guarded_templates() -> &'static [&'static #core::ir::template::Template] {
                    &[]
                }
                unsafe fn interpret(
                    _: *const [Self],
                    _: &__bytecode::Machine<'_, Self::Context>,
                    _: u32,
                    _: u32,
                    _: u32,
                ) -> (__bytecode::Flow, u32) {
                    ::core::unreachable!()
                }
            }
        };
        #[doc(hidden)]
        #[allow(unused_macros, reason = "an enum may be derived without templates of its own")]
        macro_rules! #hidden {
            ($($any:tt)*) => {};
        }
        #[doc(hidden)]
        #[allow(unused_imports, reason = "as above")]
        pub(crate) use #hidden as #name;
    }
}

/// The macro that describes the opcodes to `template!`.
fn hand_on(input: &DeriveInput, attributes: &Attributes, opcodes: &[Opcode<'_>]) -> TokenStream {
    let name = &input.ident;
    let operators = attributes.operators.as_ref().map(|path| {
        // The path starts from the enum's crate, wherever the macro is used.
        let from_crate = path.segments.first().is_some_and(|first| first.ident == "crate");
        let rest = path.segments.iter().skip(from_crate as usize);
        let start = from_crate.then(|| quote!($crate::));
        quote!(operators { #start #(#rest)::* })
    });
    let hidden = format_ident!("__azulejo_describe_{}", name);
    let described = opcodes.iter().map(|opcode| {
        let variant = &opcode.variant.ident;
        let shape = match &opcode.variant.fields {
            Fields::Named(_) => quote!(struct),
            Fields::Unnamed(_) => quote!(tuple),
            Fields::Unit => quote!(unit),
        };
        let fields = opcode.operands.iter().map(|Operand { member, kind, scalar, site, .. }| {
            let kind = format_ident!("{}", kind.name());
            let site = site.as_ref().map(|(case, capacity)| {
                let (case, capacity) = (case.to_string(), Literal::u16_unsuffixed(*capacity));
                quote!(#capacity #case)
            });
            quote!(#member: #kind #scalar #site)
        });
        let form_of = opcode.form_of.as_ref().map(|of| quote!(of #of));
        quote!(opcode #variant #shape { #(#fields),* } #form_of)
    });
    quote! {
        #[doc(hidden)]
        #[allow(unused_macros, reason = "an enum may be derived without templates of its own")]
        macro_rules! #hidden {
            ([$($callback:tt)*] $rest:tt) => {
                $($callback)*! { { enum #name; #operators #(#described)* } $rest }
            };
        }
        #[doc(hidden)]
        #[allow(unused_imports, reason = "as above")]
        pub(crate) use #hidden as #name;
    }
}
