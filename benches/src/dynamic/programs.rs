//! The programs, each in Lua and in the bytecode that a compiler would make of the same text.
//!
//! Register 0 is the running function's closure, and the arguments follow. A local variable is a register, and so is what an
//! expression needs in between.

use super::heap::Field;
use super::machine::Op;
use super::writer::{Writer, Written, function};
use azulejo::Site;
use azulejo::prelude::*;

/// The names of fields and globals.
macro_rules! keys {
    ($($name:ident)*) => { keys! { 0; $($name)* } };
    ($number:expr; $name:ident $($rest:ident)*) => {
        const $name: u32 = $number;
        keys! { $number + 1; $($rest)* }
    };
    ($number:expr;) => {};
}

keys! { FIB X Y Z VX VY VZ MASS WIDTH HEIGHT RADIUS SCALE AREA GROW }

/// A program for the machine and for Lua.
pub(crate) struct DynamicProgram {
    pub(crate) name: &'static str,
    /// The file that defines the same function `run`.
    pub(crate) lua: &'static str,
    /// The argument of `run`; the PUC interpreter takes the better part of a second.
    pub(crate) n: f64,
    /// Defines the functions in an engine. The last one is `run`.
    pub(crate) define: fn(&mut Definer<'_>) -> u64,
}

/// An engine in which functions are defined.
pub(crate) struct Definer<'a> {
    pub(crate) engine: &'a Engine<Op>,
    pub(crate) functions: Vec<FunctionId>,
}

impl Definer<'_> {
    /// Defines a function. Returns its address.
    fn add(&mut self, name: &str, function: Written) -> u64 {
        let id = self.engine.define(name, function.code, function.registers).expect("the code is right");
        self.functions.push(id);
        self.engine.callable(id).expect("it was defined").expose_provenance() as u64
    }
}

/// All programs.
pub(crate) fn all() -> [DynamicProgram; 5] {
    let program = |name, lua, n, define| DynamicProgram { name, lua, n, define };
    [
        program("fib", "fib.lua", 35.0, fib),
        program("nbody", "nbody.lua", 300_000.0, nbody),
        program("sieve", "sieve.lua", 1500.0, sieve),
        program("methods", "methods.lua", 80_000.0, methods),
        program("closures", "closures.lua", 2_500_000.0, closures),
    ]
}

fn cache() -> Site<Field, 4> {
    Site::new()
}

/// Writes `for index = from, limit, step do body end`, where the first three registers hold these and the fourth is the variable.
fn count(
    f: &mut Writer,
    [index, limit, step, variable]: [u32; 4],
    [start, test]: [&'static str; 2],
    body: impl FnOnce(&mut Writer),
) {
    f.for_prepare(index, limit, step, f.to(test));
    f.label(start);
    body(f);
    f.label(test);
    f.for_loop(index, limit, step, variable, f.to(start));
}

/// Writes `for variable = from, to do body end`.
fn count_up(
    f: &mut Writer,
    from: f64,
    to: u32,
    labels: [&'static str; 2],
    body: impl FnOnce(&mut Writer, u32),
) {
    let [index, limit, step, variable] = f.registers();
    f.number(index, from);
    f.copy(limit, to);
    f.number(step, 1.0);
    count(f, [index, limit, step, variable], labels, |f| body(f, variable));
}

fn fib(defined: &mut Definer<'_>) -> u64 {
    let fib = defined.add(
        "fib",
        function(1, |f| {
            let [_, n, called, a, b] = f.registers();
            f.jump_unless_less_const(n, 2.0, f.to("more"));
            f.give(n);
            f.label("more");
            f.get_global(called, FIB, cache());
            f.sub_const(a, n, 1.0);
            f.call1(a, called, a);
            f.get_global(called, FIB, cache());
            f.sub_const(b, n, 2.0);
            f.call1(b, called, b);
            f.add(a, a, b);
            f.give(a);
        }),
    );
    defined.add(
        "run",
        function(1, |f| {
            let [_, n, called] = f.registers();
            f.new_closure(called, fib, 1, f.run(0, 0));
            f.set_global(FIB, called, cache());
            f.get_global(called, FIB, cache());
            f.call1(called, called, n);
            f.give(called);
        }),
    )
}

/// Writes `dst = table.key` for several.
fn fields(f: &mut Writer, table: u32, list: &[(u32, u32)]) {
    list.iter().for_each(|(dst, key)| f.get_field(*dst, table, *key, cache()));
}

/// Writes `function advance(bodies, count, dt)`.
fn advance(f: &mut Writer) {
    let [this, bodies, bound, dt, bi, bj, mass, dist2, mag, bm, a, b] = f.registers();
    let position: [u32; 3] = f.registers();
    let velocity: [u32; 3] = f.registers();
    let distance: [u32; 3] = f.registers();
    let inner: [u32; 4] = f.registers();
    count_up(f, 1.0, bound, ["outer", "outer test"], |f, i| {
        f.get_index(bi, bodies, i);
        let [x, y, z] = position;
        fields(f, bi, &[(x, X), (y, Y), (z, Z), (mass, MASS)]);
        let [vx, vy, vz] = velocity;
        fields(f, bi, &[(vx, VX), (vy, VY), (vz, VZ)]);
        f.add_const(inner[0], i, 1.0);
        f.copy(inner[1], bound);
        f.number(inner[2], 1.0);
        count(f, inner, ["inner", "inner test"], |f| {
            f.get_index(bj, bodies, inner[3]);
            for (at, key) in [X, Y, Z].into_iter().enumerate() {
                f.get_field(a, bj, key, cache());
                f.sub(distance[at], position[at], a);
            }
            f.mul(dist2, distance[0], distance[0]);
            f.mul(a, distance[1], distance[1]);
            f.add(dist2, dist2, a);
            f.mul(a, distance[2], distance[2]);
            f.add(dist2, dist2, a);
            f.get_upvalue(a, this, 0);
            f.call1(mag, a, dist2);
            f.mul(a, mag, dist2);
            f.div(mag, dt, a);
            f.get_field(a, bj, MASS, cache());
            f.mul(bm, a, mag);
            for at in 0..3 {
                f.mul(a, distance[at], bm);
                f.sub(velocity[at], velocity[at], a);
            }
            f.mul(bm, mass, mag);
            for (at, key) in [VX, VY, VZ].into_iter().enumerate() {
                f.get_field(a, bj, key, cache());
                f.mul(b, distance[at], bm);
                f.add(a, a, b);
                f.set_field(bj, key, a, cache());
            }
        });
        for (at, key) in [VX, VY, VZ].into_iter().enumerate() {
            f.set_field(bi, key, velocity[at], cache());
        }
        for (at, key) in [X, Y, Z].into_iter().enumerate() {
            f.mul(a, dt, velocity[at]);
            f.add(a, position[at], a);
            f.set_field(bi, key, a, cache());
        }
    });
    f.give(this);
}

fn nbody(defined: &mut Definer<'_>) -> u64 {
    let sqrt = defined.add(
        "sqrt",
        function(1, |f| {
            let [_, a] = f.registers();
            f.sqrt(a, a);
            f.give(a);
        }),
    );
    let advance = defined.add("advance", function(3, advance));
    defined.add(
        "run",
        function(1, |f| {
            let [_, n, cell, called, bodies, body, five, dt, a, b] = f.registers();
            f.new_closure(a, sqrt, 1, f.run(0, 0));
            f.new_cell(cell, a);
            f.new_closure(called, advance, 3, f.run(cell, 1));
            f.new_table(bodies);
            f.number(five, 5.0);
            f.number(dt, 0.001);
            count_up(f, 1.0, five, ["bodies", "bodies test"], |f, i| {
                f.new_table(body);
                f.mul_const(a, i, 1.5);
                f.set_field(body, X, a, cache());
                f.mul(a, i, i);
                f.set_field(body, Y, a, cache());
                f.number(a, 7.0);
                f.sub(a, a, i);
                f.set_field(body, Z, a, cache());
                f.mul_const(a, i, 0.25);
                f.set_field(body, VX, a, cache());
                f.number(a, 1.0);
                f.sub(a, a, i);
                f.set_field(body, VY, a, cache());
                f.number(a, 0.125);
                f.set_field(body, VZ, a, cache());
                f.number(a, 10.0);
                f.div(a, a, i);
                f.set_field(body, MASS, a, cache());
                f.set_index(bodies, i, body);
            });
            count_up(f, 1.0, n, ["steps", "steps test"], |f, _| {
                f.call3(a, called, bodies, five, dt);
            });
            f.number(a, 1.0);
            f.get_index(a, bodies, a);
            f.get_field(a, a, X, cache());
            f.get_index(b, bodies, five);
            f.get_field(b, b, VZ, cache());
            f.add(a, a, b);
            f.give(a);
        }),
    )
}

fn sieve(defined: &mut Definer<'_>) -> u64 {
    defined.add(
        "run",
        function(1, |f| {
            let [_, n, size, flags, total, flag] = f.registers();
            let inner: [u32; 4] = f.registers();
            f.number(size, 10_000.0);
            f.new_table(flags);
            f.number(total, 0.0);
            count_up(f, 1.0, n, ["round", "round test"], |f, _| {
                count_up(f, 1.0, size, ["set", "set test"], |f, i| {
                    f.set_true(flag);
                    f.set_index(flags, i, flag);
                });
                f.number(total, 0.0);
                count_up(f, 2.0, size, ["look", "look test"], |f, i| {
                    f.get_index(flag, flags, i);
                    f.jump_unless(flag, f.to("composite"));
                    f.add_const(total, total, 1.0);
                    f.add(inner[0], i, i);
                    f.copy(inner[1], size);
                    f.copy(inner[2], i);
                    count(f, inner, ["strike", "strike test"], |f| {
                        f.set_false(flag);
                        f.set_index(flags, inner[3], flag);
                    });
                    f.label("composite");
                });
            });
            f.give(total);
        }),
    )
}

/// Writes the part of `run` that makes the objects.
fn make_objects(f: &mut Writer, objects: u32, [rectangle, circle, grow]: [u32; 3]) {
    let [object, a] = f.registers();
    let outer: [u32; 4] = f.registers();
    f.new_table(objects);
    f.number(outer[0], 1.0);
    f.number(outer[1], 100.0);
    f.number(outer[2], 2.0);
    count(f, outer, ["make", "make test"], |f| {
        let i = outer[3];
        f.new_table(object);
        f.set_field(object, WIDTH, i, cache());
        f.number(a, 2.0);
        f.set_field(object, HEIGHT, a, cache());
        f.number(a, 1.0);
        f.set_field(object, SCALE, a, cache());
        f.set_field(object, AREA, rectangle, cache());
        f.set_field(object, GROW, grow, cache());
        f.set_index(objects, i, object);
        f.new_table(object);
        f.set_field(object, AREA, circle, cache());
        f.set_field(object, GROW, grow, cache());
        f.set_field(object, RADIUS, i, cache());
        f.number(a, 2.0);
        f.set_field(object, SCALE, a, cache());
        f.add_const(a, i, 1.0);
        f.set_index(objects, a, object);
    });
}

fn methods(defined: &mut Definer<'_>) -> u64 {
    let rectangle = defined.add(
        "rectangle",
        function(1, |f| {
            let [_, this, a, b] = f.registers();
            fields(f, this, &[(a, WIDTH), (b, HEIGHT)]);
            f.mul(a, a, b);
            f.give(a);
        }),
    );
    let circle = defined.add(
        "circle",
        function(1, |f| {
            let [_, this, a, b] = f.registers();
            f.get_field(a, this, RADIUS, cache());
            f.mul_const(a, a, 3.0);
            f.get_field(b, this, RADIUS, cache());
            f.mul(a, a, b);
            f.give(a);
        }),
    );
    let grow = defined.add(
        "grow",
        function(2, |f| {
            let [_, this, by, a] = f.registers();
            f.get_field(a, this, SCALE, cache());
            f.add(a, a, by);
            f.set_field(this, SCALE, a, cache());
            f.get_field(a, this, SCALE, cache());
            f.give(a);
        }),
    );
    defined.add(
        "run",
        function(1, |f| {
            let [_, n, objects, hundred, total, object, called, a, b] = f.registers();
            let closures: [u32; 3] = f.registers();
            for (at, (function, arguments)) in
                [(rectangle, 1), (circle, 1), (grow, 2)].into_iter().enumerate()
            {
                f.new_closure(closures[at], function, arguments, f.run(0, 0));
            }
            make_objects(f, objects, closures);
            f.number(hundred, 100.0);
            f.number(total, 0.0);
            count_up(f, 1.0, n, ["round", "round test"], |f, _| {
                count_up(f, 1.0, hundred, ["each", "each test"], |f, i| {
                    f.get_index(object, objects, i);
                    f.get_field(called, object, AREA, cache());
                    f.call1(a, called, object);
                    f.get_field(called, object, GROW, cache());
                    f.number(b, 1.0);
                    f.call2(b, called, object, b);
                    f.mul(a, a, b);
                    f.add(total, total, a);
                });
            });
            f.give(total);
        }),
    )
}

fn closures(defined: &mut Definer<'_>) -> u64 {
    let next = defined.add(
        "next",
        function(1, |f| {
            let [this, step, count] = f.registers();
            f.get_upvalue(count, this, 0);
            f.add(count, count, step);
            f.set_upvalue(this, 0, count);
            f.get_upvalue(count, this, 0);
            f.give(count);
        }),
    );
    let counter = defined.add(
        "counter",
        function(1, |f| {
            let [_, start, cell, next_one] = f.registers();
            f.new_cell(cell, start);
            f.new_closure(next_one, next, 1, f.run(cell, 1));
            f.give(next_one);
        }),
    );
    defined.add(
        "run",
        function(1, |f| {
            let [_, n, counter_one, next_one, five, total, a] = f.registers();
            f.new_closure(counter_one, counter, 1, f.run(0, 0));
            f.number(five, 5.0);
            f.number(total, 0.0);
            count_up(f, 1.0, n, ["make", "make test"], |f, i| {
                f.call1(next_one, counter_one, i);
                count_up(f, 1.0, five, ["use", "use test"], |f, j| {
                    f.call1(a, next_one, j);
                    f.add(total, total, a);
                });
            });
            f.give(total);
        }),
    )
}
