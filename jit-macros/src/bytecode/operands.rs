//! The fields of an opcode enum as operands.
//!
//! In: a variant. Out: its operands, with which it is an opcode, or errors on the fields that are none.

use azulejo_core::ir::bytecode::OperandKind;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Field, Fields, GenericArgument, Lit, LitInt, PathArguments, Type, Variant};

const SCALARS: &str = "i8 to i64, u8 to u64, isize, usize, f32, f64 or a raw pointer";
const MAX_OPERANDS: usize = azulejo_core::ir::bytecode::MAX_OPERANDS;
const MAX_CASES: usize = azulejo_core::ir::sites::MAX_CASES;

/// An opcode.
pub(super) struct Opcode<'a> {
    pub(super) variant: &'a Variant,
    /// The opcode of which it is a form.
    pub(super) form_of: Option<Ident>,
    pub(super) operands: Vec<Operand>,
}

/// An operand of an opcode.
pub(super) struct Operand {
    /// The field, for use in patterns and expressions.
    pub(super) member: syn::Member,
    pub(super) kind: OperandKind,
    /// The name of its type in templates; `None` for kinds without a type.
    pub(super) scalar: Option<Ident>,
    /// The type as written in the enum.
    pub(super) ty: Option<Type>,
    /// The type of a `Site`'s cases, and how many there may be.
    pub(super) site: Option<(TokenStream, u16)>,
}

/// The operands of an opcode. All errors in them are reported together.
pub(super) fn operands(variant: &Variant) -> syn::Result<Vec<Operand>> {
    let fields = match &variant.fields {
        Fields::Named(fields) => &fields.named,
        Fields::Unnamed(fields) => &fields.unnamed,
        Fields::Unit => return Ok(Vec::new()),
    };
    if fields.len() > MAX_OPERANDS {
        let message =
            format!("an opcode has at most {MAX_OPERANDS} operands; `Regs` names many registers in one");
        return Err(Error::new(variant.ident.span(), message));
    }
    let mut operands = Vec::new();
    let mut errors: Option<Error> = None;
    for (number, field) in fields.iter().enumerate() {
        match operand(number, field) {
            Ok(operand) => operands.push(operand),
            Err(error) => match &mut errors {
                Some(errors) => errors.combine(error),
                None => errors = Some(error),
            },
        }
    }
    errors.map_or(Ok(operands), Err)
}

fn operand(number: usize, field: &Field) -> syn::Result<Operand> {
    let member = match &field.ident {
        Some(name) => syn::Member::Named(name.clone()),
        None => syn::Member::Unnamed(number.into()),
    };
    let not_an_operand = || {
        let message =
            format!("not an operand; the kinds are {}", OperandKind::ALL.map(OperandKind::name).join(", "));
        Error::new(field.ty.span(), message)
    };
    let Type::Path(path) = written(&field.ty) else { return Err(not_an_operand()) };
    let Some(last) = path.path.segments.last() else { return Err(not_an_operand()) };
    if last.ident == crate::forms::TYPE {
        let message =
            format!("`#[forms]` above `#[derive(Bytecode)]` makes opcodes of `{}`", crate::forms::TYPE);
        return Err(Error::new(field.ty.span(), message));
    }
    let Some(kind) = OperandKind::from_name(&last.ident.to_string()) else { return Err(not_an_operand()) };
    if kind == OperandKind::Site {
        return match &last.arguments {
            PathArguments::AngleBracketed(arguments) if arguments.args.len() == 2 => {
                let site = Some((arguments.args[0].to_token_stream(), capacity(&arguments.args[1])?));
                Ok(Operand { member, kind, scalar: None, ty: None, site })
            }
            _ => {
                let message = "say what a case is, and how many there may be: `Site<Case, 4>`";
                Err(Error::new(field.ty.span(), message))
            }
        };
    }
    let takes_scalar = {
        use OperandKind::{Label, Labels, Regs, RegsMut};
        !matches!(kind, Label | Labels | Regs | RegsMut)
    };
    let ty = match (&last.arguments, takes_scalar) {
        (PathArguments::None, false) => None,
        (PathArguments::AngleBracketed(arguments), true) if arguments.args.len() == 1 => {
            match &arguments.args[0] {
                GenericArgument::Type(ty) => Some(written(ty).clone()),
                other => return Err(Error::new(other.span(), format!("an operand's type is {SCALARS}"))),
            }
        }
        (_, true) => {
            let message = format!("say of what type: `{}<i64>`; {SCALARS}", kind.name());
            return Err(Error::new(field.ty.span(), message));
        }
        (_, false) => {
            return Err(Error::new(field.ty.span(), format!("`{}` has no type of its own", kind.name())));
        }
    };
    let scalar = ty.as_ref().map(scalar).transpose()?;
    Ok(Operand { member, kind, scalar, ty, site: None })
}

/// How many cases a site has room for.
fn capacity(written: &GenericArgument) -> syn::Result<u16> {
    fn literal(written: &Expr) -> Option<&LitInt> {
        match written {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Some(number),
            Expr::Group(group) => literal(&group.expr),
            _ => None,
        }
    }
    let number = match written {
        GenericArgument::Const(written) => literal(written),
        _ => None,
    };
    let Some(number) = number else {
        let message =
            "write the number itself: a template has code for each case, and no macro knows what this is";
        return Err(Error::new(written.span(), message));
    };
    match number.base10_parse() {
        Ok(capacity) if (1..=MAX_CASES).contains(&(capacity as usize)) => Ok(capacity),
        _ => Err(Error::new(number.span(), format!("a site has room for 1 to {MAX_CASES} cases"))),
    }
}

/// A type without the invisible group around a fragment of a Rust macro.
fn written(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => written(&group.elem),
        Type::Paren(paren) => written(&paren.elem),
        ty => ty,
    }
}

/// The name of a field's type in templates.
fn scalar(ty: &Type) -> syn::Result<Ident> {
    let refused =
        || Error::new(ty.span(), format!("no VM register holds this; an operand's type is {SCALARS}"));
    match ty {
        Type::Ptr(_) => Ok(Ident::new("ptr", ty.span())),
        Type::Path(path) => {
            let name = path.path.get_ident().ok_or_else(refused)?.to_string();
            let name = match name.as_str() {
                "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "f32" | "f64" => name.as_str(),
                "isize" => "i64",
                "usize" => "u64",
                _ => return Err(refused()),
            };
            Ok(Ident::new(name, ty.span()))
        }
        _ => Err(refused()),
    }
}
