//! Assembles programs of the machine.
//!
//! In: text. Out: its functions, or an error with its line number.
//!
//! ```text
//! # A comment goes to the end of the line.
//! function power(x, n)             the parameters are the first registers
//!         const   result, 1        what is named first gets the next register
//! again:  mul     result, result, x
//!         add     n, n, -1         a number instead of the last operand of `add`
//!         less    zero, n, again   jumps, if so
//!         call    y, power, x, n   functions are called by name, wherever they stand
//!         return  result
//! ```

use crate::machine::{Function, Op};
use azulejo::prelude::*;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// An error in a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The line, counted from one.
    pub(crate) line: usize,
    /// The message, which names the alternatives.
    pub(crate) what: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// The mnemonics, with their operands.
pub(crate) const INSTRUCTIONS: &[(&str, &str)] = &[
    ("const", "register, number"),
    ("move", "register, register"),
    ("add", "register, register, register or number"),
    ("sub", "register, register, register"),
    ("mul", "register, register, register"),
    ("div", "register, register, register"),
    ("rem", "register, register, register"),
    ("and", "register, register, register"),
    ("or", "register, register, register"),
    ("xor", "register, register, register"),
    ("shl", "register, register, register"),
    ("shr", "register, register, register"),
    ("constf", "register, number"),
    ("addf", "register, register, register"),
    ("subf", "register, register, register"),
    ("mulf", "register, register, register"),
    ("divf", "register, register, register"),
    ("sqrtf", "register, register"),
    ("tofloat", "register, register"),
    ("toint", "register, register"),
    ("load", "register, address, offset"),
    ("store", "address, register, offset"),
    ("loadf", "register, address, offset"),
    ("storef", "address, register, offset"),
    ("jump", "label"),
    ("less", "register, register, label"),
    ("lessequal", "register, register, label"),
    ("equal", "register, register, label"),
    ("notequal", "register, register, label"),
    ("lessf", "register, register, label"),
    ("call", "register, function, registers"),
    ("print", "register"),
    ("return", "register"),
    ("returnf", "register"),
];

/// Assembles the functions of a program.
pub(crate) fn assemble(text: &str) -> Result<Vec<Function>, Wrong> {
    let lines = || text.lines().enumerate().map(|(at, line)| (at + 1, before_comment(line)));
    let mut functions = HashMap::new();
    let mut names = Vec::new();
    for (line, text) in lines() {
        if let Some(head) = head(text) {
            let (name, _) = signature(head).map_err(|what| Wrong { line, what })?;
            if functions.insert(name, names.len() as u32).is_some() {
                return Err(Wrong { line, what: format!("there is another function `{name}`") });
            }
            names.push(name);
        }
    }
    let mut done = Vec::new();
    let mut body: Option<Body<'_>> = None;
    for (line, text) in lines() {
        let wrong = |what| Wrong { line, what };
        if let Some(head) = head(text) {
            done.extend(body.take().map(Body::finish).transpose()?);
            body = Some(Body::new(head, &functions).map_err(wrong)?);
        } else if !text.is_empty() {
            let body =
                body.as_mut().ok_or_else(|| wrong("a program starts with `function name(…)`".into()))?;
            body.line(line, text).map_err(wrong)?;
        }
    }
    done.extend(body.map(Body::finish).transpose()?);
    if done.is_empty() {
        return Err(Wrong {
            line: 1,
            what: "there is no function; one starts with `function name(…)`".into(),
        });
    }
    Ok(done)
}

fn before_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or(line).trim()
}

fn head(line: &str) -> Option<&str> {
    line.strip_prefix("function").filter(|rest| rest.starts_with(char::is_whitespace))
}

/// Splits a function's head into its name and its parameter list.
fn signature(head: &str) -> Result<(&str, &str), String> {
    let parts = head.trim().strip_suffix(')').and_then(|head| head.split_once('('));
    let (name, parameters) = parts.ok_or("a function starts as in `function power(x, n)`")?;
    Ok((word(name.trim())?, parameters))
}

/// Checks that text is a name.
fn word(text: &str) -> Result<&str, String> {
    let is_right = text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && text.chars().all(|char| char.is_alphanumeric() || "_.".contains(char));
    if is_right { Ok(text) } else { Err(format!("`{text}` is not a name")) }
}

/// A function under construction.
struct Body<'a> {
    name: &'a str,
    functions: &'a HashMap<&'a str, u32>,
    code: Vec<Op>,
    registers: HashMap<&'a str, u32>,
    n_registers: u32,
    labels: HashMap<&'a str, u32>,
    /// Jumps to be resolved: the index, the label, and the line of each.
    jumps: Vec<(usize, &'a str, usize)>,
}

impl<'a> Body<'a> {
    fn new(head: &'a str, functions: &'a HashMap<&'a str, u32>) -> Result<Body<'a>, String> {
        let (name, parameters) = signature(head)?;
        let mut body = Body {
            name,
            functions,
            code: Vec::new(),
            registers: HashMap::new(),
            n_registers: 0,
            labels: HashMap::new(),
            jumps: Vec::new(),
        };
        for parameter in parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty()) {
            if body.registers.contains_key(parameter) {
                return Err(format!("there is another parameter `{parameter}`"));
            }
            body.output(parameter)?;
        }
        Ok(body)
    }

    /// The register for a result. A new name gets the next register.
    fn output(&mut self, name: &'a str) -> Result<u32, String> {
        if let Some(register) = self.registers.get(name) {
            return Ok(*register);
        }
        let register = self.fresh();
        self.registers.insert(word(name)?, register);
        Ok(register)
    }

    fn fresh(&mut self) -> u32 {
        self.n_registers += 1;
        self.n_registers - 1
    }

    fn line(&mut self, number: usize, mut text: &'a str) -> Result<(), String> {
        if let Some((label, rest)) = text.split_once(':') {
            if self.labels.insert(word(label.trim())?, self.code.len() as u32).is_some() {
                return Err(format!("the label `{label}` is here twice"));
            }
            text = rest.trim();
        }
        if text.is_empty() {
            return Ok(());
        }
        let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let operands: Vec<&str> =
            rest.split(',').map(str::trim).filter(|operand| !operand.is_empty()).collect();
        let mut operands = Operands { body: self, mnemonic, line: number, operands, at: 0 };
        let op = operands.instruction()?;
        operands.end()?;
        self.code.push(op);
        Ok(())
    }

    fn finish(mut self) -> Result<Function, Wrong> {
        for (at, label, line) in self.jumps {
            let to = self.labels.get(label).copied();
            let to = to.ok_or_else(|| Wrong {
                line,
                what: format!("there is no label `{label}` in `{}`", self.name),
            })?;
            set_label(&mut self.code[at], Label(to));
        }
        Ok(Function { name: self.name.to_string(), code: self.code, registers: self.n_registers })
    }
}

/// Sets the target of a jump.
fn set_label(op: &mut Op, label: Label) {
    match op {
        Op::Jump { to }
        | Op::JumpLess { to, .. }
        | Op::JumpLessEqual { to, .. }
        | Op::JumpEqual { to, .. }
        | Op::JumpNotEqual { to, .. }
        | Op::JumpLessF { to, .. } => *to = label,
        _ => unreachable!("only jumps are kept for their labels"),
    }
}

/// The operands of an instruction, consumed in order.
struct Operands<'a, 'b> {
    body: &'b mut Body<'a>,
    mnemonic: &'a str,
    line: usize,
    operands: Vec<&'a str>,
    at: usize,
}

impl<'a> Operands<'a, '_> {
    /// Parses the instruction. Operands are consumed in source order.
    fn instruction(&mut self) -> Result<Op, String> {
        let mnemonic = self.mnemonic;
        /// An instruction with a result and two operands.
        macro_rules! binary {
            ($name:ident) => {{
                let (dst, a, b) = self.binary()?;
                Op::$name { dst: dst.into(), a: a.into(), b: b.into() }
            }};
        }
        macro_rules! unary {
            ($name:ident) => {{
                let (dst, a) = self.unary()?;
                Op::$name { dst: dst.into(), a: a.into() }
            }};
        }
        macro_rules! jump {
            ($name:ident) => {
                Op::$name { a: self.input()?.into(), b: self.input()?.into(), to: self.label()? }
            };
        }
        Ok(match mnemonic {
            "const" => Op::Const { dst: self.output()?.into(), value: Imm(self.number()?) },
            "constf" => Op::ConstF { dst: self.output()?.into(), value: Imm(self.number()?) },
            "move" => unary!(Move),
            "add" if self.operands.get(2).is_some_and(|last| is_number(last)) => {
                let (dst, a) = self.unary()?;
                Op::AddConst { dst: dst.into(), a: a.into(), k: Imm(self.number()?) }
            }
            "add" => binary!(Add),
            "sub" => binary!(Sub),
            "mul" => binary!(Mul),
            "div" => binary!(Div),
            "rem" => binary!(Rem),
            "and" => binary!(And),
            "or" => binary!(Or),
            "xor" => binary!(Xor),
            "shl" => binary!(Shl),
            "shr" => binary!(Shr),
            "addf" => binary!(AddF),
            "subf" => binary!(SubF),
            "mulf" => binary!(MulF),
            "divf" => binary!(DivF),
            "sqrtf" => unary!(SqrtF),
            "tofloat" => unary!(ToFloat),
            "toint" => unary!(ToInt),
            "load" | "loadf" => {
                let (dst, at, offset) = (self.next()?, self.input()?.into(), Imm(self.number()?));
                let dst = self.body.output(dst)?;
                match mnemonic {
                    "load" => Op::Load { dst: dst.into(), at, offset },
                    _ => Op::LoadF { dst: dst.into(), at, offset },
                }
            }
            "store" => {
                Op::Store { at: self.input()?.into(), a: self.input()?.into(), offset: Imm(self.number()?) }
            }
            "storef" => {
                Op::StoreF { at: self.input()?.into(), a: self.input()?.into(), offset: Imm(self.number()?) }
            }
            "jump" => Op::Jump { to: self.label()? },
            "less" => jump!(JumpLess),
            "lessequal" => jump!(JumpLessEqual),
            "equal" => jump!(JumpEqual),
            "notequal" => jump!(JumpNotEqual),
            "lessf" => jump!(JumpLessF),
            "call" => self.call()?,
            "print" => Op::Print { a: self.input()?.into() },
            "return" => Op::Return { a: self.input()?.into() },
            "returnf" => Op::ReturnF { a: self.input()?.into() },
            _ => {
                let names: Vec<&str> = INSTRUCTIONS.iter().map(|(name, _)| *name).collect();
                return Err(format!("there is no instruction `{mnemonic}`; there are {}", names.join(" ")));
            }
        })
    }

    fn unary(&mut self) -> Result<(u32, u32), String> {
        let (dst, a) = (self.next()?, self.input()?);
        Ok((self.body.output(dst)?, a))
    }

    fn binary(&mut self) -> Result<(u32, u32, u32), String> {
        // Operands are resolved before the result, since a name must be defined by an earlier instruction.
        let (dst, a, b) = (self.next()?, self.input()?, self.input()?);
        Ok((self.body.output(dst)?, a, b))
    }

    /// A call. The arguments are moved to consecutive registers.
    fn call(&mut self) -> Result<Op, String> {
        let (dst, name) = (self.next()?, self.next()?);
        let function = self.body.functions.get(name).copied();
        let function = function.ok_or_else(|| format!("there is no function `{name}`"))?;
        let mut arguments = Vec::new();
        while self.at < self.operands.len() {
            arguments.push(self.input()?);
        }
        let first = self.body.n_registers;
        for &argument in &arguments {
            let place = self.body.fresh();
            self.body.code.push(Op::Move { dst: place.into(), a: argument.into() });
        }
        let args =
            Regs { first: if arguments.is_empty() { 0 } else { first }, count: arguments.len() as u32 };
        Ok(Op::Call { dst: self.body.output(dst)?.into(), f: Imm(function), args })
    }

    fn output(&mut self) -> Result<u32, String> {
        let name = self.next()?;
        self.body.output(name)
    }

    fn input(&mut self) -> Result<u32, String> {
        let name = self.next()?;
        self.body.registers.get(name).copied().ok_or_else(|| {
            let what =
                if is_number(name) { "is a number, and a register is wanted" } else { "has no value yet" };
            format!("`{name}` {what}")
        })
    }

    fn number<T: FromStr>(&mut self) -> Result<T, String> {
        let text = self.next()?;
        text.parse().map_err(|_| format!("`{text}` is not a number that fits"))
    }

    fn label(&mut self) -> Result<Label, String> {
        let name = self.next()?;
        self.body.jumps.push((self.body.code.len(), name, self.line));
        Ok(Label(0))
    }

    fn next(&mut self) -> Result<&'a str, String> {
        let operand =
            self.operands.get(self.at).copied().ok_or_else(|| self.usage("is missing an operand"))?;
        self.at += 1;
        Ok(operand)
    }

    fn end(&self) -> Result<(), String> {
        if self.at == self.operands.len() { Ok(()) } else { Err(self.usage("has too many operands")) }
    }

    fn usage(&self, what: &str) -> String {
        let usage =
            INSTRUCTIONS.iter().find(|(name, _)| *name == self.mnemonic).map_or("", |(_, usage)| usage);
        format!("`{}` {what}: `{} {usage}`", self.mnemonic, self.mnemonic)
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}
