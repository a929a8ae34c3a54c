//! `#[forms]`: opcodes with an operand that is a VM register or a constant.
//!
//! In: an enum of opcodes in which fields are `InOrImm<T>`. Out: the enum with a variant for each choice, in which these fields are
//! `In<T>` or `Imm<T>`, so that no code looks at run time which of the two it is; and a function for each such opcode that makes the right variant of
//! its operands. `derive(Bytecode)` learns from `#[bytecode(form_of = …)]` which variants share a row of `template!`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Field, Fields, GenericArgument, Item, ItemEnum, PathArguments, PathSegment, Type,
    Variant,
};

/// How many operands of one opcode may be a register or a constant: each doubles its forms.
const MAX_CHOICES: usize = 3;

/// The name of the field's type.
pub(crate) const TYPE: &str = "InOrImm";

/// Expands the attribute. All errors in the enum are reported together.
pub(crate) fn forms(arguments: TokenStream, input: TokenStream) -> TokenStream {
    match syn::parse2(input) {
        Ok(Item::Enum(item)) => expand(&arguments, item),
        Ok(other) => {
            let usage = "`#[forms]` stands above `#[derive(Bytecode)]` of an enum, a variant for each opcode";
            Error::new(other.span(), usage).into_compile_error()
        }
        Err(error) => error.into_compile_error(),
    }
}

fn expand(arguments: &TokenStream, mut item: ItemEnum) -> TokenStream {
    let mut errors: Option<Error> = None;
    let mut note = |error: Error| match &mut errors {
        Some(errors) => errors.combine(error),
        None => errors = Some(error),
    };
    if !arguments.is_empty() {
        note(Error::new_spanned(arguments, "`#[forms]` has no arguments"));
    }
    let variants = std::mem::take(&mut item.variants);
    let mut constructors = Vec::new();
    let mut has_choice = false;
    for mut variant in variants.iter().cloned() {
        has_choice |= variant.fields.iter().any(|field| of_choice(&field.ty).is_some());
        match Choices::of(&variant) {
            Ok(choices) if choices.at.is_empty() => item.variants.push(variant),
            Ok(choices) => {
                for form in choices.forms().map(|constants| form(&variant, &choices, constants)) {
                    if let Some(other) =
                        variants.iter().find(|other| other.ident == form.ident && **other != variant)
                    {
                        let (name, of) = (&form.ident, &variant.ident);
                        note(Error::new(other.ident.span(), format!("`{name}` is a form of `{of}`")));
                    } else {
                        item.variants.push(form);
                    }
                }
                constructors.push(constructor(&item, &variant, &choices));
            }
            Err(error) => {
                note(error);
                // An opcode with this name, so that its row is not wrong as well.
                for field in variant.fields.iter_mut().filter(|field| of_choice(&field.ty).is_some()) {
                    field.ty = syn::parse_quote!(::azulejo::In<i64>);
                }
                item.variants.push(variant);
            }
        }
    }
    if !has_choice {
        let message = format!("no operand of this enum is `{TYPE}`, so no opcode has forms");
        note(Error::new(item.ident.span(), message));
    }
    let name = &item.ident;
    match errors.map(Error::into_compile_error) {
        Some(errors) => quote!(#item #errors),
        None => quote! {
            #item
            #[allow(dead_code, reason = "not every opcode is made by its function")]
            impl #name {
                #(#constructors)*
            }
        },
    }
}

/// The fields of an opcode that are a register or a constant, each with its number.
struct Choices {
    at: Vec<Choice>,
}

struct Choice {
    field: usize,
    /// The types of the register and of the constant.
    types: [Type; 2],
    /// What stands for the field in the names of opcodes.
    name: String,
}

impl Choices {
    fn of(variant: &Variant) -> syn::Result<Choices> {
        let mut at = Vec::new();
        for (number, field) in variant.fields.iter().enumerate() {
            if let Some([register, constant]) = types(&field.ty)? {
                let name = match &field.ident {
                    Some(name) => camel_case(&name.to_string()),
                    None => number.to_string(),
                };
                at.push(Choice { field: number, types: [register, constant], name });
            }
        }
        if let Some(Choice { field, .. }) = at.get(MAX_CHOICES) {
            let message = format!(
                "at most {MAX_CHOICES} operands of an opcode are `{TYPE}`: each of them doubles the number of its forms"
            );
            let span = variant.fields.iter().nth(*field).map_or(variant.span(), |field| field.ty.span());
            return Err(Error::new(span, message));
        }
        if let (Some((_, number)), false) = (&variant.discriminant, at.is_empty()) {
            return Err(Error::new(
                number.span(),
                "an opcode with forms has no number of its own, since each form is another opcode",
            ));
        }
        Ok(Choices { at })
    }

    /// All forms, in the order of the enum. A form has a bit for each choice that is a constant.
    fn forms(&self) -> impl Iterator<Item = usize> + use<> {
        0..1 << self.at.len()
    }

    /// The name of a form: it says which operands are constants.
    fn name(&self, variant: &Variant, constants: usize) -> Ident {
        let chosen = self.at.iter().enumerate().filter(|(bit, _)| constants >> bit & 1 == 1);
        let names: String = chosen.map(|(_, choice)| choice.name.as_str()).collect();
        match constants {
            0 => variant.ident.clone(),
            _ => Ident::new(&format!("{}Imm{names}", variant.ident), variant.ident.span()),
        }
    }
}

/// The word `InOrImm` with its arguments, if a type is one.
fn of_choice(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Group(group) => of_choice(&group.elem),
        Type::Paren(paren) => of_choice(&paren.elem),
        Type::Path(path) => path.path.segments.last().filter(|last| last.ident == TYPE),
        _ => None,
    }
}

/// `T` and `C` of `InOrImm<T, C>`, where `C` is `T` unless it is said; `None` for other types.
fn types(ty: &Type) -> syn::Result<Option<[Type; 2]>> {
    let Some(last) = of_choice(ty) else { return Ok(None) };
    let usage = || {
        let message =
            format!("say of what type: `{TYPE}<f64>`, or `{TYPE}<u64, f64>` if the constant is of another");
        Error::new(ty.span(), message)
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Err(usage()) };
    let types: Option<Vec<&Type>> = arguments
        .args
        .iter()
        .map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
        .collect();
    match types.as_deref() {
        Some([both]) => Ok(Some([(*both).clone(), (*both).clone()])),
        Some([register, constant]) => Ok(Some([(*register).clone(), (*constant).clone()])),
        _ => Err(usage()),
    }
}

/// A variant for one form.
fn form(variant: &Variant, choices: &Choices, constants: usize) -> Variant {
    let mut form = Variant { ident: choices.name(variant, constants), ..variant.clone() };
    let mut fields: Vec<&mut Field> = form.fields.iter_mut().collect();
    for (bit, Choice { field, types: [register, constant], .. }) in choices.at.iter().enumerate() {
        let field = &mut fields[*field];
        let span = field.ty.span();
        field.ty = Type::Verbatim(match constants >> bit & 1 {
            0 => quote_spanned!(span=> ::azulejo::In<#register>),
            _ => quote_spanned!(span=> ::azulejo::Imm<#constant>),
        });
    }
    if constants != 0 {
        let of = &variant.ident;
        form.attrs.push(syn::parse_quote!(#[bytecode(form_of = #of)]));
    }
    form
}

/// The function that makes an opcode of its operands, in the form that they have.
fn constructor(item: &ItemEnum, variant: &Variant, choices: &Choices) -> TokenStream {
    let (name, visibility) = (&item.ident, &item.vis);
    let attributes = variant.attrs.iter().filter(|attribute| is_kept(attribute));
    let parameter = |number: usize, field: &Field| match &field.ident {
        Some(name) => name.clone(),
        None => format_ident!("operand{number}"),
    };
    let parameters: Vec<Ident> =
        variant.fields.iter().enumerate().map(|(number, field)| parameter(number, field)).collect();
    let types = variant.fields.iter().map(|field| &field.ty);
    let chosen: Vec<&Ident> = choices.at.iter().map(|choice| &parameters[choice.field]).collect();
    let arms = choices.forms().map(|constants| {
        let form = choices.name(variant, constants);
        let patterns = chosen.iter().enumerate().map(|(bit, operand)| match constants >> bit & 1 {
            0 => quote!(::azulejo::InOrImm::In(#operand)),
            _ => quote!(::azulejo::InOrImm::Imm(#operand)),
        });
        let made = match &variant.fields {
            Fields::Named(_) => quote!(#name::#form { #(#parameters),* }),
            _ => quote!(#name::#form(#(#parameters),*)),
        };
        quote!((#(#patterns,)*) => #made,)
    });
    let function = function_name(&variant.ident);
    quote! {
        #(#attributes)*
        #[allow(clippy::too_many_arguments, reason = "an opcode has as many operands as it has")]
        #visibility const fn #function(#(#parameters: #types),*) -> Self {
            match (#(#chosen,)*) { #(#arms)* }
        }
    }
}

/// Whether an attribute of a variant is one of its function, too.
fn is_kept(attribute: &Attribute) -> bool {
    ["doc", "cfg", "allow", "expect", "deprecated"].iter().any(|kept| attribute.path().is_ident(kept))
}

/// `JumpIfLess` as the name of a function: `jump_if_less`.
fn function_name(variant: &Ident) -> Ident {
    let mut name = String::new();
    let written = variant.to_string();
    for (at, letter) in written.trim_start_matches("r#").char_indices() {
        if letter.is_uppercase() && at > 0 {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    named(&name, variant.span())
}

/// A name that may be a word of Rust.
fn named(name: &str, span: Span) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(_) => Ident::new(name, span),
        Err(_) => Ident::new_raw(name, span),
    }
}

/// `left_key` as a part of an opcode's name: `LeftKey`.
fn camel_case(field: &str) -> String {
    let words = field.trim_start_matches("r#").split('_');
    words
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(item: TokenStream) -> String {
        forms(TokenStream::new(), item).to_string()
    }

    #[test]
    fn names_say_which_operands_are_constants() {
        let variant: Variant =
            syn::parse_quote!(JumpIfLess { left_key: InOrImm<f64>, b: InOrImm<u64, f64>, to: Label });
        let choices = Choices::of(&variant).expect("it is right");
        let names: Vec<String> =
            choices.forms().map(|form| choices.name(&variant, form).to_string()).collect();
        assert_eq!(names, ["JumpIfLess", "JumpIfLessImmLeftKey", "JumpIfLessImmB", "JumpIfLessImmLeftKeyB"]);
        assert_eq!(function_name(&variant.ident), "jump_if_less");
        assert_eq!(function_name(&format_ident!("Return")), "r#return");
    }

    #[test]
    fn an_opcode_without_a_choice_is_as_it_was() {
        let text = expanded(quote! { enum Op { Keep = 3, Add { a: In<i64>, b: InOrImm<i64> } } });
        assert!(text.contains("Keep = 3 , Add {"), "{text}");
        assert!(!text.contains("KeepImm"), "{text}");
    }
}
