//! The dynamic machine: values in boxes, tables whose fields are found by sites, closures.
//!
//! In: bytecode as a compiler for Lua would make it, by [`Writer`]. Out: what it computes, in any tier. What Lua does only by
//! metatables or strings is an error here, and functions take as many arguments as they are given.

use super::heap::{Closure, Field, Heap, Table, Word};
use super::writer::Writer;
use azulejo::prelude::*;
use azulejo::{Cases, Regs, Site, Trap};

/// No number has these bits or more: the NaNs that arithmetic makes of numbers have `0x7ff8` or `0xfff8` in front of zeros.
pub(crate) const NIL: Word = 0xfff9 << 48;
const FALSE: Word = NIL + 1;
const TRUE: Word = NIL + 2;
/// The addresses of closures and of tables are added to these.
const CLOSURE: Word = 0xfffa << 48;
const TABLE: Word = 0xfffb << 48;
/// The upper bits of a closure's box.
const CLOSURE_TAG: Word = CLOSURE >> 48;

/// Declares the opcodes, and for each one the method of [`Writer`] that writes it.
macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident $write:ident { $($field:ident: $kind:ident $(<$($argument:tt),+>)?),* })*) => {
        #[derive(Bytecode, Clone, Copy, Debug)]
        #[bytecode(context = Heap, pinned(NIL, TABLE.wrapping_neg()))]
        pub(crate) enum Op {
            $($(#[$doc])* $name { $($field: $kind $(<$($argument),+>)?),* },)*
        }

        impl Writer {
            $($(#[$doc])* pub(crate) fn $write(&mut self, $($field: impl Into<$kind $(<$($argument),+>)?>),*) {
                self.write(Op::$name { $($field: $field.into()),* });
            })*
        }
    };
}

opcodes! {
    Number number { dst: Out<u64>, value: Imm<f64> }
    True set_true { dst: Out<u64> }
    False set_false { dst: Out<u64> }
    Move copy { dst: Out<u64>, a: In<u64> }
    Add add { dst: Out<u64>, a: In<u64>, b: In<u64> }
    Sub sub { dst: Out<u64>, a: In<u64>, b: In<u64> }
    Mul mul { dst: Out<u64>, a: In<u64>, b: In<u64> }
    Div div { dst: Out<u64>, a: In<u64>, b: In<u64> }
    AddConst add_const { dst: Out<u64>, a: In<u64>, k: Imm<f64> }
    SubConst sub_const { dst: Out<u64>, a: In<u64>, k: Imm<f64> }
    MulConst mul_const { dst: Out<u64>, a: In<u64>, k: Imm<f64> }
    Sqrt sqrt { dst: Out<u64>, a: In<u64> }
    JumpUnless jump_unless { a: In<u64>, to: Label }
    JumpUnlessLessConst jump_unless_less_const { a: In<u64>, k: Imm<f64>, to: Label }
    /// One step before the first value, on to the test.
    ForPrepare for_prepare { index: InOut<u64>, limit: In<u64>, step: In<u64>, to: Label }
    ForLoop for_loop { index: InOut<u64>, limit: In<u64>, step: In<u64>, variable: Out<u64>, to: Label }
    NewTable new_table { dst: Out<u64> }
    GetField get_field { dst: Out<u64>, table: In<u64>, key: Imm<u32>, cache: Site<Field, 4> }
    SetField set_field { table: In<u64>, key: Imm<u32>, value: In<u64>, cache: Site<Field, 4> }
    GetIndex get_index { dst: Out<u64>, table: In<u64>, key: In<u64> }
    SetIndex set_index { table: In<u64>, key: In<u64>, value: In<u64> }
    GetGlobal get_global { dst: Out<u64>, key: Imm<u32>, cache: Site<Field, 4> }
    SetGlobal set_global { key: Imm<u32>, value: In<u64>, cache: Site<Field, 4> }
    /// A variable that closures have in common: its register has the address.
    NewCell new_cell { dst: Out<u64>, value: In<u64> }
    /// A closure that has captured these cells.
    NewClosure new_closure { dst: Out<u64>, function: Imm<u64>, arguments: Imm<u64>, cells: Regs }
    /// A variable that the running function has captured.
    GetUpvalue get_upvalue { dst: Out<u64>, closure: In<u64>, at: Imm<u16> }
    SetUpvalue set_upvalue { closure: In<u64>, at: Imm<u16>, value: In<u64> }
    Call1 call1 { dst: Out<u64>, function: In<u64>, a: In<u64> }
    Call2 call2 { dst: Out<u64>, function: In<u64>, a: In<u64>, b: In<u64> }
    Call3 call3 { dst: Out<u64>, function: In<u64>, a: In<u64>, b: In<u64>, c: In<u64> }
    Return give { a: In<u64> }
}

template_macros! {
    values {
        // What a table or closure is, what is in its fields, in its array part, what closures share, and the heap's own words.
        regions { headers, fields, arrays, cells, heap }

        kinds u64 {
            number: f64 { is (ult $box &NIL) unbox (bitcast $box f64) box (bitcast $value u64) }
            table: ptr { is (uge $box &TABLE) unbox (sub $box &TABLE) box (add $value &TABLE) }
            closure: ptr { is (eq (shr $box 48) &CLOSURE_TAG) unbox (sub $box &CLOSURE) box (add $value &CLOSURE) }
            nil { is (eq $box &NIL) }
            false { is (eq $box &FALSE) }
            true { is (eq $box &TRUE) }
        }
    }
}

template! {
    use values;

    macro ^arithmetic (,operator ,a ,b) (as ((,a number) (,b number))
        (box number (,operator ,a ,b))
        (slow not_numbers (arglist) u64))
    macro ^with_const (,operator) (as (($a number)) (box number (,operator $a $k)) (slow not_numbers (arglist) u64))

    Op::Number => (box number $value)
    Op::True => &TRUE
    Op::False => &FALSE
    Op::Move => $a
    Op::Add => (^arithmetic add $a $b)
    Op::Sub => (^arithmetic sub $a $b)
    Op::Mul => (^arithmetic mul $a $b)
    Op::Div => (^arithmetic div $a $b)
    Op::AddConst => (^with_const add)
    Op::SubConst => (^with_const sub)
    Op::MulConst => (^with_const mul)
    Op::Sqrt => (as (($a number)) (box number (sqrt $a)) (slow not_numbers (arglist) u64))
    Op::JumpUnless => (when (any (is false $a) (is nil $a)) (branch $to))
    Op::JumpUnlessLessConst => (when
        (notf (as (($a number)) (lt $a $k) (nz (slow not_numbers (arglist) u64))))
        (branch $to))
    Op::ForPrepare! => (asv (($from number $index) ($limit number) ($step number))
        (dov (set $index (box number (sub $from $step))) (branch $to))
        (discard (slow not_numbers (arglist) u64)))
    Op::ForLoop! => (letv: (($by (unbox number $step)) ($most (unbox number $limit)) ($next (add (unbox number $index) $by)))
        (when (if (lt (const 0.0 f64) $by) (le $next $most) (ge $next $most))
            (letv: (($boxed (box number $next)))
                (dov (set $index $boxed) (set $variable $boxed) (branch $to)))))
    Op::Return => (return $a)
}

template! {
    use values;

    macro ^is_of (,table) (eq (load headers ,table (&field Table, shape)) (case shape))
    macro ^field (,table) (add
        (if (nz (case is_outer)) (load headers ,table (&field Table, outer)) ,table)
        (ucast (case offset) u64))
    macro ^get_slowly (,table) (slow get_field
        (arglist (carg (tc) ptr) (carg ,table ptr) (carg $key u32) (carg $cache ptr)) u64)
    macro ^set_slowly (,table) (slowv set_field
        (arglist (carg (tc) ptr) (carg ,table ptr) (carg $key u32) (carg $value u64) (carg $cache ptr)))
    macro ^globals () (load pure (addr (tc) (&offset_of Heap, globals)) ptr)
    macro ^integer (,key) (ftos_least ,key i32)

    Op::NewTable => (box table (call new_table (arglist (carg (tc) ptr)) ptr))
    Op::GetField => unsafe (as (($table table))
        (cached $cache Field (^is_of $table) (load fields (^field $table) u64) (^get_slowly $table))
        (slow no_table (arglist) u64))
    Op::SetField => unsafe (asv (($table table))
        (cachedv $cache Field (^is_of $table) (store fields (^field $table) $value u64) (^set_slowly $table))
        (discard (slow no_table (arglist) u64)))
    Op::GetGlobal => unsafe (let: (($table (^globals)))
        (cached $cache Field (^is_of $table) (load fields (^field $table) u64) (^get_slowly $table)))
    Op::SetGlobal => unsafe (letv: (($table (^globals)))
        (cachedv $cache Field (^is_of $table) (store fields (^field $table) $value u64) (^set_slowly $table)))
    Op::GetIndex => unsafe (as (($table table) ($key number))
        (let: (($at (^integer $key)))
            (if (all (eq (stof $at f64) $key) (ult $at (load headers $table (&field Table, size))))
                (load arrays (idx (load headers $table (&field Table, array)) (ucast $at u32) 8) u64)
                (slow get_index (arglist (carg $key f64)) u64)))
        (slow no_table (arglist) u64))
    Op::SetIndex => unsafe (asv (($table table) ($key number))
        (letv: (($at (^integer $key)))
            (ifv (all (eq (stof $at f64) $key) (ult $at (load headers $table (&field Table, size))))
                (store arrays (idx (load headers $table (&field Table, array)) (ucast $at u32) 8) $value u64)
                (slowv set_index
                    (arglist (carg (tc) ptr) (carg $table ptr) (carg $key f64) (carg $value u64)))))
        (discard (slow no_table (arglist) u64)))
}

template! {
    use values;

    macro ^cell () (load pure (idx (addr (unbox closure $closure) (&sizeof Closure)) $at 8) ptr)
    macro ^call (,count ,arguments) (as (($called closure $function))
        (if (eq (load headers $called (&field Closure, arguments)) ,count)
            (invoke (load headers $called (&field Closure, function)) ,arguments u64)
            (slow no_function (arglist) u64))
        (slow no_function (arglist) u64))

    Op::NewCell => unsafe (let: (($cell (load heap (tc) (&field Heap, next))))
        (if (ult $cell (load heap (tc) (&field Heap, end)))
            (do (store heap (tc) (add $cell 8) (&field Heap, next)) (store cells $cell $value u64) $cell)
            (slow new_cell (arglist (carg (tc) ptr) (carg $value u64)) u64)))
    Op::NewClosure => (box closure (call new_closure
        (arglist
            (carg (tc) ptr) (carg $function u64) (carg $arguments u64)
            (carg (window $cells) ptr) (carg (length $cells) u64))
        ptr))
    Op::GetUpvalue => unsafe (load cells (^cell) u64)
    Op::SetUpvalue => unsafe (store cells (^cell) $value u64)
    Op::Call1 => unsafe (^call 1 (arglist $function $a))
    Op::Call2 => unsafe (^call 2 (arglist $function $a $b))
    Op::Call3 => unsafe (^call 3 (arglist $function $a $b $c))
}

/// The box of a closure.
pub(crate) fn boxed(closure: *mut Closure) -> Word {
    CLOSURE + closure.expose_provenance() as u64
}

fn not_numbers() -> Result<u64, Trap> {
    Err(Trap::User(1))
}

fn no_table() -> Result<u64, Trap> {
    Err(Trap::User(2))
}

fn no_function() -> Result<u64, Trap> {
    Err(Trap::User(3))
}

fn new_table(heap: &mut Heap) -> *mut Table {
    heap.new_table()
}

/// A field of a table; nil if it has none. The site learns where the field is.
fn get_field(heap: &mut Heap, table: *mut Table, key: u32, cases: Cases<'_, Field>) -> Result<Word, Trap> {
    // SAFETY: tables stay where they are, and nobody else looks at this one.
    let table = unsafe { &mut *table };
    let Some(field) = heap.field(table.shape, key) else { return Ok(NIL) };
    learn(cases, field);
    // SAFETY: the field is one of the table's shape.
    Ok(unsafe { *table.at(field) })
}

/// Sets a field of a table, which may be new. The site learns where the field was.
fn set_field(
    heap: &mut Heap,
    table: *mut Table,
    key: u32,
    value: Word,
    cases: Cases<'_, Field>,
) -> Result<(), Trap> {
    // SAFETY: as above.
    let table = unsafe { &mut *table };
    match heap.field(table.shape, key) {
        None => heap.add_field(table, key, value),
        Some(field) => {
            learn(cases, field);
            // SAFETY: the field is one of the table's shape.
            unsafe { *table.at(field) = value };
        }
    }
    Ok(())
}

/// Adds a case, if it is not known. Code that is older than a case does not look at it.
fn learn(cases: Cases<'_, Field>, field: Field) {
    if cases.iter().all(|case| case.shape != field.shape) {
        cases.add(field);
    }
}

/// What is not in the array part. Keys that are no integers from 0 on have no place.
fn get_index(key: f64) -> Result<Word, Trap> {
    if key.is_nan() { Err(Trap::User(4)) } else { Ok(NIL) }
}

fn set_index(heap: &mut Heap, table: *mut Table, key: f64, value: Word) -> Result<(), Trap> {
    // SAFETY: as above.
    let table = unsafe { &mut *table };
    if table.size == 0 {
        heap.push(table, NIL);
    }
    if key != table.size as f64 {
        return Err(Trap::User(4));
    }
    heap.push(table, value);
    Ok(())
}

fn new_cell(heap: &mut Heap, value: Word) -> Result<u64, Trap> {
    let cell = heap.allocate(1);
    // SAFETY: there is room for a word.
    unsafe { cell.write(value) };
    Ok(cell.expose_provenance() as u64)
}

fn new_closure(
    heap: &mut Heap,
    function: u64,
    arguments: u64,
    cells: *const Word,
    count: u64,
) -> *mut Closure {
    let cells = match count {
        0 => &[],
        // SAFETY: the template passes a run of registers.
        _ => unsafe { std::slice::from_raw_parts(cells, count as usize) },
    };
    heap.new_closure(function, arguments, cells)
}
