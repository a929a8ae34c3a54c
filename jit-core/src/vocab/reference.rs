//! The text of the language reference on each word of the template language, with examples.
//!
//! `cargo xtask reference` makes docs/operators.md, the documentation of `template!` and a test from these texts. An
//! operator's operands, result and traps come from its row. In examples `$a` is 7, `$b` is -2, `$u` is the greatest `u64`,
//! `$x` is 2.5, `$p` is the address of the numbers 10, 20, 30 and 40 of type `i64`, `$k` is the constant 5, `$run` is two VM
//! registers with 3 and 4, `$f` is the number of a function that adds its two arguments, and at `$to` the function returns 99.

use super::op::{Kind, Param};
use super::{Op, OpInfo, Vocabulary};

/// A group of related words.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// The words.
    pub entries: &'static [Entry],
}

/// A word of the template language.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// An operator's name, or another word of the language.
    pub word: &'static str,
    /// The syntax, for a word that is no operator.
    pub form: Option<&'static str>,
    /// The description: the facts that the operator's row does not tell.
    pub says: &'static str,
    /// Expressions: the type of the output that takes the value, the expression, and the value. For an expression that traps,
    /// these are `!` and the trap.
    pub examples: &'static [(&'static str, &'static str, &'static str)],
}

impl Entry {
    /// The row of the operator, if the word is one.
    pub fn row(&self) -> Option<(Op, &'static OpInfo)> {
        Vocabulary::BUILTIN.iter().find(|(_, info)| info.name == self.word)
    }
}

impl OpInfo {
    /// The syntax in templates: `(load address type)`.
    pub fn form(&self) -> String {
        let operands = self.operands.iter().map(|kind| match kind {
            Kind::Ptr => "address",
            Kind::Word => "number",
            Kind::Flag => "flag",
            _ => "value",
        });
        let params = self.params.iter().map(|param| match param {
            Param::Type => "type",
            Param::Offset => "offset",
            Param::Scale => "scale",
            Param::Order => "order",
            _ => "constant",
        });
        let words: Vec<&str> = core::iter::once(self.name).chain(operands).chain(params).collect();
        format!("({})", words.join(" "))
    }
}

macro_rules! sections {
    ($($title:literal { $($word:literal $([$form:literal])? $says:literal $(, $ty:ident $code:literal = $value:literal)*;)* })*) => {
        &[$(Section {
            title: $title,
            entries: &[$(Entry {
                word: $word,
                form: sections!(@form $($form)?),
                says: $says,
                examples: &[$((stringify!($ty), $code, $value)),*],
            }),*],
        }),*]
    };
    (@form) => { None };
    (@form $form:literal) => { Some($form) };
}

/// The words of the template language but for those about kinds of values, sites and slow paths.
pub static SECTIONS: &[Section] = sections! {
    "Arithmetic" {
        "add" "The sum. Of integers it wraps around.",
            i64 "(add $a 1)" = "8", u8 "(add (const 255 u8) 1)" = "0", f64 "(add $x 0.25)" = "2.75";
        "sub" "The difference. Of integers it wraps around.",
            i64 "(sub $a $b)" = "9", u32 "(sub (const 0 u32) 1)" = "4294967295";
        "mul" "The product. Of integers it wraps around.",
            i64 "(mul $a $b)" = "-14", u8 "(mul (const 16 u8) 17)" = "16";
        "div" "The quotient, rounded toward zero. Floats are divided as IEEE 754 says, and never trap.",
            i64 "(div $a $b)" = "-3", u64 "(div $u 2)" = "9223372036854775807", f64 "(div $x 0.0)" = "f64::INFINITY",
            i64 "(div $a 0)" = "! DivideByZero", i8 "(div (const -128 i8) -1)" = "! Overflow";
        "udiv" "The quotient of two integers read without a sign, whatever their types.",
            i64 "(udiv $b 2)" = "9223372036854775807";
        "rem" "What is left of the first by a division that rounds toward zero: it has the sign of the first. The least integer \
               leaves 0 by -1, and does not trap.",
            i64 "(rem -7 2)" = "-1", u64 "(rem $u 10)" = "5", i8 "(rem (const -128 i8) -1)" = "0",
            i64 "(rem $a 0)" = "! DivideByZero";
        "urem" "What is left by a division of two integers read without a sign.", i64 "(urem $b 10)" = "4";
        "neg" "The number with the other sign. The least integer stays what it is; of a float only the sign bit changes, of a NaN \
               too.",
            i64 "(neg $a)" = "-7", i8 "(neg (const -128 i8))" = "-128", f64 "(neg 0.0)" = "-0.0";
        "mulhi" "The upper half of the product.", i64 "(mulhi $b 3)" = "-1", u64 "(mulhi $u 3)" = "2";
        "umulhi" "The upper half of the product of two integers read without a sign.", i64 "(umulhi $b 3)" = "2";
        "addo" "Whether the sum does not fit the type.",
            u8 "(flagval (addo (const 127 i8) 1) u8)" = "1", u8 "(flagval (addo (const 127 u8) 1) u8)" = "0";
        "subo" "Whether the difference does not fit the type.",
            u8 "(flagval (subo $a $b) u8)" = "0", u8 "(flagval (subo (const 1 u8) 2) u8)" = "1";
        "mulo" "Whether the product does not fit the type.", u8 "(flagval (mulo $u 2) u8)" = "1";
        "uaddo" "Whether the sum of two integers read without a sign does not fit.", u8 "(flagval (uaddo $b 2) u8)" = "1";
        "usubo" "Whether the second of two integers read without a sign is greater.", u8 "(flagval (usubo $a $b) u8)" = "1";
        "umulo" "Whether the product of two integers read without a sign does not fit.",
            u8 "(flagval (umulo $b 2) u8)" = "1";
    }
    "Bits" {
        "and" "Bits that both have.", i64 "(and $a 12)" = "4";
        "or" "Bits that either has.", i64 "(or $a 8)" = "15";
        "xor" "Bits that one of them has.", i64 "(xor $a 2)" = "5";
        "not" "Bits that it has not.", i64 "(not $a)" = "-8", u8 "(not (const 1 u8))" = "254";
        "shl" "The bits shifted to the left. The count counts modulo the width.",
            i64 "(shl $a 2)" = "28", i32 "(shl (const 1 i32) 33)" = "2";
        "shr" "The bits shifted to the right, with zeros from the left: of signed operands too. The count counts modulo the width.",
            u64 "(shr $u 60)" = "15", i64 "(shr $b 60)" = "15", u8 "(shr (const 128 u8) 8)" = "128";
        "sar" "The bits shifted to the right, with copies of the highest bit from the left: of unsigned operands too. The count \
               counts modulo the width.",
            i64 "(sar $b 1)" = "-1", i8 "(sar (const -128 i8) 9)" = "-64";
        "rotl" "The bits rotated to the left. The count counts modulo the width.", u8 "(rotl (const 129 u8) 1)" = "3";
        "rotr" "The bits rotated to the right. The count counts modulo the width.", u8 "(rotr (const 3 u8) 1)" = "129";
        "clz" "How many zeros are above the highest one; the width for zero.",
            i64 "(clz $a)" = "61", u8 "(clz (const 0 u8))" = "8";
        "ctz" "How many zeros are below the lowest one; the width for zero.",
            i64 "(ctz 8)" = "3", i32 "(ctz (const 0 i32))" = "32";
        "popcnt" "How many bits are one.", i64 "(popcnt $a)" = "3";
        "bswap" "The bytes in reverse order.", u32 "(bswap (const 1 u32))" = "16777216";
    }
    "Comparisons" {
        "lt" "Whether the first is less; not if either is NaN.",
            u8 "(flagval (lt $b $a) u8)" = "1", u8 "(flagval (lt $u 1) u8)" = "0",
            u8 "(flagval (lt $x (div 0.0 0.0)) u8)" = "0";
        "le" "Whether the first is less or equal; not if either is NaN.", u8 "(flagval (le $a 7) u8)" = "1";
        "eq" "Whether they are equal; NaN equals nothing, and 0.0 equals -0.0.",
            u8 "(flagval (eq $a 7) u8)" = "1", u8 "(flagval (eq 0.0 -0.0) u8)" = "1";
        "ne" "Whether they are not equal; NaN equals nothing.", u8 "(flagval (ne $x $x) u8)" = "0";
        "ge" "Whether the first is greater or equal; not if either is NaN.", u8 "(flagval (ge $b $a) u8)" = "0";
        "gt" "Whether the first is greater; not if either is NaN.", u8 "(flagval (gt $u 1) u8)" = "1";
        "ult" "Whether the first of two integers read without a sign is less.", u8 "(flagval (ult $b $a) u8)" = "0";
        "ule" "Whether the first of two integers read without a sign is less or equal.",
            u8 "(flagval (ule $a $b) u8)" = "1";
        "uge" "Whether the first of two integers read without a sign is greater or equal.",
            u8 "(flagval (uge $b $a) u8)" = "1";
        "ugt" "Whether the first of two integers read without a sign is greater.", u8 "(flagval (ugt $b $a) u8)" = "1";
        "nz" "Whether it is not zero.", u8 "(flagval (nz $a) u8)" = "1";
        "zr" "Whether it is zero.", u8 "(flagval (zr $a) u8)" = "0";
        "notf" "The opposite.", u8 "(flagval (notf (zr $a)) u8)" = "1";
        "all" ["(all flag …)"] "Whether all hold; what stands behind one that does not is not computed.",
            u8 "(flagval (all (nz $a) (gt $a 3)) u8)" = "1";
        "any" ["(any flag …)"] "Whether one holds; what stands behind it is not computed.",
            u8 "(flagval (any (zr $a) (gt $a 30)) u8)" = "0";
        "likely" "The flag, which is expected to hold.", i64 "(if (likely (nz $a)) 1 2)" = "1";
        "unlikely" "The flag, which is not expected to hold.", i64 "(if (unlikely (nz $a)) 1 2)" = "1";
    }
    "Conversions" {
        "scast" "The integer in another width: the low bits, or widened with copies of its highest bit, whatever its type. To its \
                 own width it changes only the sign by which other operators go.",
            i64 "(scast (const 255 u8) i64)" = "-1", i8 "(scast $a i8)" = "7",
            i64 "(if (lt (scast $u i64) 0) 1 2)" = "1";
        "ucast" "The integer in another width: the low bits, or widened with zeros, whatever its type. To its own width it changes \
                 only the sign by which other operators go.",
            i64 "(ucast (const -1 i8) i64)" = "255", u8 "(ucast $b u8)" = "254";
        "flagval" "1 if the flag holds, else 0.", i64 "(flagval (gt $a 1) i64)" = "1";
        "stof" "An integer read with a sign as a float, rounded to nearest, ties to even.",
            f64 "(stof $b f64)" = "-2.0", f32 "(stof 16777217 f32)" = "16777216.0";
        "utof" "An integer read without a sign as a float, rounded to nearest, ties to even.",
            f64 "(utof $u f64)" = "18446744073709551616.0";
        "ftoi_wrap" "A float rounded toward zero, modulo two to the width; NaN and infinities give 0.",
            i64 "(ftoi_wrap $x i64)" = "2", u8 "(ftoi_wrap -1.5 u8)" = "255";
        "ftos_sat" "A float rounded toward zero to the nearest signed integer there is; NaN gives 0.",
            i8 "(ftos_sat 1000.0 i8)" = "127", i64 "(ftos_sat (div 0.0 0.0) i64)" = "0";
        "ftou_sat" "A float rounded toward zero to the nearest unsigned integer there is; NaN gives 0.",
            u8 "(ftou_sat -3.0 u8)" = "0";
        "ftos_least" "A float rounded toward zero to a signed integer; where there is none, and for NaN, the least integer of \
                      the type, whose highest bit alone is set. One instruction of x86-64.",
            i64 "(ftos_least $x i64)" = "2", i64 "(ftos_least (div 0.0 0.0) i64)" = "-9223372036854775808",
            i32 "(ftos_least 2147483648.0 i32)" = "-2147483648", i32 "(ftos_least -2147483648.5 i32)" = "-2147483648";
        "ftos_trap" "A float rounded toward zero to a signed integer.",
            i64 "(ftos_trap $x i64)" = "2", i8 "(ftos_trap 128.0 i8)" = "! BadConversion";
        "ftou_trap" "A float rounded toward zero to an unsigned integer.",
            u8 "(ftou_trap 255.5 u8)" = "255", u8 "(ftou_trap -1.0 u8)" = "! BadConversion";
        "fcast" "A float of the other width, rounded to nearest, ties to even.", f32 "(fcast $x f32)" = "2.5";
        "bitcast" "The same bits as a float or as an integer; of a NaN too.",
            u64 "(bitcast $x u64)" = "0x4004000000000000", f32 "(bitcast (const 0x3fc00000 i32) f32)" = "1.5";
    }
    "Floats" {
        "abs" "The float without its sign; of a NaN too, whose other bits stay.", f64 "(abs -2.5)" = "2.5";
        "sqrt" "The square root; NaN below zero.", f64 "(sqrt 6.25)" = "2.5";
        "min" "The smaller; NaN if either is; -0.0 is less than 0.0.",
            f64 "(min $x 2.0)" = "2.0", f64 "(min 0.0 -0.0)" = "-0.0";
        "max" "The larger; NaN if either is; -0.0 is less than 0.0.", f64 "(max $x 2.0)" = "2.5";
        "floor" "Rounded down.", f64 "(floor -2.5)" = "-3.0";
        "ceil" "Rounded up.", f64 "(ceil $x)" = "3.0";
        "trunc" "Rounded toward zero.", f64 "(trunc -2.5)" = "-2.0";
        "nearest" "Rounded to nearest, ties to even.", f64 "(nearest $x)" = "2.0";
        "copysign" "The first with the sign of the second; of NaNs too.", f64 "(copysign $x -1.0)" = "-2.5";
        "canonical_nan" "The float itself, and for every NaN the one that is quiet and has neither sign nor payload.",
            u64 "(bitcast (canonical_nan (sqrt -1.0)) u64)" = "0x7ff8000000000000", f64 "(canonical_nan $x)" = "2.5";
    }
    "Constants and names" {
        "const" ["(const number type)"] "A constant of this type. `(&path)` and `(&path arguments)` are constants that Rust computes, \
                 `(&sizeof T)` and `(&offset_of T, field)` among them. A number alone takes the type of what stands beside it.",
            u8 "(const 255 u8)" = "255", u64 "(const 0xffff_ffff_ffff_ffff u64)" = "u64::MAX", i64 "(add $a $k)" = "12", i64 "(const (&sizeof u32) i64)" = "4";
        "copy" "The value.", i64 "(copy $a)" = "7";
        "let:" ["(let: (($name value) …) value)"] "Computes values in order and names them for what stands behind them.",
            i64 "(let: (($double (add $a $a)) ($more (add $double 1))) (mul $double $more))" = "210";
        "letv:" ["(letv: (($name value) …) step …)"] "As `let:`, for steps that are done.",
            i64 "(do (letv: (($rest (sub $a 9))) (when (gt $rest 0) (trap 1))) $a)" = "7";
        "do" ["(do step … value)"] "Does one thing after another; the last one's value counts.",
            i64 "(do (discard $b) $a)" = "7";
        "dov" ["(dov step …)"] "Does one thing after another.", i64 "(do (dov (discard $a) (discard $b)) 1)" = "1";
        "discard" "Computes a value and forgets it.", i64 "(do (discard (add $a 1)) $a)" = "7";
        "set" ["(set $output value)"] "Stores an output, in a template that does so itself: `Op::Name! => …`.";
        "place" ["(place $output)"] "The address of such an output, for a function that stores it. It counts as stored from there on.";
    }
    "Choice" {
        "if" "One of two values; only that one is computed.",
            i64 "(if (gt $a 3) (div 100 $a) 0)" = "14";
        "select" "One of two values; both are computed.", i64 "(select (gt $a 3) $a $b)" = "7";
        "when" ["(when flag step)"] "Does something if the flag holds.", i64 "(do (when (gt $a 3) (return 1)) 2)" = "1";
        "ifv" ["(ifv flag step step)"] "Does one of two things.",
            i64 "(do (ifv (lt $a 3) (return 1) (discard $b)) 2)" = "2";
        "cold" ["(cold step)"] "Does something that is rare: its code stays out of the way.",
            i64 "(do (when (gt $a 3) (cold (return 1))) 2)" = "1";
    }
    "Memory" {
        "load" ["(load address type)"] "The value at an address, which may be any number of 64 bits and need not be aligned. \
                `(load pure address type)` is for what never changes while a function of the bytecode runs, from its call to its \
                end, calls within it included, at an address that may be read at any time: it is loaded where the compiler likes, \
                or not at all.",
            i64 "(load $p i64)" = "10", u8 "(load (addr $p 8) u8)" = "20";
        "store" ["(store address value type)"] "Stores a value at an address, which need not be aligned.",
            i64 "(do (store $p $a i64) (load $p i64))" = "7";
        "addr" "So many bytes behind an address.", i64 "(load (addr $p 16) i64)" = "30";
        "idx" "The address of an element of so many bytes, any positive constant; the number may be negative.",
            i64 "(load (idx $p 3 8) i64)" = "40";
        "within" ["(within flag code access)"] "An access that ends the function with a trap of this code unless the flag holds. The \
                 access is one `load` or `store`, or a value computed from one `load`.",
            i64 "(within (lt $a 8) 3 (load $p i64))" = "10", i64 "(within (lt $a 2) 3 (load $p i64))" = "! User(3)";
        "holds" ["(holds address value type)"] "Says that a place has this value now, as the template's author knows. The optimizer takes it for \
                 granted; debug builds of the interpreter look.",
            i64 "(do (store $p $a i64) (holds $p $a i64) (load $p i64))" = "7";
        "kept" "Whether the memory is made that a `(call leaf makes …)` of the row makes: the optimizer does not make what nobody needs.",
            u8 "(do (discard (call leaf makes fresh (arglist) ptr)) (flagval (all (kept) (lt $a 0)) u8))" = "0";
        "tc" "The address of the context.", u8 "(load (tc) u8)" = "77";
        "cu" "What `Code::with_unit` said for this function.", u8 "(load (cu) u8)" = "55";
        "local" "The address of VM register 0.", i64 "(load (local) i64)" = "7";
        "stack" "The machine's stack pointer.", u8 "(flagval (nz (stack)) u8)" = "1";
        "window" ["(window $run)"] "The address of a run of VM registers.", i64 "(load (addr (window $run) 8) i64)" = "4";
        "length" ["(length $run)"] "How many there are in a run.", i64 "(length $run)" = "2";
    }
    "Memory that threads share" {
        "atomic_load" "The value at an address.", i64 "(atomic_load $p i64 acquire)" = "10";
        "atomic_store" "Stores a value.", i64 "(do (atomic_store $p $a i64 release) (load $p i64))" = "7";
        "atomic_swap" "Stores a value, and gives what was there.",
            i64 "(sub (atomic_swap $p $a i64 acq_rel) (load $p i64))" = "3";
        "atomic_add" "Adds a value to what is there, wrapping around, and gives what was there.",
            i64 "(sub (atomic_add $p $a i64 relaxed) (load $p i64))" = "-7";
        "atomic_and" "Leaves bits that both have, and gives what was there.",
            i64 "(sub (atomic_and $p 3 i64 relaxed) (load $p i64))" = "8";
        "atomic_or" "Leaves bits that either has, and gives what was there.",
            i64 "(sub (atomic_or $p $a i64 relaxed) (load $p i64))" = "-5";
        "atomic_xor" "Leaves bits that one of them has, and gives what was there.",
            i64 "(sub (atomic_xor $p 2 i64 relaxed) (load $p i64))" = "2";
        "atomic_cas" "Stores the second value if the first is there, and gives what was there: it was stored if that is the first \
                     value.",
            i64 "(sub (atomic_cas $p 10 $a i64 seq_cst) (load $p i64))" = "3",
            i64 "(sub (atomic_cas $p 11 $a i64 seq_cst) (load $p i64))" = "0";
    }
    "Where it goes on" {
        "branch" ["(branch $label)"] "Goes to a label of the bytecode, or to a mark of the template: `(branch (label name))`.",
            i64 "(do (when (gt $a 3) (branch $to)) 1)" = "99";
        "mark" ["(mark name)"] "A place among the steps of a `do`, `dov` or `letv:` that those steps go to.",
            i64 "(do (when (gt $a 3) (branch (label done))) (return 1) (mark done) 2)" = "2";
        "label" ["(label name)"] "Names a mark in a `branch`.",
            i64 "(do (when (lt $a 3) (branch (label end))) (return 1) (mark end) 2)" = "1";
        "switch" ["(switch number $labels)"] "Goes to the label of this number, the last one for all greater numbers. Labels may \
                 also be listed.", i64 "(switch $a $to)" = "99";
        "return" ["(return value)"] "Ends the function with a result, or with none.", i64 "(return (add $a 1))" = "8";
        "exit" ["(exit $label)"] "Leaves compiled code: the interpreter resumes at the label, or without one at the next bytecode.",
            i64 "(exit $to)" = "99";
        "guard" ["(guard flag step)"] "Leaves compiled code if the flag does not hold: the interpreter runs the opcode again and does \
                 the step.", i64 "(do (guard (lt $a 3) (discard $a)) 1)" = "1";
        "trap" ["(trap code)"] "Ends the function with an error, `Trap::User(code)`.", i64 "(trap 6)" = "! User(6)";
    }
    "Calls" {
        "call" ["(call function (arglist (carg value type) …) type)"] "Calls a Rust function, or with a convention before it an \
                address, and has its result.", i64 "(call double (arglist (carg (add $a 1) i64)) i64)" = "16";
        "callv" ["(callv function (arglist (carg value type) …))"] "Calls a function without a result.",
            i64 "(do (callv nothing (arglist (carg $a i64))) 1)" = "1";
        "arglist" ["(arglist …)"] "The arguments of a call: `carg`s, or for functions of bytecode any expressions.",
            i64 "(call double (arglist (carg $b i64)) i64)" = "-4";
        "carg" ["(carg value type)"] "An argument of a Rust function, and the type that this function takes.",
            i64 "(call double (arglist (carg (mul $a $b) i64)) i64)" = "-28";
        "invoke" ["(invoke number (arglist value …) type)"] "Calls the function of bytecode with this number and has its result. \
                 The values are its first VM registers; `(arglist $run)` gives a run of registers.",
            i64 "(invoke $f (arglist (add $a 1) (mul $b 2)) i64)" = "4", i64 "(invoke $f (arglist $run) i64)" = "7";
        "invokev" ["(invokev number (arglist value …))"] "As `invoke`, without a result.",
            i64 "(do (invokev $f (arglist $a $b)) 1)" = "1";
        "spread" ["(spread address count)"] "In the argument list of a call of bytecode: all its arguments are 64-bit words in memory, so many \
                 from this address on.",
            i64 "(invoke $f (arglist (spread (window $run) (length $run))) i64)" = "7";
        "tail" ["(tail number (arglist value …))"] "Ends this function; the one with this number takes its place.",
            i64 "(tail $f (arglist $a 1))" = "8";
        "try" ["(try call value)"] "The value of an `invoke` or of a `call throws`, and if that fails another value. What else a call \
               that fails has done stays done.",
            i64 "(try (invoke $f (arglist $a $b) i64) 1)" = "5", i64 "(try (invoke 9999 (arglist $a) i64) 1)" = "1";
        "tryv" ["(tryv call step)"] "As `try`, for a call without a result.",
            i64 "(do (tryv (invokev 9999 (arglist $a)) (return 3)) 1)" = "3";
        "trap_code" ["(trap_code)"] "In what a `try` or `tryv` does if its call fails: the number of the trap, by `Trap::code`.",
            i64 "(try (invoke 9999 (arglist $a) i64) (trap_code))" = "5";
    }
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::Props;

    #[test]
    fn every_operator_has_an_entry_with_an_example() {
        let entries = || SECTIONS.iter().flat_map(|section| section.entries);
        for (_, info) in Vocabulary::BUILTIN.iter().filter(|(_, info)| info.props.contains(Props::TEMPLATE)) {
            let n_entries = entries().filter(|entry| entry.word == info.name).count();
            assert_eq!(n_entries, 1, "`{}`", info.name);
        }
        for entry in entries() {
            assert!(entry.row().is_some() || entry.form.is_some(), "`{}` is no operator", entry.word);
            // `set` and `place` occur in templates that store outputs themselves, which have tests of their own.
            let is_shown =
                entry.examples.iter().any(|(_, code, _)| code.contains(&format!("({}", entry.word)));
            assert!(is_shown || ["set", "place"].contains(&entry.word), "`{}` has no example", entry.word);
        }
    }
}
