//! Checks the clauses of tiles and converts them to the form that the users of the tables read.

use super::error::{Problem, Refusal, RulePart};
use super::pattern::{Clause, Grammar, Pattern, PatternShape, Place, Rule, Symbol, has_imm};
use crate::vocab::{Class, Vocabulary};

/// The constraint on an operand or a result; registers are still names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Where {
    /// In any register.
    Reg,
    /// In a register or its slot.
    Any,
    /// In this register.
    Fixed(String),
    /// A result: in the register of the operand with this number.
    Tied(u8),
}

/// An operand in a register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedUse {
    /// Its class.
    pub class: Class,
    /// Whether it is read until the end.
    pub late: bool,
    /// Where it must be.
    pub place: Where,
}

/// A tile with the content of [`super::TileInfo`], but with owned parts, and with registers as names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// The pattern that it covers, as text.
    pub pattern: String,
    /// Its cost.
    pub cost: u16,
    /// The symbol that it yields.
    pub result: Symbol,
    /// Whether the result is written before the operands are read.
    pub early: bool,
    /// The constraint on the result.
    pub out: Where,
    /// The operands that it reads from registers, in pattern order.
    pub uses: Vec<PlannedUse>,
    /// The number of constants that its emit function is passed.
    pub imms: u8,
    /// Whether it consumes a flag.
    pub takes_flag: bool,
    /// Scratch registers.
    pub temps: Vec<Class>,
    /// The registers that it clobbers besides its result.
    pub clobbers: Vec<String>,
    /// Whether the result exists when the function is entered.
    pub entry: bool,
    /// Whether its code uses the function's frame.
    pub framed: bool,
}

/// The plan of every tile, or all refusals of their clauses.
pub fn plan(grammar: &Grammar) -> Result<Vec<Plan>, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut plans: Vec<Plan> = Vec::new();
    for (at, rule) in grammar.rules.iter().enumerate() {
        let mut refuse = |part, problem| refusals.push(Refusal { rule: Some(at), part, problem });
        if plans.iter().any(|plan| plan.name == rule.name) {
            refuse(RulePart::Name, Problem::SameName(rule.name.clone()));
        }
        plans.push(tile(grammar.vocab, rule, &mut refuse));
    }
    if refusals.is_empty() { Ok(plans) } else { Err(refusals) }
}

fn tile(vocab: Vocabulary, rule: &Rule, refuse: &mut impl FnMut(RulePart, Problem)) -> Plan {
    let mut plan = Plan {
        name: rule.name.clone(),
        pattern: rule.pattern.to_string(),
        cost: rule.cost,
        result: rule.result,
        early: false,
        out: Where::Reg,
        uses: Vec::new(),
        imms: 0,
        takes_flag: false,
        temps: Vec::new(),
        clobbers: Vec::new(),
        entry: false,
        framed: false,
    };
    walk(vocab, &rule.pattern, &mut plan, refuse);
    for (at, clause) in rule.clauses.iter().enumerate() {
        let uses = plan.uses.len();
        let named = match clause {
            Clause::Tied(found) | Clause::Late(found) | Clause::Any(found) => Some(*found),
            Clause::Fixed(Place::Use(found), _) => Some(*found),
            _ => None,
        };
        if let Some(found) = named.filter(|found| *found as usize >= uses) {
            refuse(RulePart::Clause(at), Problem::NoSuchUse { found, uses });
            continue;
        }
        if let Err(why) = apply(clause, &mut plan) {
            refuse(RulePart::Clause(at), Problem::Impossible(why));
        }
    }
    for (at, clause) in rule.clauses.iter().enumerate() {
        if let Some(why) = contradiction(clause, &plan) {
            refuse(RulePart::Clause(at), Problem::Impossible(why));
        }
    }
    plan
}

/// Collects the operands and constants of a pattern, in the order in which the emit function receives them.
fn walk(vocab: Vocabulary, pattern: &Pattern, plan: &mut Plan, refuse: &mut impl FnMut(RulePart, Problem)) {
    match &pattern.shape {
        PatternShape::Symbol(Symbol::Flag) if plan.takes_flag => {
            refuse(RulePart::Pattern(pattern.id), Problem::TwoFlags)
        }
        PatternShape::Symbol(Symbol::Flag) => plan.takes_flag = true,
        PatternShape::Symbol(symbol) => {
            let class = symbol.class().unwrap_or(Class::Int);
            plan.uses.push(PlannedUse { class, late: false, place: Where::Reg });
        }
        PatternShape::Same(_) => {}
        PatternShape::Node { op, children, .. } => {
            children.iter().for_each(|child| walk(vocab, child, plan, refuse));
            if let Some(op) = vocab.find(op) {
                let info = vocab.info(op);
                plan.imms += (has_imm(info) || info.is_call() && children.is_empty()) as u8;
            }
        }
    }
}

fn apply(clause: &Clause, plan: &mut Plan) -> Result<(), &'static str> {
    let has_out = plan.result.class().is_some();
    let set = |place: &mut Where, to: Where| match place {
        Where::Reg => {
            *place = to;
            Ok(())
        }
        _ => Err("an earlier clause says already where this has to be"),
    };
    match clause {
        Clause::Tied(_) | Clause::Early | Clause::Entry | Clause::Fixed(Place::Out, _) if !has_out => {
            Err("the tile has no result in a register")
        }
        Clause::Tied(at) if Some(plan.uses[*at as usize].class) != plan.result.class() => {
            Err("the result and the operand it is tied to are in different register files")
        }
        Clause::Tied(at) => set(&mut plan.out, Where::Tied(*at)),
        Clause::Fixed(Place::Out, reg) => set(&mut plan.out, Where::Fixed(reg.clone())),
        Clause::Fixed(Place::Use(at), reg) => {
            set(&mut plan.uses[*at as usize].place, Where::Fixed(reg.clone()))
        }
        Clause::Any(at) => set(&mut plan.uses[*at as usize].place, Where::Any),
        Clause::Clobber(regs) => {
            plan.clobbers.extend(regs.iter().cloned());
            Ok(())
        }
        Clause::Temp(class) => {
            plan.temps.push(*class);
            Ok(())
        }
        Clause::Early => {
            plan.early = true;
            Ok(())
        }
        Clause::Late(at) => {
            plan.uses[*at as usize].late = true;
            Ok(())
        }
        Clause::Needs(_) => Ok(()),
        Clause::Entry => {
            plan.entry = true;
            Ok(())
        }
        Clause::Framed => {
            plan.framed = true;
            Ok(())
        }
    }
}

/// The reason why a clause contradicts another clause or the pattern, if it does.
fn contradiction(clause: &Clause, plan: &Plan) -> Option<&'static str> {
    match clause {
        Clause::Tied(at) => {
            let tied = plan.uses.get(*at as usize)?;
            if tied.late {
                Some("an operand that is read late cannot share its register with the result")
            } else if plan.early {
                Some("a result that is written early cannot share an operand's register")
            } else if tied.place == Where::Any {
                Some("an operand that may be in memory cannot be tied to the result")
            } else {
                None
            }
        }
        Clause::Fixed(Place::Use(at), reg) => {
            let me = plan.uses.get(*at as usize)?;
            let other =
                plan.uses.iter().enumerate().any(|(other, planned)| {
                    other != *at as usize && planned.place == Where::Fixed(reg.clone())
                });
            if other {
                Some("two operands cannot be in one register")
            } else if (me.late || plan.early) && plan.out == Where::Fixed(reg.clone()) {
                Some("the result would overwrite this operand before it is read")
            } else if me.late && plan.clobbers.contains(reg) {
                Some("an operand that is read late cannot be in a register that is overwritten")
            } else {
                None
            }
        }
        Clause::Fixed(Place::Out, reg) if plan.clobbers.contains(reg) => {
            Some("the result's register cannot be overwritten as well")
        }
        Clause::Entry if !plan.uses.is_empty() || plan.imms > 0 => {
            Some("what is there at entry cannot have operands")
        }
        Clause::Entry if !matches!(plan.out, Where::Fixed(_)) => {
            Some("say in which register it is there at entry: `fixed(out = …)`")
        }
        _ => None,
    }
}
