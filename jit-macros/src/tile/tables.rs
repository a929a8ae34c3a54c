//! Prints a set's tables.

use crate::kept::Kept;
use azulejo_core::grammar::flatten::{FlatRule, ImmKind, Same};
use azulejo_core::grammar::plan::{Plan, Where};
use azulejo_core::grammar::set::{Head, OpTable};
use azulejo_core::vocab::{Class, Sig, Type};
use azulejo_lang::tile::{CompiledSet, Tile};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::BTreeMap;

/// The tables; `operators` is the path of the user's operators.
pub(super) fn tile_set(
    compiled: &CompiledSet,
    machine: &TokenStream,
    operators: Option<&TokenStream>,
    kept: &Kept,
) -> TokenStream {
    let CompiledSet { tables, tiles, .. } = compiled;
    let core = quote!(::azulejo::__private::core);
    let grammar = quote!(#core::grammar);
    let extra = operators.map_or_else(|| quote!(&[]), |path| quote!(#path::ROWS));
    let vocab = quote!(#core::vocab::Vocabulary { extra: #extra });
    let features = &tables.features;
    let infos = tables.tiles.iter().zip(tiles).map(|(plan, tile)| tile_info(plan, tile, machine, kept));
    let rules = tables.rules.iter().map(flat_rule);
    let ops = tables.ops.iter().map(op_table);
    let cells = numbers(&tables.cells);
    let views = numbers(&tables.views);
    let classes = numbers(&tables.classes);
    let heads = tables.heads.iter().map(head);
    let variants = numbers(&tables.variants);
    let sames = tables.sames.iter().map(|Same { bound, again }| {
        let (bound, again) = (numbers(bound), numbers(again));
        quote!(#grammar::flatten::Same { bound: #bound, again: #again })
    });
    let predicates =
        tables.predicates.iter().map(|predicate| variant("Predicate", &format!("{predicate:?}")));
    let constants = numbers(&tables.constants);
    let select = numbers(&tables.select);
    let offsets = numbers(&tables.offsets);
    let states = Literal::usize_unsuffixed(tables.states.states.len());
    quote! {
        #grammar::TileSet {
            vocab: #vocab,
            features: &[#(#features),*],
            tiles: &[#(#infos),*],
            rules: &[#(#rules),*],
            ops: &[#(#ops),*],
            cells: &#cells,
            views: &#views,
            classes: &#classes,
            heads: &[#(#heads),*],
            variants: &#variants,
            sames: &[#(#sames),*],
            predicates: &[#(#predicates),*],
            constants: &#constants,
            select: &#select,
            offsets: &#offsets,
            states: #states,
        }
    }
}

/// A variant of an enum that the grammar module names.
fn variant(ty: &str, variant: &str) -> TokenStream {
    let (ty, variant) = (format_ident!("{ty}"), format_ident!("{variant}"));
    quote!(::azulejo::__private::core::grammar::#ty::#variant)
}

fn numbers<T: Copy + Into<u64>>(items: &[T]) -> TokenStream {
    let items = items.iter().map(|item| Literal::u64_unsuffixed((*item).into()));
    quote!([#(#items),*])
}

fn sig(sig: Sig) -> TokenStream {
    let name = |ty: Type| format_ident!("{}", format!("{ty:?}"));
    let (from, ty) = (name(sig.from), name(sig.ty));
    let vocab = quote!(::azulejo::__private::core::vocab);
    quote!(#vocab::Sig { from: #vocab::Type::#from, ty: #vocab::Type::#ty })
}

fn head(head: &Head) -> TokenStream {
    let Head { op, sig: types, features, same, sames, variants } = head;
    let (op, types) = (Literal::u16_unsuffixed(op.0), sig(*types));
    quote! {
        ::azulejo::__private::core::grammar::set::Head {
            op: ::azulejo::__private::core::vocab::Op(#op),
            sig: #types, features: #features, same: #same, sames: #sames, variants: #variants,
        }
    }
}

fn op_table(table: &OpTable) -> TokenStream {
    let OpTable { arity, base, maps, strides } = table;
    let (maps, strides) = (numbers(maps), numbers(strides));
    quote! {
        ::azulejo::__private::core::grammar::set::OpTable {
            arity: #arity, base: #base, maps: #maps, strides: #strides,
        }
    }
}

fn flat_rule(rule: &FlatRule) -> TokenStream {
    let FlatRule { result, tile, cost, arity, children, order, imm } = rule;
    let (children, order) = (numbers(children), numbers(order));
    let imm = match imm {
        ImmKind::None => quote!(None),
        ImmKind::Plain => quote!(Plain),
        ImmKind::Signed => quote!(Signed),
        ImmKind::Callee => quote!(Callee),
    };
    let flatten = quote!(::azulejo::__private::core::grammar::flatten);
    quote! {
        #flatten::FlatRule {
            result: #result, tile: #tile, cost: #cost, arity: #arity, children: #children, order: #order,
            imm: #flatten::ImmKind::#imm,
        }
    }
}

fn tile_info(plan: &Plan, tile: &Tile, machine: &TokenStream, kept: &Kept) -> TokenStream {
    let core = quote!(::azulejo::__private::core);
    // Each register is a constant of the machine, with the span of the token that names it.
    let registers: BTreeMap<String, TokenStream> = tile
        .registers
        .iter()
        .map(|name| {
            let span = kept.span(name.place);
            let constant = Ident::new(&name.text.to_uppercase(), span);
            (name.text.clone(), quote_spanned!(span => #machine::regs::#constant))
        })
        .collect();
    let place = |place: &Where| match place {
        Where::Reg => quote!(Reg),
        Where::Any => quote!(Any),
        Where::Fixed(name) => {
            let register = &registers[name];
            quote!(Fixed(#register))
        }
        Where::Tied(at) => {
            let operand = at + 1;
            quote!(Tied(#operand))
        }
    };
    let class = |class: Class| {
        let class = format_ident!("{}", format!("{class:?}"));
        quote!(#core::vocab::Class::#class)
    };
    let uses = plan.uses.iter().map(|planned| {
        let (class, place) = (class(planned.class), place(&planned.place));
        let role = if planned.late { quote!(LateUse) } else { quote!(Use) };
        quote! {
            #core::grammar::RegisterUse {
                class: #class,
                role: #core::ir::tiles::Role::#role,
                constraint: #core::ir::tiles::Constraint::#place,
            }
        }
    });
    let Plan { name, pattern, cost, imms, takes_flag, entry, framed, .. } = plan;
    let result = variant("Symbol", &format!("{:?}", plan.result));
    let role = if plan.early { quote!(EarlyDef) } else { quote!(Def) };
    let out = place(&plan.out);
    let temps = plan.temps.iter().map(|temp| class(*temp));
    let clobbers = plan.clobbers.iter().map(|name| &registers[name]);
    quote! {
        #core::grammar::TileInfo {
            name: #name,
            pattern: #pattern,
            cost: #cost,
            result: #result,
            role: #core::ir::tiles::Role::#role,
            out: #core::ir::tiles::Constraint::#out,
            uses: &[#(#uses),*],
            imms: #imms,
            takes_flag: #takes_flag,
            temps: &[#(#temps),*],
            clobbers: #core::target::RegSet::of(&[#(#clobbers),*]),
            entry: #entry,
            framed: #framed,
        }
    }
}
