//! Generates Rust for checked rules.
//!
//! Each form of a rule becomes a function that matches from the root down and builds the right side. One function for each root
//! operator calls them, branching as the [`Dispatch`] says.

use crate::kept::Kept;
use azulejo_core::vocab::op::Param;
use azulejo_core::vocab::{Op, Type, Vocabulary};
use azulejo_lang::rewrite::ast::{Literal, Rules};
use azulejo_lang::rewrite::rule::{BoundConstant, Built, Matched, MatchedConstant, MatchedNode, Value};
use azulejo_lang::rewrite::{Dispatch, Rule, dispatch};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// The static that holds the rules.
pub(crate) fn expand(rules: &Rules, checked: &[Rule], kept: &Kept) -> TokenStream {
    let [attributes, visibility] = [&rules.attributes, &rules.visibility].map(|tokens| kept.print(tokens));
    let name = kept.print(std::slice::from_ref(&rules.name));
    let mut functions = Vec::new();
    let mut cases = Vec::new();
    for (number, rule) in checked.iter().enumerate() {
        for (at, form) in rule.forms.iter().enumerate() {
            let Matched::Node(root) = form else { unreachable!("a rule's root is a node") };
            functions.push(Matching::new(rule, kept).function(&form_name((number, at)), root));
        }
        let case = self::case(rule, number);
        functions.push(case.0);
        cases.push(case.1);
    }
    let mut arms = Vec::new();
    for (op, tree) in dispatch(checked) {
        let function = format_ident!("root_{}", Vocabulary::BUILTIN.info(op).name);
        let (op, body) = (op.0, branch(&tree));
        functions.push(quote! {
            fn #function(graph: &mut Graph, node: Node) -> Option<Node> { #body }
        });
        arms.push(quote!(Op(#op) => #function(graph, node),));
    }
    quote! {
        #attributes
        #visibility static #name: ::azulejo::__private::core::pass::rewrite::Rules = {
            #[allow(unused_imports, reason = "which are used depends on the rules")]
            use ::azulejo::__private::core::{
                ir::{graph::Graph, index::Node},
                pass::rewrite::{Case, CaseConstant, Rules, predicate},
                vocab::{Op, Sig, Type},
            };
            #(#functions)*
            fn matcher(graph: &mut Graph, node: Node) -> Option<Node> {
                match graph.node(node).op {
                    #(#arms)*
                    _ => None,
                }
            }
            Rules { matcher, cases: &[#(#cases),*] }
        };
    }
}

fn ty(ty: Type) -> TokenStream {
    let name = Ident::new(&format!("{ty:?}"), Span::call_site());
    quote!(Type::#name)
}

/// The name of the function for a form of a rule.
fn form_name((rule, form): (usize, usize)) -> Ident {
    format_ident!("rule_{rule}_{form}")
}

/// The branches for a decision tree.
fn branch(tree: &Dispatch) -> TokenStream {
    match tree {
        Dispatch::Try(forms) => {
            let mut names = forms.iter().copied().map(form_name);
            let Some(first) = names.next() else { return quote!(None) };
            quote!(#first(graph, node) #(.or_else(|| #names(graph, node)))*)
        }
        Dispatch::Branch { operand, arms, otherwise } => {
            let arms = arms.iter().map(|(Op(op), rest)| {
                let rest = branch(rest);
                quote!(Op(#op) => { #rest })
            });
            let otherwise = branch(otherwise);
            quote! {
                match graph.node(graph.inputs(node)[#operand]).op {
                    #(#arms)*
                    _ => { #otherwise }
                }
            }
        }
    }
}

/// The state of generating the function for one form.
struct Matching<'a> {
    rule: &'a Rule,
    kept: &'a Kept,
    code: TokenStream,
    is_leaf_bound: Vec<bool>,
    is_constant_bound: Vec<bool>,
    is_type_bound: Vec<bool>,
    n_nodes: usize,
    n_built: usize,
}

fn leaf(number: usize) -> Ident {
    format_ident!("leaf_{number}")
}

fn constant(number: usize) -> Ident {
    format_ident!("constant_{number}")
}

fn type_name(number: usize) -> Ident {
    format_ident!("ty_{number}")
}

impl<'a> Matching<'a> {
    fn new(rule: &'a Rule, kept: &'a Kept) -> Matching<'a> {
        Matching {
            rule,
            kept,
            code: TokenStream::new(),
            is_leaf_bound: vec![false; rule.leaves.len()],
            is_constant_bound: vec![false; rule.constants.len()],
            is_type_bound: vec![false; rule.n_types],
            n_nodes: 0,
            n_built: 0,
        }
    }

    fn function(mut self, name: &Ident, root: &MatchedNode) -> TokenStream {
        self.node(root, quote!(node), true);
        self.assignment();
        for condition in &self.rule.conditions {
            let condition = value(self.rule, condition, self.kept);
            self.code.extend(quote!(if !#condition { return None; }));
        }
        let result = match &self.rule.right {
            Built::Node { operands, from, .. } if self.rule.in_place => {
                let operands: Vec<TokenStream> = operands.iter().map(|operand| self.build(operand)).collect();
                let from = type_of(self.rule, *from);
                quote!({
                    graph.set_inputs(node, &[#(#operands),*]);
                    graph.nodes[node.at()].sig.from = #from;
                    node
                })
            }
            right => self.build(right),
        };
        let code = self.code;
        quote! {
            #[allow(unused_variables, clippy::all, reason = "one pattern of code fits all rules")]
            fn #name(graph: &mut Graph, node: Node) -> Option<Node> {
                let origin = graph.node(node).origin;
                #code
                Some(#result)
            }
        }
    }

    /// The type of a variable, if it is the same in all assignments.
    fn only_type(&self, var: usize) -> Option<Type> {
        only_type(self.rule, var)
    }

    fn bind_type(&mut self, var: usize, found: TokenStream) {
        let name = type_name(var);
        if let Some(only) = self.only_type(var) {
            let only = ty(only);
            self.code.extend(quote!(if #found != #only { return None; }));
        } else if std::mem::replace(&mut self.is_type_bound[var], true) {
            self.code.extend(quote!(if #found != #name { return None; }));
        } else {
            self.code.extend(quote!(let #name = #found;));
        }
    }

    fn node(&mut self, node: &MatchedNode, place: TokenStream, is_root: bool) {
        let (at, data) = (format_ident!("node_{}", self.n_nodes), format_ident!("data_{}", self.n_nodes));
        self.n_nodes += 1;
        self.code.extend(quote! {
            let #at = #place;
            let #data = *graph.node(#at);
        });
        if !is_root {
            let op = node.op.0;
            self.code.extend(quote!(if #data.op != Op(#op) { return None; }));
        }
        if let Some(capture) = node.capture {
            let name = format_ident!("capture_{capture}");
            self.code.extend(quote!(let #name = #at;));
        }
        self.bind_type(node.ty, quote!(#data.sig.ty));
        self.bind_type(node.from, quote!(#data.sig.from));
        if let Some(imm) = &node.imm {
            self.constant(node.op, imm, &data);
        }
        for (index, operand) in node.operands.iter().enumerate() {
            let place = quote!(graph.inputs(#at)[#index]);
            match operand {
                Matched::Leaf { number, must_vary } => {
                    let name = leaf(*number);
                    if *must_vary {
                        self.code.extend(quote!(if graph.as_const(#place).is_some() { return None; }));
                    }
                    if std::mem::replace(&mut self.is_leaf_bound[*number], true) {
                        self.code.extend(quote!(if #place != #name { return None; }));
                    } else {
                        self.code.extend(quote!(let #name = #place;));
                    }
                }
                Matched::Node(inner) => self.node(inner, place, false),
            }
        }
    }

    fn constant(&mut self, op: Op, matched: &MatchedConstant, data: &Ident) {
        let is_value = op == Op::CONST;
        let found = if is_value { quote!(#data.sig.ty.signed(#data.imm)) } else { quote!(#data.imm as i64) };
        match matched {
            MatchedConstant::Any(number) => {
                let name = constant(*number);
                self.code.extend(quote!(let #name = #found;));
            }
            MatchedConstant::Is(Literal::Int(wanted)) if is_value => {
                self.code.extend(quote! {
                    if #data.imm != #data.sig.ty.truncate(#wanted as u64) { return None; }
                });
            }
            MatchedConstant::Is(Literal::Int(wanted)) => {
                self.code.extend(quote!(if #data.imm != #wanted as u64 { return None; }));
            }
            MatchedConstant::Is(Literal::Float(wanted)) => {
                self.code.extend(quote! {
                    if #data.imm != predicate::float_bits(#data.sig.ty, #wanted) { return None; }
                });
            }
            MatchedConstant::Bind { number, predicate } => {
                let name = constant(*number);
                if std::mem::replace(&mut self.is_constant_bound[*number], true) {
                    self.code.extend(quote!(if #found != #name { return None; }));
                } else {
                    self.code.extend(quote!(let #name: i64 = #found;));
                }
                if let Some(predicate) = predicate {
                    let ty = if is_value { quote!(#data.sig.ty) } else { quote!(Type::I64) };
                    let predicate = format_ident!("{}", predicate.name());
                    self.code.extend(quote!(if !predicate::#predicate(#ty, #name) { return None; }));
                }
            }
        }
    }

    /// Emits the check that the types are one of the legal assignments.
    fn assignment(&mut self) {
        let free: Vec<usize> = (0..self.rule.n_types).filter(|var| self.only_type(*var).is_none()).collect();
        if free.is_empty() {
            return;
        }
        let names = free.iter().map(|var| type_name(*var));
        let allowed = self.rule.assignments.iter().map(|types| {
            let types = free.iter().map(|var| ty(types[*var]));
            quote!((#(#types),*))
        });
        self.code.extend(quote! {
            if !matches!((#(#names),*), #(#allowed)|*) { return None; }
        });
    }

    fn build(&mut self, built: &Built) -> TokenStream {
        let (made, name) = match built {
            Built::Leaf(number) => {
                let name = leaf(*number);
                return quote!(#name);
            }
            Built::Capture(number) => {
                let name = format_ident!("capture_{number}");
                return quote!(#name);
            }
            Built::Constant { ty, value } => {
                let bits = bits(self.rule, *ty, value, self.kept);
                let ty = type_of(self.rule, *ty);
                (quote!(graph.constant(#ty, #bits, origin)), self.n_built)
            }
            Built::Node { op, from, ty, operands, imm } => {
                let operands: Vec<TokenStream> = operands.iter().map(|operand| self.build(operand)).collect();
                let op = op.0;
                let (from, ty) = (type_of(self.rule, *from), type_of(self.rule, *ty));
                let imm = imm.as_ref().map_or(quote!(0), |imm| {
                    let imm = value(self.rule, imm, self.kept);
                    quote!((#imm) as u64)
                });
                let sig = quote!(Sig { from: #from, ty: #ty });
                (quote!(graph.add_normal(Op(#op), #sig, &[#(#operands),*], #imm, origin)), self.n_built)
            }
        };
        let name = format_ident!("built_{name}");
        self.n_built += 1;
        self.code.extend(quote!(let #name = #made;));
        quote!(#name)
    }
}

fn only_type(rule: &Rule, var: usize) -> Option<Type> {
    let first = rule.assignments[0][var];
    rule.assignments.iter().all(|types| types[var] == first).then_some(first)
}

fn type_of(rule: &Rule, var: usize) -> TokenStream {
    match only_type(rule, var) {
        Some(only) => ty(only),
        None => {
            let name = type_name(var);
            quote!(#name)
        }
    }
}

/// A constant expression, as an `i64` or as an argument of a function.
fn value(rule: &Rule, expression: &Value, kept: &Kept) -> TokenStream {
    match expression {
        Value::Literal(Literal::Int(value)) => quote!(#value),
        Value::Literal(Literal::Float(value)) => quote!(#value),
        Value::Constant(number) => {
            let name = constant(*number);
            quote!(#name)
        }
        Value::Type(var) => type_of(rule, *var),
        Value::Call { path, arguments } => {
            let arguments = arguments.iter().map(|argument| value(rule, argument, kept));
            let path = kept.print(path);
            quote!(#path(#(#arguments),*))
        }
    }
}

/// A constant expression as the bits of a type.
fn bits(rule: &Rule, var: usize, expression: &Value, kept: &Kept) -> TokenStream {
    let value = value(rule, expression, kept);
    match expression {
        Value::Literal(Literal::Float(_)) => {
            let ty = type_of(rule, var);
            quote!(predicate::float_bits(#ty, #value))
        }
        _ => quote!((#value) as u64),
    }
}

/// The data for testing a rule: a function that builds the left side, and the table row that refers to it.
fn case(rule: &Rule, number: usize) -> (TokenStream, TokenStream) {
    let (left, apply) = (format_ident!("left_{number}"), format_ident!("apply_{number}"));
    let Matched::Node(root) = &rule.forms[0] else { unreachable!("a rule's root is a node") };
    let (built, op) = (left_side(root), root.op.0);
    let mut others = (0..rule.forms.len()).map(|form| form_name((number, form)));
    let first = others.next().expect("a rule has a form");
    let functions = quote! {
        #[allow(unused_variables, reason = "one pattern of code fits all rules")]
        fn #left(graph: &mut Graph, types: &[Type], leaves: &[Node], constants: &[i64]) -> Node { #built }
        fn #apply(graph: &mut Graph, node: Node) -> Option<Node> {
            if graph.node(node).op != Op(#op) {
                return None;
            }
            #first(graph, node) #(.or_else(|| #others(graph, node)))*
        }
    };
    let text = &rule.text;
    let types = rule.assignments.iter().map(|types| {
        let types = types.iter().map(|one| ty(*one));
        quote!(&[#(#types),*])
    });
    let leaves = &rule.leaves;
    let constants = rule.constants.iter().map(|BoundConstant { ty, param }| match param {
        None => quote!(CaseConstant::Value { ty: #ty }),
        Some(Param::Scale) => quote!(CaseConstant::Scale),
        Some(_) => quote!(CaseConstant::Offset),
    });
    let in_place = rule.in_place;
    let row = quote! {
        Case {
            text: #text,
            types: &[#(#types),*],
            leaves: &[#(#leaves),*],
            constants: &[#(#constants),*],
            in_place: #in_place,
            left: #left,
            apply: #apply,
        }
    };
    (functions, row)
}

fn left_side(node: &MatchedNode) -> TokenStream {
    let operands: Vec<TokenStream> = node
        .operands
        .iter()
        .map(|operand| match operand {
            Matched::Leaf { number, .. } => quote!(leaves[#number]),
            Matched::Node(inner) => left_side(inner),
        })
        .collect();
    let names: Vec<Ident> = (0..operands.len()).map(|at| format_ident!("operand_{at}")).collect();
    let (op, from, ty) = (node.op.0, node.from, node.ty);
    let imm = match &node.imm {
        None => quote!(0),
        Some(MatchedConstant::Any(number) | MatchedConstant::Bind { number, .. }) => {
            quote!(constants[#number] as u64)
        }
        Some(MatchedConstant::Is(Literal::Int(value))) => quote!(#value as u64),
        Some(MatchedConstant::Is(Literal::Float(value))) => quote!(predicate::float_bits(types[#ty], #value)),
    };
    let imm = if node.op == Op::CONST { quote!(types[#ty].truncate(#imm)) } else { imm };
    quote! {{
        #(let #names = #operands;)*
        let sig = Sig { from: types[#from], ty: types[#ty] };
        graph.add(Op(#op), sig, &[#(#names),*], #imm, 0)
    }}
}
