//! The table of the built-in operators, one row each. Everything else is derived from it.
//!
//! In: rows in the words of [`super::op`]. Out: [`BUILTIN`], and a constant of [`Op`] for each row.

use super::atomic::update;
use super::meaning as m;
use super::op::{Cast, Check, Key, Kind, Op, OpInfo, Param, Props, Types, Yields};
use super::trap::Trap;
use super::ty::Type;

/// Evaluates an expression at the Rust type that corresponds to `$ty`.
macro_rules! at {
    (int $ty:expr, $T:ident => $body:expr) => {
        match $ty {
            Type::I8 => {
                type $T = i8;
                $body
            }
            Type::I16 => {
                type $T = i16;
                $body
            }
            Type::I32 => {
                type $T = i32;
                $body
            }
            Type::I64 => {
                type $T = i64;
                $body
            }
            other => unreachable!("no integer operator works on {other}"),
        }
    };
    (float $ty:expr, $T:ident => $body:expr) => {
        match $ty {
            Type::F32 => {
                type $T = f32;
                $body
            }
            Type::F64 => {
                type $T = f64;
                $body
            }
            other => unreachable!("no float operator works on {other}"),
        }
    };
    (value $ty:expr, $T:ident => $body:expr) => {
        match $ty {
            Type::I8 => {
                type $T = i8;
                $body
            }
            Type::I16 => {
                type $T = i16;
                $body
            }
            Type::I32 => {
                type $T = i32;
                $body
            }
            Type::I64 => {
                type $T = i64;
                $body
            }
            Type::F32 => {
                type $T = f32;
                $body
            }
            Type::F64 => {
                type $T = f64;
                $body
            }
            other => unreachable!("no operator works on {other}"),
        }
    };
}

/// Makes a reference meaning on bits from a typed one, given the number of operands, their types, and whether it traps.
macro_rules! reference {
    ($f:ident 1 $set:ident result) => { Some(|sig, a| Ok(at!($set sig.ty, T => m::Num::to_bits(m::$f::<T>(m::Num::from_bits(a[0])))))) };
    ($f:ident 2 $set:ident result) => { Some(|sig, a| Ok(at!($set sig.ty, T => m::Num::to_bits(m::$f::<T>(m::Num::from_bits(a[0]), m::Num::from_bits(a[1])))))) };
    ($f:ident 2 $set:ident traps) => { Some(|sig, a| at!($set sig.ty, T => m::$f::<T>(m::Num::from_bits(a[0]), m::Num::from_bits(a[1])).map(m::Num::to_bits))) };
    ($f:ident 1 $set:ident operand) => { Some(|sig, a| Ok(at!($set sig.from, T => m::$f::<T>(m::Num::from_bits(a[0])) as u64))) };
    ($f:ident 2 $set:ident operand) => { Some(|sig, a| Ok(at!($set sig.from, T => m::$f::<T>(m::Num::from_bits(a[0]), m::Num::from_bits(a[1])) as u64))) };
    ($f:ident $from:ident $to:ident cast) => { Some(|sig, a| Ok(at!($from sig.from, F => at!($to sig.ty, T => m::Num::to_bits(m::$f::<F, T>(m::Num::from_bits(a[0]))))))) };
    ($f:ident $from:ident $to:ident cast_traps) => { Some(|sig, a| at!($from sig.from, F => at!($to sig.ty, T => m::$f::<F, T>(m::Num::from_bits(a[0])).map(m::Num::to_bits)))) };
    (flagval) => { Some(|sig, a| Ok(at!(int sig.ty, T => m::Num::to_bits(m::flagval::<T>(a[0] & 1 != 0))))) };
    (select) => { Some(|sig, a| Ok(sig.ty.truncate(if a[0] & 1 != 0 { a[1] } else { a[2] }))) };
    (notf) => { Some(|_, a| Ok(a[0] & 1 ^ 1)) };
    (const) => { Some(|sig, a| Ok(sig.ty.truncate(a[0]))) };
    (kept) => { Some(|_, _| Ok(1)) };
    (addr) => { Some(|_, a| Ok(a[0].wrapping_add(a[1]))) };
    (idx) => { Some(|_, a| Ok(a[0].wrapping_add(a[1].wrapping_mul(a[2])))) };
    (none) => { None };
}

const fn int_to_int(from: Type, to: Type) -> bool {
    from.is_int() && to.is_int() && from as u8 != to as u8
}
const fn int_to_float(from: Type, to: Type) -> bool {
    from.is_int() && to.is_float()
}
const fn float_to_int(from: Type, to: Type) -> bool {
    from.is_float() && to.is_int()
}
const fn float_to_wide(from: Type, to: Type) -> bool {
    from.is_float() && to.is_int() && to.bits() >= 32
}
const fn float_to_float(from: Type, to: Type) -> bool {
    from.is_float() && to.is_float() && from as u8 != to as u8
}
const fn same_width(from: Type, to: Type) -> bool {
    from.is_value() && to.is_value() && from.bits() == to.bits() && from.is_float() != to.is_float()
}

macro_rules! operator_table {
    ($( $const:ident $name:literal ($($operand:ident)*) [$($param:ident)*] -> $yields:ident, $key:expr, $types:ident, $cast:ident, [$($prop:ident)*], ($($reference:tt)*) $(or $unsigned:ident)? $(updates $update:ident)? $(, $check:expr)?; )*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the variants only number the rows")]
        #[repr(u16)]
        enum Row { $($const),* }

        impl Op {
            $(
                #[doc = concat!("`", $name, "`")]
                pub const $const: Op = Op(Row::$const as u16);
            )*
        }

        /// The built-in operators, indexed by [`Op`].
        pub static BUILTIN: &[OpInfo] = &[$(
            OpInfo {
                name: $name,
                operands: &[$(Kind::$operand),*],
                params: &[$(Param::$param),*],
                yields: Yields::$yields,
                key: $key,
                types: Types::$types,
                cast: Cast::$cast,
                unsigned: operator_table!(@unsigned $($unsigned)?),
                props: Props::from_bits_retain(0 $(| Props::$prop.bits())*),
                reference: reference!($($reference)*),
                update: operator_table!(@update $($update)?),
                checks: operator_table!(@checks $($check)?),
            },
        )*];
    };
    (@unsigned) => { None };
    (@unsigned $unsigned:ident) => { Some(Op::$unsigned) };
    (@update) => { None };
    (@update $update:ident) => { Some(update::$update) };
    (@checks) => { &[] };
    (@checks $check:expr) => { $check };
}

const ZERO_DIVIDES: Check = Check { trap: Trap::DivideByZero, when: "(zr $1)", on: Types::INT };
const LEAST_OVERFLOWS: Check =
    Check { trap: Trap::Overflow, when: "(all (eq $1 -1) (eq $0 %min))", on: Types::INT };
/// The float does not fit the signed result, or is NaN.
const OUT_OF_RANGE: Check =
    Check { trap: Trap::BadConversion, when: "(notf (all (gt $0 %below) (lt $0 %above)))", on: Types::FLOAT };
/// The float does not fit the unsigned result, or is NaN.
const OUT_OF_UNSIGNED: Check =
    Check { trap: Trap::BadConversion, when: "(notf (all (gt $0 -1.0) (lt $0 %beyond)))", on: Types::FLOAT };

operator_table! {
    // Memory. A load or store of any type through an address.
    LOAD "load" (Ptr) [Type] -> Param, Key::Result, VALUE, None, [READS ACCESS TEMPLATE GRAPH], (none);
    STORE "store" (Ptr Same) [Type] -> Void, Key::Operand, VALUE, None, [WRITES ACCESS TEMPLATE GRAPH], (none);
    // What a place has, which the compiler takes for granted; and whether memory that was made is needed.
    HOLDS "holds" (Ptr Same) [Type] -> Void, Key::Operand, VALUE, None, [ACCESS CLAIM TEMPLATE], (none);
    KEPT "kept" () [] -> Flag, Key::None, NONE, None, [PURE TEMPLATE], (kept);
    CONST "const" () [Value Type] -> Param, Key::Result, VALUE, None, [PURE TEMPLATE GRAPH], (const);
    ADDR "addr" (Ptr) [Offset] -> Ptr, Key::None, NONE, Unsigned, [PURE TEMPLATE GRAPH], (addr);
    IDX "idx" (Ptr Word) [Scale] -> Ptr, Key::None, NONE, Unsigned, [PURE TEMPLATE GRAPH], (idx);
    COPY "copy" (Same) [] -> Same, Key::Result, VALUE, None, [PURE TEMPLATE GRAPH], (copy 1 value result);

    // Memory that threads share. No pass moves an access of memory past one of these operators.
    ATOMIC_LOAD "atomic_load" (Ptr) [Type Order] -> Param, Key::Result, INT, None, [READS WRITES TEMPLATE GRAPH], (none) updates keep;
    ATOMIC_STORE "atomic_store" (Ptr Same) [Type Order] -> Void, Key::Operand, INT, None, [READS WRITES TEMPLATE GRAPH], (none) updates put;
    ATOMIC_SWAP "atomic_swap" (Ptr Same) [Type Order] -> Param, Key::Result, INT, None, [READS WRITES TEMPLATE GRAPH], (none) updates put;
    ATOMIC_ADD "atomic_add" (Ptr Same) [Type Order] -> Param, Key::Result, INT, None, [READS WRITES TEMPLATE GRAPH], (none) updates add;
    ATOMIC_AND "atomic_and" (Ptr Same) [Type Order] -> Param, Key::Result, INT, None, [READS WRITES TEMPLATE GRAPH], (none) updates and;
    ATOMIC_OR "atomic_or" (Ptr Same) [Type Order] -> Param, Key::Result, INT, None, [READS WRITES TEMPLATE GRAPH], (none) updates or;
    ATOMIC_XOR "atomic_xor" (Ptr Same) [Type Order] -> Param, Key::Result, INT, None, [READS WRITES TEMPLATE GRAPH], (none) updates xor;
    ATOMIC_CAS "atomic_cas" (Ptr Same Same) [Type Order] -> Param, Key::Result, INT, None, [READS WRITES TEMPLATE GRAPH], (none) updates put_if;

    // Comparisons.
    LT "lt" (Same Same) [] -> Flag, Key::Operand, VALUE, Signed, [PURE TEMPLATE GRAPH], (lt 2 value operand) or ULT;
    LE "le" (Same Same) [] -> Flag, Key::Operand, VALUE, Signed, [PURE TEMPLATE GRAPH], (le 2 value operand) or ULE;
    EQ "eq" (Same Same) [] -> Flag, Key::Operand, VALUE, Signed, [PURE COMMUTES TEMPLATE GRAPH], (eq 2 value operand);
    NE "ne" (Same Same) [] -> Flag, Key::Operand, VALUE, Signed, [PURE COMMUTES TEMPLATE GRAPH], (ne 2 value operand);
    GE "ge" (Same Same) [] -> Flag, Key::Operand, VALUE, Signed, [PURE TEMPLATE GRAPH], (ge 2 value operand) or UGE;
    GT "gt" (Same Same) [] -> Flag, Key::Operand, VALUE, Signed, [PURE TEMPLATE GRAPH], (gt 2 value operand) or UGT;
    ULT "ult" (Same Same) [] -> Flag, Key::Operand, INT, Unsigned, [PURE TEMPLATE GRAPH], (ult 2 int operand);
    ULE "ule" (Same Same) [] -> Flag, Key::Operand, INT, Unsigned, [PURE TEMPLATE GRAPH], (ule 2 int operand);
    UGE "uge" (Same Same) [] -> Flag, Key::Operand, INT, Unsigned, [PURE TEMPLATE GRAPH], (uge 2 int operand);
    UGT "ugt" (Same Same) [] -> Flag, Key::Operand, INT, Unsigned, [PURE TEMPLATE GRAPH], (ugt 2 int operand);
    NZ "nz" (Same) [] -> Flag, Key::Operand, INT, None, [PURE TEMPLATE GRAPH], (nz 1 int operand);
    ZR "zr" (Same) [] -> Flag, Key::Operand, INT, None, [PURE TEMPLATE GRAPH], (zr 1 int operand);
    NOTF "notf" (Flag) [] -> Flag, Key::None, NONE, None, [PURE TEMPLATE GRAPH], (notf);

    // Conversions.
    SCAST "scast" (Value) [Type] -> Param, Key::Both { legal: int_to_int }, INT, None, [PURE TEMPLATE GRAPH], (scast int int cast);
    UCAST "ucast" (Value) [Type] -> Param, Key::Both { legal: int_to_int }, INT, None, [PURE TEMPLATE GRAPH], (ucast int int cast);
    FLAGVAL "flagval" (Flag) [Type] -> Param, Key::Result, INT, None, [PURE TEMPLATE GRAPH], (flagval);
    DISCARD "discard" (Value) [] -> Void, Key::None, NONE, None, [TEMPLATE], (none);
    STOF "stof" (Value) [Type] -> Param, Key::Both { legal: int_to_float }, INT, None, [PURE TEMPLATE GRAPH], (stof int float cast);
    UTOF "utof" (Value) [Type] -> Param, Key::Both { legal: int_to_float }, INT, None, [PURE TEMPLATE GRAPH], (utof int float cast);
    FTOI_WRAP "ftoi_wrap" (Value) [Type] -> Param, Key::Both { legal: float_to_int }, FLOAT, None, [PURE TEMPLATE GRAPH], (ftoi_wrap float int cast);
    FTOS_SAT "ftos_sat" (Value) [Type] -> Param, Key::Both { legal: float_to_int }, FLOAT, None, [PURE TEMPLATE GRAPH], (ftos_sat float int cast);
    FTOU_SAT "ftou_sat" (Value) [Type] -> Param, Key::Both { legal: float_to_int }, FLOAT, None, [PURE TEMPLATE GRAPH], (ftou_sat float int cast);
    FTOS_LEAST "ftos_least" (Value) [Type] -> Param, Key::Both { legal: float_to_wide }, FLOAT, None, [PURE TEMPLATE GRAPH], (ftos_least float int cast);
    FTOS_TRAP "ftos_trap" (Value) [Type] -> Param, Key::Both { legal: float_to_int }, FLOAT, None, [PURE GUARDED TEMPLATE GRAPH], (ftos_trap float int cast_traps), &[OUT_OF_RANGE];
    FTOU_TRAP "ftou_trap" (Value) [Type] -> Param, Key::Both { legal: float_to_int }, FLOAT, None, [PURE GUARDED TEMPLATE GRAPH], (ftou_trap float int cast_traps), &[OUT_OF_UNSIGNED];
    BITCAST "bitcast" (Value) [Type] -> Param, Key::Both { legal: same_width }, VALUE, None, [PURE BITS TEMPLATE GRAPH], (bitcast value value cast);
    FCAST "fcast" (Value) [Type] -> Param, Key::Both { legal: float_to_float }, FLOAT, None, [PURE ANY_NAN TEMPLATE GRAPH], (fcast float float cast);

    // Arithmetic.
    ADD "add" (Same Same) [] -> Same, Key::Result, VALUE, Signed, [PURE COMMUTES ANY_NAN TEMPLATE GRAPH], (add 2 value result);
    SUB "sub" (Same Same) [] -> Same, Key::Result, VALUE, Signed, [PURE ANY_NAN TEMPLATE GRAPH], (sub 2 value result);
    MUL "mul" (Same Same) [] -> Same, Key::Result, VALUE, Signed, [PURE COMMUTES ANY_NAN TEMPLATE GRAPH], (mul 2 value result);
    DIV "div" (Same Same) [] -> Same, Key::Result, VALUE, Signed, [PURE GUARDED ANY_NAN TEMPLATE GRAPH], (div 2 value traps) or UDIV, &[ZERO_DIVIDES, LEAST_OVERFLOWS];
    UDIV "udiv" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE GUARDED TEMPLATE GRAPH], (udiv 2 int traps), &[ZERO_DIVIDES];
    REM "rem" (Same Same) [] -> Same, Key::Result, INT, Signed, [PURE GUARDED TEMPLATE GRAPH], (rem 2 int traps) or UREM, &[ZERO_DIVIDES];
    UREM "urem" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE GUARDED TEMPLATE GRAPH], (urem 2 int traps), &[ZERO_DIVIDES];
    NEG "neg" (Same) [] -> Same, Key::Result, VALUE, None, [PURE TEMPLATE GRAPH], (neg 1 value result);
    AND "and" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE COMMUTES TEMPLATE GRAPH], (and 2 int result);
    OR "or" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE COMMUTES TEMPLATE GRAPH], (or 2 int result);
    XOR "xor" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE COMMUTES TEMPLATE GRAPH], (xor 2 int result);
    NOT "not" (Same) [] -> Same, Key::Result, INT, None, [PURE TEMPLATE GRAPH], (not 1 int result);
    SHL "shl" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE COUNTS TEMPLATE GRAPH], (shl 2 int result);
    SHR "shr" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE COUNTS TEMPLATE GRAPH], (shr 2 int result);
    SAR "sar" (Same Same) [] -> Same, Key::Result, INT, Signed, [PURE COUNTS TEMPLATE GRAPH], (sar 2 int result);
    ROTL "rotl" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE COUNTS TEMPLATE GRAPH], (rotl 2 int result);
    ROTR "rotr" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE COUNTS TEMPLATE GRAPH], (rotr 2 int result);
    CLZ "clz" (Same) [] -> Same, Key::Result, INT, None, [PURE TEMPLATE GRAPH], (clz 1 int result);
    CTZ "ctz" (Same) [] -> Same, Key::Result, INT, None, [PURE TEMPLATE GRAPH], (ctz 1 int result);
    POPCNT "popcnt" (Same) [] -> Same, Key::Result, INT, None, [PURE TEMPLATE GRAPH], (popcnt 1 int result);
    BSWAP "bswap" (Same) [] -> Same, Key::Result, WIDE, None, [PURE TEMPLATE GRAPH], (bswap 1 int result);
    MULHI "mulhi" (Same Same) [] -> Same, Key::Result, INT, Signed, [PURE COMMUTES TEMPLATE GRAPH], (mulhi 2 int result) or UMULHI;
    UMULHI "umulhi" (Same Same) [] -> Same, Key::Result, INT, Unsigned, [PURE COMMUTES TEMPLATE GRAPH], (umulhi 2 int result);
    ADDO "addo" (Same Same) [] -> Flag, Key::Operand, INT, Signed, [PURE COMMUTES TEMPLATE GRAPH], (addo 2 int operand) or UADDO;
    SUBO "subo" (Same Same) [] -> Flag, Key::Operand, INT, Signed, [PURE TEMPLATE GRAPH], (subo 2 int operand) or USUBO;
    MULO "mulo" (Same Same) [] -> Flag, Key::Operand, INT, Signed, [PURE COMMUTES TEMPLATE GRAPH], (mulo 2 int operand) or UMULO;
    UADDO "uaddo" (Same Same) [] -> Flag, Key::Operand, INT, Unsigned, [PURE COMMUTES TEMPLATE GRAPH], (uaddo 2 int operand);
    USUBO "usubo" (Same Same) [] -> Flag, Key::Operand, INT, Unsigned, [PURE TEMPLATE GRAPH], (usubo 2 int operand);
    UMULO "umulo" (Same Same) [] -> Flag, Key::Operand, INT, Unsigned, [PURE COMMUTES TEMPLATE GRAPH], (umulo 2 int operand);

    // Floats.
    ABS "abs" (Same) [] -> Same, Key::Result, FLOAT, None, [PURE TEMPLATE GRAPH], (abs 1 float result);
    SQRT "sqrt" (Same) [] -> Same, Key::Result, FLOAT, None, [PURE ANY_NAN TEMPLATE GRAPH], (sqrt 1 float result);
    MIN "min" (Same Same) [] -> Same, Key::Result, FLOAT, None, [PURE ANY_NAN TEMPLATE GRAPH], (min 2 float result);
    MAX "max" (Same Same) [] -> Same, Key::Result, FLOAT, None, [PURE ANY_NAN TEMPLATE GRAPH], (max 2 float result);
    FLOOR "floor" (Same) [] -> Same, Key::Result, FLOAT, None, [PURE ANY_NAN TEMPLATE GRAPH], (floor 1 float result);
    CEIL "ceil" (Same) [] -> Same, Key::Result, FLOAT, None, [PURE ANY_NAN TEMPLATE GRAPH], (ceil 1 float result);
    TRUNC "trunc" (Same) [] -> Same, Key::Result, FLOAT, None, [PURE ANY_NAN TEMPLATE GRAPH], (trunc 1 float result);
    NEAREST "nearest" (Same) [] -> Same, Key::Result, FLOAT, None, [PURE ANY_NAN TEMPLATE GRAPH], (nearest 1 float result);
    COPYSIGN "copysign" (Same Same) [] -> Same, Key::Result, FLOAT, None, [PURE TEMPLATE GRAPH], (copysign 2 float result);
    CANONICAL_NAN "canonical_nan" (Same) [] -> Same, Key::Result, FLOAT, None, [PURE TEMPLATE GRAPH], (canonical_nan 1 float result);

    // Choice. In a template both arms of a `select` are evaluated, but only one arm of an `if`.
    SELECT "select" (Flag Same Same) [] -> Same, Key::Result, VALUE, Signed, [PURE TEMPLATE GRAPH], (select);

    // Logic and control, which templates lower to blocks.
    ALL "all" (Flag) [] -> Flag, Key::None, NONE, None, [VARIADIC TEMPLATE], (none);
    ANY "any" (Flag) [] -> Flag, Key::None, NONE, None, [VARIADIC TEMPLATE], (none);
    DO "do" (Void) [] -> Same, Key::Result, VALUE, None, [VARIADIC LAST_VALUE TEMPLATE], (none);
    DOV "dov" (Void) [] -> Void, Key::None, NONE, None, [VARIADIC TEMPLATE], (none);
    WHEN "when" (Flag Void) [] -> Void, Key::None, NONE, None, [TEMPLATE], (none);
    IF "if" (Flag Same Same) [] -> Same, Key::Result, VALUE, Signed, [TEMPLATE], (none);
    IFV "ifv" (Flag Void Void) [] -> Void, Key::None, NONE, None, [TEMPLATE], (none);
    LIKELY "likely" (Flag) [] -> Flag, Key::None, NONE, None, [TEMPLATE], (none);
    UNLIKELY "unlikely" (Flag) [] -> Flag, Key::None, NONE, None, [TEMPLATE], (none);
    COLD "cold" (Void) [] -> Void, Key::None, NONE, None, [TEMPLATE], (none);
    GUARD "guard" (Flag Void) [] -> Void, Key::None, NONE, None, [TEMPLATE], (none);
    BRANCH "branch" (Label) [] -> Void, Key::None, NONE, None, [TEMPLATE], (none);
    LABEL "label" () [Name] -> Label, Key::None, NONE, None, [TEMPLATE], (none);
    MARK "mark" (Label) [] -> Void, Key::None, NONE, None, [TEMPLATE], (none);
    SWITCH "switch" (Word Label) [] -> Void, Key::None, NONE, Unsigned, [VARIADIC TEMPLATE GRAPH ENDS], (none);
    RETURN "return" (Value) [] -> Void, Key::Operand, VALUE, None, [TEMPLATE GRAPH ENDS], (none);
    EXIT "exit" (Label) [] -> Void, Key::None, NONE, None, [TEMPLATE], (none);
    TRAP "trap" () [Code] -> Void, Key::None, NONE, None, [TEMPLATE GRAPH ENDS], (none);
    SET "set" (Value Value) [] -> Void, Key::None, NONE, None, [TEMPLATE], (none);

    // Calls.
    CALL "call" (Ptr Args) [Type] -> Param, Key::Result, VALUE, None, [READS WRITES TEMPLATE GRAPH], (none);
    CALLV "callv" (Ptr Args) [] -> Void, Key::None, NONE, None, [READS WRITES TEMPLATE GRAPH], (none);
    INVOKE "invoke" (Ptr Args) [Type] -> Param, Key::Result, WORD, None, [READS WRITES TEMPLATE GRAPH], (none);
    ARGLIST "arglist" (Arg) [] -> Args, Key::None, NONE, None, [VARIADIC TEMPLATE], (none);
    CARG "carg" (Value) [Type] -> Arg, Key::None, NONE, None, [TEMPLATE], (none);

    // The machine's own pointers.
    TC "tc" () [] -> Ptr, Key::None, NONE, None, [PURE TEMPLATE GRAPH], (none);
    CU "cu" () [] -> Ptr, Key::None, NONE, None, [PURE TEMPLATE GRAPH], (none);
    LOCAL "local" () [] -> Ptr, Key::None, NONE, None, [PURE SLOTS TEMPLATE GRAPH], (none);
    STACK "stack" () [] -> Ptr, Key::None, NONE, None, [PURE TEMPLATE GRAPH], (none);

    // Operators that templates cannot use.
    PARAM "param" () [] -> Same, Key::Result, VALUE, None, [GRAPH], (none);
    JUMP "jump" () [] -> Void, Key::None, NONE, None, [GRAPH ENDS], (none);
    BR "br" (Flag) [] -> Void, Key::None, NONE, None, [GRAPH ENDS], (none);
    EXIT_AT "exit_at" () [Code] -> Void, Key::None, NONE, None, [GRAPH ENDS], (none);
    // An exit that stores values in VM registers. The operands are the frame's address and the values; the constant is the number
    // of a `FrameState`.
    EXIT_WITH "exit_with" () [Code] -> Void, Key::None, NONE, None, [GRAPH ENDS STATE], (none);
    RET "ret" () [] -> Void, Key::None, NONE, None, [GRAPH ENDS], (none);
    // Ends the function in favor of another function of bytecode, which was noted before.
    TAILED "tailed" () [] -> Void, Key::None, NONE, None, [GRAPH ENDS], (none);
    // Words of the engine at known addresses, which no other nodes access. `POLL` reads one that another thread may change;
    // each node reads it anew, at its place. `SPEND` decrements one and returns the rest.
    POLL "poll" () [Code] -> Ptr, Key::None, NONE, None, [READS GRAPH], (none);
    SPEND "spend" () [Code] -> Ptr, Key::None, NONE, None, [READS GRAPH], (none);
    // A call of a native function that may fail. If it does, the function that calls it fails too.
    CALL_OR_FAIL "call_or_fail" (Args) [Type] -> Param, Key::Result, WORD, None, [READS WRITES GRAPH], (none);
    // A call of a function of bytecode with its arguments in memory.
    INVOKE_SPREAD "invoke_spread" (Ptr Args) [Type] -> Param, Key::Result, WORD, None, [READS WRITES GRAPH], (none);
    // The same calls by a function that goes on if they fail. `FAILURE` is the code of the trap with which such a call failed, or
    // zero: it is in the register of the call's second result.
    TRY_CALL "try_call" (Args) [Type] -> Param, Key::Result, WORD, None, [READS WRITES GRAPH], (none);
    TRY_INVOKE "try_invoke" (Ptr Args) [Type] -> Param, Key::Result, WORD, None, [READS WRITES GRAPH], (none);
    TRY_INVOKE_SPREAD "try_invoke_spread" (Ptr Args) [Type] -> Param, Key::Result, WORD, None, [READS WRITES GRAPH], (none);
    FAILURE "failure" (Word) [] -> Same, Key::Result, HALF, None, [SECOND GRAPH], (none);

    // Operators of functions that other functions of bytecode call directly: the arguments (those on the stack by number), a
    // frame of their own, and the ends. `HAND_OVER` is an exit: its operands are the context and the values of VM registers, which
    // the host's function that continues gets in that frame.
    ARGUMENT0 "argument0" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH CALLED], (none);
    ARGUMENT1 "argument1" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH CALLED], (none);
    ARGUMENT2 "argument2" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH CALLED], (none);
    ARGUMENT3 "argument3" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH CALLED], (none);
    ARGUMENT4 "argument4" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH CALLED], (none);
    ARGUMENT_ON_STACK "argument_on_stack" () [Code] -> Ptr, Key::None, NONE, None, [PURE GRAPH CALLED], (none);
    FRAME "frame" () [] -> Ptr, Key::None, NONE, None, [PURE SLOTS GRAPH CALLED], (none);
    // A call of a function that replaces this one, with all arguments in registers. It ends the function.
    TAIL_INVOKE "tail_invoke" (Ptr Args) [] -> Void, Key::None, NONE, None, [READS WRITES GRAPH ENDS CALLED], (none);
    GIVE "give" (Same) [] -> Void, Key::Operand, WORD, None, [GRAPH ENDS CALLED], (none);
    FAIL "fail" () [Code] -> Void, Key::None, NONE, None, [GRAPH ENDS CALLED], (none);
    HAND_OVER "hand_over" () [Code] -> Void, Key::None, NONE, None, [GRAPH ENDS CALLED STATE], (none);

    // Operators on values of a kind, whose number is the constant: whether a boxed value is of the kind, the value in a box of the
    // kind, and the box of a value. They become other operators before anything else is done with a graph.
    IS "is" (Ptr) [Code] -> Flag, Key::None, NONE, None, [PURE KINDS], (none);
    UNBOX "unbox" (Ptr) [Code] -> Same, Key::Result, VALUE, None, [PURE KINDS], (none);
    BOX "box" (Same) [Code] -> Ptr, Key::Operand, VALUE, None, [PURE KINDS], (none);
    // The flag of a branch in front of a loop, which becomes the checks of kinds that are made there. The other way exits.
    SPECULATE "speculate" () [] -> Flag, Key::None, NONE, None, [PURE KINDS], (none);

    // Operators of stencils, in which an opcode's operands are holes. The machine's own pointers are kept in registers
    // from bytecode to bytecode, and so is a value that the next bytecode may need.
    HOLE "hole" () [Code] -> Ptr, Key::None, NONE, None, [PURE GRAPH STENCIL], (none);
    HOLE_ADDR "hole_addr" (Ptr) [Offset] -> Ptr, Key::None, NONE, None, [PURE STENCIL], (none);
    KEPT_TC "kept_tc" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH STENCIL STAYS], (none);
    KEPT_LOCAL "kept_local" () [] -> Ptr, Key::None, NONE, None, [PURE SLOTS GRAPH STENCIL STAYS], (none);
    KEPT_CU "kept_cu" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH STENCIL], (none);
    // The constants that a bytecode type pins: each is in a register that nothing else is ever in.
    PINNED0 "pinned0" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH STENCIL STAYS], (none);
    PINNED1 "pinned1" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH STENCIL STAYS], (none);
    CACHED "cached" () [] -> Same, Key::Result, HELD, None, [PURE GRAPH STENCIL], (none);
    CONTINUE "continue" (Ptr Ptr) [Code] -> Void, Key::None, NONE, None, [GRAPH STENCIL ENDS], (none);
    CONTINUE_WITH "continue_with" (Ptr Ptr Same) [Code] -> Void, Key::Operand, HANDED, None, [GRAPH STENCIL ENDS], (none);
    CONTINUE_TO "continue_to" (Ptr Ptr Ptr) [] -> Void, Key::None, NONE, None, [GRAPH STENCIL ENDS], (none);
    // Decrements a word of the engine, at an address that is an operand, and returns the rest. As of `SPEND`'s, no other nodes access it.
    SPEND_AT "spend_at" (Ptr) [] -> Same, Key::Result, INT, None, [READS GRAPH STENCIL], (none);

    // Operators of opcodes that machine code interprets, which read their operands from the bytecode: a field of the bytecode,
    // extended to 64 bits; a word of the function's record, by its offset; the bytecode's address; the first free slot of the operand stack; and the
    // ends: the next bytecode, the bytecode at an address, and an exit at such a bytecode.
    FIELD "field" () [Code] -> Ptr, Key::None, NONE, None, [PURE GRAPH STENCIL REREAD], (none);
    RECORD "record" () [Code] -> Ptr, Key::None, NONE, None, [PURE GRAPH STENCIL REREAD], (none);
    KEPT_PC "kept_pc" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH STENCIL STAYS], (none);
    KEPT_TOP "kept_top" () [] -> Ptr, Key::None, NONE, None, [PURE GRAPH STENCIL STAYS], (none);
    DISPATCH "dispatch" (Ptr Ptr) [Code] -> Void, Key::None, NONE, None, [GRAPH STENCIL ENDS], (none);
    DISPATCH_TO "dispatch_to" (Ptr Ptr Ptr) [Code] -> Void, Key::None, NONE, None, [GRAPH STENCIL ENDS], (none);
    LEAVE_AT "leave_at" (Ptr) [] -> Void, Key::None, NONE, None, [GRAPH STENCIL ENDS], (none);
}
