//! Statements with blocks: conditions, loops, functions inside, coroutines, and what is protected.
//!
//! In: how deep blocks may still nest. Out: a statement whose blocks hold others. Each loop ends after a few rounds, and what a block declares
//! is not seen behind it.

use super::{Kind, Writer};

impl Writer {
    pub(super) fn call_statement(&mut self) {
        if self.functions == 0 {
            let value = self.expression(Kind::Any, 2);
            return self.line(&format!("g2 = type({value})"));
        }
        let at = 1 + self.dice.below(self.functions);
        let (a, b) = (self.expression(Kind::Number, 1), self.expression(Kind::Any, 1));
        self.line(&format!("f{at}({a}, {b}, ...)"));
    }

    pub(super) fn condition_statement(&mut self, depth: usize) {
        let condition = self.condition(2);
        self.block(&format!("if {condition} then"), depth);
        if self.dice.one_in(3) {
            let condition = self.condition(1);
            self.block(&format!("elseif {condition} then"), depth);
        }
        if self.dice.one_in(2) {
            self.block("else", depth);
        }
        self.line("end");
    }

    pub(super) fn counted(&mut self, depth: usize) {
        // A large start would never end: one more would be the same number.
        let from = self.dice.pick(&["1", "0", "-2", "0.5", "5", "a % 4", "u1 % 4"]).to_string();
        let bounds = self.dice.pick(&["6", "3, 1", "1, -1", "4, 0.75", "-1", "-3, -2", "7, 3"]).to_string();
        let name = self.name();
        let seen = self.locals.len();
        self.line(&format!("for {name} = {from}, {bounds} do"));
        self.locals.push((name, Kind::Number));
        self.loops += 1;
        self.inside(depth);
        self.loops -= 1;
        self.locals.truncate(seen);
        self.line("end");
    }

    pub(super) fn other_loop(&mut self, depth: usize) {
        let counter = self.name();
        let condition = self.condition(1);
        self.loops += 1;
        match self.dice.below(3) {
            0 => {
                self.line(&format!("local {counter} = 0"));
                self.line(&format!("while {counter} < 5 and ({condition}) do"));
                self.line(&format!("  {counter} = {counter} + 1"));
                self.block("  -- The body.", depth);
                self.line("end");
            }
            1 => {
                self.line(&format!("local {counter} = 0"));
                self.line("repeat");
                self.line(&format!("  {counter} = {counter} + 1"));
                self.block("  -- The body.", depth);
                self.line(&format!("until {counter} >= 4 or {condition}"));
            }
            _ => {
                let value = self.name();
                let seen = self.locals.len();
                self.locals.push((value.clone(), Kind::Number));
                self.block(&format!("for {counter}, {value} in ipairs(l) do"), depth);
                self.line(&format!("  if {counter} > 4 then break end"));
                self.locals.truncate(seen);
                self.line("end");
            }
        }
        self.loops -= 1;
    }

    /// A function inside, which shares the locals. It is called at once, and perhaps in expressions behind it.
    pub(super) fn closure(&mut self, depth: usize) {
        let (name, argument) = (self.name(), self.name());
        let (seen, loops) = (self.locals.len(), std::mem::take(&mut self.loops));
        self.line(&format!("local function {name}({argument}, ...)"));
        self.line("  fuel = fuel - 1");
        self.line("  if fuel < 0 then error('no fuel', 0) end");
        self.locals.push((argument, Kind::Number));
        self.inside(depth);
        let value = self.expression(Kind::Number, 2);
        self.line(&format!("  return {value}"));
        self.loops = loops;
        self.locals.truncate(seen);
        self.line("end");
        let value = self.expression(Kind::Number, 1);
        self.line(&format!("u1 = {name}({value})"));
        if self.dice.one_in(3) {
            self.line(&format!("g3 = {name}(2) or g3"));
        }
        self.locals.push((name, Kind::Function));
    }

    /// A coroutine that yields once or more, is resumed some times, and may be dead then.
    pub(super) fn coroutine(&mut self, depth: usize) {
        let (name, argument) = (self.name(), self.name());
        let (seen, loops) = (self.locals.len(), std::mem::take(&mut self.loops));
        self.line(&format!("local {name} = coroutine.wrap(function({argument}, ...)"));
        self.locals.push((argument.clone(), Kind::Number));
        self.inside(depth);
        let value = self.expression(Kind::Number, 1);
        match self.dice.below(3) {
            0 => self.line(&format!("  {argument} = coroutine.yield({value}, ...) or 3")),
            1 => self.line(&format!("  for i = 1, 3 do {argument} = coroutine.yield({value}) or i end")),
            _ => self.line(&format!("  while {argument} ~= 9 do {argument} = coroutine.yield({value}) end")),
        }
        self.inside(depth);
        let value = self.expression(Kind::Any, 2);
        self.line(&format!("  return {value}"));
        self.loops = loops;
        self.locals.truncate(seen);
        self.line("end)");
        for _ in 0..1 + self.dice.below(3) {
            let value = self.expression(Kind::Number, 1);
            self.line(&format!("u1 = {name}({value}, ...) or u1"));
        }
        let (good, last) = (self.name(), self.name());
        self.line(&format!("local {good}, {last} = pcall({name}, 9)"));
        self.locals.push((last, Kind::Any));
    }

    /// Statements whose errors are caught.
    pub(super) fn protected(&mut self, depth: usize) {
        let (seen, loops) = (self.locals.len(), std::mem::take(&mut self.loops));
        let (good, value) = (self.name(), self.name());
        self.line(&format!("local {good}, {value} = pcall(function(...)"));
        self.inside(depth);
        self.line("end, a, ...)");
        self.loops = loops;
        self.locals.truncate(seen);
        self.locals.push((value.clone(), Kind::Any));
        self.line(&format!("if not {good} then g2 = text({value}) end"));
    }
}
