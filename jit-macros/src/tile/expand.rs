//! Generates the expansions of `tile!` and `tileset!`.

use super::ast::{Collected, Group, Header, Tile};
use super::check;
use super::parse::without_dollars;
use crate::operators::Row;
use azulejo_core::grammar::flatten::{FlatRule, ImmKind, Same};
use azulejo_core::grammar::plan::{Plan, Where};
use azulejo_core::grammar::set::{Head, OpTable};
use azulejo_core::grammar::{Grammar, Tables, build};
use azulejo_core::vocab::{Class, Sig, Type, Vocabulary};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::BTreeMap;
use syn::Path;

/// The emitters of a group, and the macro that passes its patterns on.
pub(crate) fn group(group: &Group) -> TokenStream {
    let Group { vis, name, tiles } = group;
    let handing_on = format_ident!("__tiles_{name}");
    let emitters = tiles.iter().map(|tile| &tile.emit);
    let heads = tiles.iter().map(|tile| without_dollars(tile.head.clone()));
    quote! {
        #[doc = "The emitters of this group's tiles, in order."]
        #vis static EMIT: &[::azulejo::__private::machine::EmitFn] = &[#(#emitters),*];

        #[doc(hidden)]
        macro_rules! #handing_on {
            ({ $($header:tt)* } { $($done:tt)* } $($path:tt)*) => {
                ::azulejo::__private::tileset_step! {
                    { $($header)* } { $($done)* group { $($path)* } { #(#heads;)* } }
                }
            };
        }
        #[allow(unused_imports, reason = "a group may be in no set yet")]
        pub(crate) use #handing_on as __tiles;
    }
}

/// Requests the next part of a set.
pub(crate) fn next(header: &Header, done: TokenStream) -> TokenStream {
    let Header { vis, name, extends, machine, features, groups, operators, partial } = header;
    let partial = partial.then(|| quote!(partial;));
    let mut groups = &groups[..];
    let mut extends = extends.as_ref();
    let mut operators = operators.as_ref();
    // Operators come first, since the patterns of all groups may use them. The set's own tiles precede those of the set it
    // extends, so that they win ties in cost.
    let asked = operators.take();
    let call = if let Some(path) = asked {
        quote!(#path::__operators!)
    } else if let Some((first, rest)) = groups.split_first() {
        groups = rest;
        quote!(#first::__tiles!)
    } else if let Some((path, base)) = extends.take() {
        let handing_on = format_ident!("__tiles_{base}", span = base.span());
        quote!(#path::#handing_on!)
    } else {
        quote!(::azulejo::__private::tileset_step!)
    };
    let (to, path) = match (asked, groups.len() < header.groups.len()) {
        (Some(path), _) => (Some(quote!({ ::azulejo::__private::tileset_step })), Some(quote!({ #path }))),
        (None, true) => (None, header.groups.first().map(ToTokens::to_token_stream)),
        (None, false) => (None, None),
    };
    let extends = extends.map(|(path, base)| quote!(extends #path::#base;));
    let operators = operators.map(|path| quote!(operators = #path;));
    quote! {
        #call {
            #to
            {
                #vis static #name:
                #extends #operators #partial
                machine = #machine;
                features = #(#features)*;
                groups = #(#groups)*;
            }
            { #done }
            #path
        }
    }
}

/// The complete set: tables, emitters, and the macro by which another crate extends it.
pub(crate) fn set(header: &Header, parts: Vec<Collected>) -> TokenStream {
    let mut features: Vec<String> = Vec::new();
    let mut emitters = Vec::new();
    let mut tiles: Vec<Tile> = Vec::new();
    let mut own = 0;
    let mut extra = Vec::new();
    let mut operators = None;
    for part in parts {
        let (more, array) = match part {
            Collected::Group { path, tiles } => {
                own += tiles.len();
                (tiles, quote!(#path::EMIT))
            }
            Collected::Set { path, name, features: known, tiles } => {
                features.extend(known.iter().map(Ident::to_string));
                (tiles, quote!(#path::#name.emit))
            }
            Collected::Operators { path, rows } => {
                extra = rows.iter().map(Row::info).collect();
                operators = Some(path);
                continue;
            }
        };
        emitters.extend((0..more.len()).map(|at| {
            let at = Literal::usize_unsuffixed(at);
            quote!(#array[#at])
        }));
        tiles.extend(more);
    }
    for feature in &header.features {
        if !features.contains(&feature.to_string()) {
            features.push(feature.to_string());
        }
    }
    let grammar = Grammar {
        vocab: Vocabulary { extra: Vec::leak(extra) },
        features,
        rules: tiles.iter().map(|tile| tile.rule.clone()).collect(),
        complete: !header.partial,
        own,
    };
    let Header { vis, name, machine, .. } = header;
    let core = quote!(::azulejo::__private::core);
    let tables = match build(&grammar) {
        Ok(tables) => tables,
        Err(refusals) => {
            let errors =
                check::errors(header, &grammar, &tiles, &refusals).map(syn::Error::into_compile_error);
            // A well-formed set takes its place, so that its users do not report further errors.
            let empty = Grammar { rules: Vec::new(), complete: false, ..grammar };
            let Ok(tables) = build(&empty) else { return errors.unwrap_or_default() };
            let set = tile_set(&tables, machine, &[], operators.as_ref());
            return quote! {
                #errors
                #vis static #name: #machine::Set = {
                    static TABLES: #core::grammar::TileSet = #set;
                    #machine::Set { tables: &TABLES, emit: &[], rows: "" }
                };
            };
        }
    };
    let set = tile_set(&tables, machine, &tiles, operators.as_ref());
    let rows: String = grammar.rules.iter().map(|rule| format!("{rule}\n")).collect();
    let exported = export(header, &grammar, &tiles);
    quote! {
        #[doc = "The tiles and the tables to choose among them."]
        #vis static #name: #machine::Set = {
            static TABLES: #core::grammar::TileSet = #set;
            #machine::Set { tables: &TABLES, emit: &[#(#emitters),*], rows: #rows }
        };
        #exported
    }
}

/// The macro by which a set in another crate extends this one.
fn export(header: &Header, grammar: &Grammar, tiles: &[Tile]) -> TokenStream {
    // The user's operators are known only in the crate that defines them, so sets with such operators are not exported.
    if !matches!(header.vis, syn::Visibility::Public(_)) || !grammar.vocab.extra.is_empty() {
        return TokenStream::new();
    }
    let name = &header.name;
    let handing_on = format_ident!("__tiles_{name}");
    let features = grammar.features.iter().map(|feature| format_ident!("{feature}"));
    let heads = tiles.iter().map(|tile| without_dollars(tile.head.clone()));
    quote! {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! #handing_on {
            ({ $($header:tt)* } { $($done:tt)* }) => {
                ::azulejo::__private::tileset_step! {
                    { $($header)* }
                    { $($done)* set { $crate; #name } { #(#features)* } { #(#heads;)* } }
                }
            };
        }
    }
}

fn tile_set(tables: &Tables, machine: &Path, tiles: &[Tile], operators: Option<&Path>) -> TokenStream {
    let core = quote!(::azulejo::__private::core);
    let grammar = quote!(#core::grammar);
    let extra = operators.map_or_else(|| quote!(&[]), |path| quote!(#path::ROWS));
    let vocab = quote!(#core::vocab::Vocabulary { extra: #extra });
    let features = &tables.features;
    let infos = tables.tiles.iter().zip(tiles).map(|(plan, tile)| tile_info(plan, tile, machine));
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

fn tile_info(plan: &Plan, tile: &Tile, machine: &Path) -> TokenStream {
    let core = quote!(::azulejo::__private::core);
    // Each register is a constant of the machine, with the span of the token that names it.
    let registers: BTreeMap<String, TokenStream> = tile
        .registers
        .iter()
        .map(|name| {
            let constant = Ident::new(&name.to_string().to_uppercase(), name.span());
            let path = machine.to_token_stream();
            (name.to_string(), quote_spanned!(name.span() => #path::regs::#constant))
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
    let Plan { name, pattern, cost, imms, takes_flag, entry, .. } = plan;
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
        }
    }
}
