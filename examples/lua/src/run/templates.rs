//! What each opcode means: all that interprets and compiles Lua is made from this file.
//!
//! What is not quick is a function of Rust in `slow`. The rows read objects only where a check of their kind has succeeded.

use super::bytecode::Op;
use super::cases::{
    ADDED, ADDED_OR_META, ALONE, BESIDE_METATABLE, BY_FUNCTION, ELSEWHERE, ElementCase, FIRST, FieldCase,
    INHERITED, NOWHERE, OWN, OWN_OR_META, OperatorCase, SECOND,
};
use super::layout::*;
use super::lookups::{
    ADDITION_MASK, ADDITION_WORDS, Addition, FOREIGN, HASH_SHIFT, LOOKUP_MASK, LOOKUP_WORDS, Lookup,
    SHAPE_SHIFT,
};
use super::slow::*;
use crate::object::function::Closure;
use crate::object::hash::{FACTOR, FOLD};
use crate::object::table::Table;
use crate::object::value::{ABSENT, FALSE, FUNCTION, NIL, STRING, TABLE, THREAD, TRUE};
use azulejo::prelude::*;

template_macros! {
    values {
        // What a table is: its shape, how many elements it has, and all else that only functions of Rust change. Then the values in objects:
        // fields, elements, shared variables. Closures and strings stay as they are. Then what calls give behind their
        // first results. The last is what the machine knows.
        regions { shapes, lengths, headers, fields, elements, cells, results, machine }

        kinds u64 {
            number: f64 { is (ult $box &NIL) unbox (bitcast $box f64) box (bitcast $value u64) }
            string: ptr { is (eq (shr $box 48) &STRING_TAG) unbox (sub $box &STRING) box (add $value &STRING) }
            table: ptr { is (uge $box &TABLE) unbox (sub $box &TABLE) box (add $value &TABLE) }
            function: ptr { is (eq (shr $box 48) &FUNCTION_TAG) unbox (sub $box &FUNCTION) box (add $value &FUNCTION) }
            cell: ptr { is (eq (shr $box 48) &THREAD_TAG) unbox (sub $box &THREAD) box (add $value &THREAD) }
            nil { is (eq $box &NIL) }
            false { is (eq $box &FALSE) }
            true { is (eq $box &TRUE) }
        }

        // Lets the collector work, if it is its turn. What has to stay is in VM registers.
        macro ^collect () (when (unlikely (gt (load machine (addr (tc) &DEBT) i64) 0))
            (callv throws observes collect (arglist (carg (tc) ptr) (carg (frames) ptr))))

        // Called when a value was stored in an object.
        macro ^wrote (,object ,value) (when (unlikely (all (notf (is number ,value)) (uge ,value &STRING)
                (eq (load headers (addr ,object &COLOR) u8) &BLACK)))
            (callv leaf (changes headers) wrote (arglist (carg (tc) ptr) (carg ,object ptr) (carg ,value u64))))

        // The first key behind a table's array, which starts with key 0.
        macro ^end (,table) (ucast (load lengths (addr ,table &ARRAY_END) u32) u64)

        macro ^is_closure (,value) (all (is function ,value) (likely (eq (load headers (unbox function ,value) u8) &CLOSURE)))
        macro ^code (,value) (load headers (addr (unbox function ,value) &CODE) u64)

        // What a function of Rust gives is nothing if it leaves the call of a metamethod to the bytecode.
        macro ^method () (load machine (addr (tc) &METHOD) u64)
        macro ^operand () (load machine (addr (tc) &OPERANDS) u64)
        macro ^second_operand () (load machine (addr (tc) &SECOND_OPERAND) u64)
        macro ^call_method (,a ,b) (let: (($method (^method)))
            (invoke observes (^code $method) (arglist $method ,a ,b) u64))
        macro ^or_method (,given ,a ,b) (let: (($given ,given))
            (if (ne $given &ABSENT) $given (^call_method ,a ,b)))

        macro ^is_of (,table) (eq (load shapes (addr ,table &SHAPE) u64) (case shape))
        macro ^slot (,table) (add (load headers (addr ,table &SLOTS) u64) (ucast (case offset) u64))
        macro ^is_current () (eq (load machine (addr (tc) &EPOCH) u64) (case epoch))
    }

    operators {
        // What a table's metatable has for an operator: in this epoch the closure that it was, unless the collector has taken that.
        macro ^known_method () (load fields (^slot (case other)) u64)
        macro ^has_method (,of) (all (is table ,of) (^is_of (unbox table ,of)) (^is_current) (is function (^known_method)))
        macro ^by_method (,fits ,a ,b ,slowly) (cached $cache OperatorCase ,fits
            (invoke observes (case code) (arglist (^known_method) ,a ,b) u64)
            (slow (^or_method ,slowly ,a ,b)))
        // Code that has seen tables is to see numbers too before it looks for both.
        macro ^if_numbers (,are ,done ,otherwise) (if (likely ,are) (outside $cache ,done) ,otherwise)
        macro ^are_numbers (,a ,b) (all (is number ,a) (is number ,b))
    }
}

template! {
    use values;
    use operators;

    macro ^arith (,which ,fits ,a ,b) (^by_method ,fits ,a ,b
        (call throws observes arith (arglist (carg (tc) ptr) (carg (frames) ptr)
            (carg ,which u32) (carg ,a u64) (carg ,b u64) (carg $cache ptr)) u64))
    // The first operand that is no number says what is done.
    macro ^says_what () (any (all (eq (case operand) &FIRST) (^has_method $a))
        (all (eq (case operand) &SECOND) (is number $a) (^has_method $b)))
    macro ^of_numbers (,number ,which) (^if_numbers (^are_numbers $a $b) (box number ,number)
        (^arith ,which (^says_what) $a $b))
    macro ^binary (,operator ,which) (^of_numbers (,operator (unbox number $a) (unbox number $b)) ,which)
    macro ^of_number (,of ,number ,which ,a ,b) (^if_numbers (is number ,of) (box number ,number)
        (^arith ,which (^has_method ,of) ,a ,b))
    macro ^with_const (,number ,which) (^of_number $a ,number ,which $a (bitcast $k u64))
    macro ^const_with (,number ,which) (^of_number $b ,number ,which (bitcast $k u64) $b)
    macro ^modulo (,a ,b) (sub ,a (mul (floor (div ,a ,b)) ,b))
    // A square is a product, as in later versions of Lua.
    macro ^power (,a ,b) (let: (($x ,a) ($y ,b)) (if (eq $y 2.0) (mul $x $x) (call pure power (arglist (carg $x f64) (carg $y f64)) f64)))
    macro ^upvalue () (load pure (idx (addr (unbox function $closure) (&sizeof Closure)) $at 8) u64)

    Op::Const      => (copy $value)
    Op::Move       => (copy $a)
    Op::Keep       => (discard $a)
    Op::GetUpvalue => unsafe (^upvalue)
    Op::GetSharedUpvalue => unsafe (load cells (addr (unbox cell (^upvalue)) &CELL_VALUE) u64)
    Op::SetSharedUpvalue => unsafe (letv: (($cell (unbox cell (^upvalue))))
        (dov (store cells (addr $cell &CELL_VALUE) $value u64) (^wrote $cell $value)))
    Op::NewCell! => unsafe (dov
        (set $dst (box cell (call leaf new_cell (arglist (carg (tc) ptr) (carg $value u64)) ptr)))
        (^collect))
    Op::GetCell => unsafe (load cells (addr (unbox cell $cell) &CELL_VALUE) u64)
    Op::SetCell => unsafe (letv: (($of (unbox cell $cell)))
        (dov (store cells (addr $of &CELL_VALUE) $value u64) (^wrote $of $value)))

    Op::Add           => unsafe (^binary add &ADD)
    Op::Subtract      => unsafe (^binary sub &SUBTRACT)
    Op::Multiply      => unsafe (^binary mul &MULTIPLY)
    Op::Divide        => unsafe (^binary div &DIVIDE)
    Op::Modulo        => unsafe (^of_numbers (^modulo (unbox number $a) (unbox number $b)) &MODULO)
    Op::Power         => unsafe (^of_numbers (^power (unbox number $a) (unbox number $b)) &POWER)
    Op::AddConst      => unsafe (^with_const (add (unbox number $a) $k) &ADD)
    Op::SubtractConst => unsafe (^with_const (sub (unbox number $a) $k) &SUBTRACT)
    Op::MultiplyConst => unsafe (^with_const (mul (unbox number $a) $k) &MULTIPLY)
    Op::DivideConst   => unsafe (^with_const (div (unbox number $a) $k) &DIVIDE)
    Op::ModuloConst   => unsafe (^with_const (^modulo (unbox number $a) $k) &MODULO)
    Op::PowerConst    => unsafe (^with_const (^power (unbox number $a) $k) &POWER)
    Op::ConstAdd      => unsafe (^const_with (add $k (unbox number $b)) &ADD)
    Op::ConstSubtract => unsafe (^const_with (sub $k (unbox number $b)) &SUBTRACT)
    Op::ConstMultiply => unsafe (^const_with (mul $k (unbox number $b)) &MULTIPLY)
    Op::ConstDivide   => unsafe (^const_with (div $k (unbox number $b)) &DIVIDE)
    Op::Negate        => unsafe (^of_number $a (neg (unbox number $a)) &NEGATE $a $a)
    Op::Not           => (select (ule (sub $a &NIL) 1) &TRUE &FALSE)
}

// Comparisons and loops.
template! {
    use values;
    use operators;

    macro ^is_true (,a) (ugt (sub ,a &NIL) 1)
    // Both operands are to have the metamethod.
    macro ^is_alike (,b) (all (is table ,b) (eq (load headers (addr (unbox table ,b) &METATABLE) u64) (case other)))
    macro ^compare (,which ,a ,b) (^is_true (^by_method (all (^has_method ,a) (^is_alike ,b)) ,a ,b
        (call throws observes compare (arglist (carg (tc) ptr) (carg (frames) ptr)
            (carg ,which u32) (carg ,a u64) (carg ,b u64) (carg $cache ptr)) u64)))
    // What is no number cannot be compared with one.
    macro ^compare_number (,a ,b) (^is_true (slow (call throws observes compare_number
        (arglist (carg (tc) ptr) (carg (frames) ptr) (carg ,a u64) (carg ,b u64)) u64)))
    macro ^less (,a ,b) (^if_numbers (^are_numbers ,a ,b) (lt (unbox number ,a) (unbox number ,b)) (^compare &LESS ,a ,b))
    macro ^less_equal (,a ,b) (^if_numbers (^are_numbers ,a ,b) (le (unbox number ,a) (unbox number ,b))
        (^compare &LESS_EQUAL ,a ,b))
    macro ^with_const (,operator) (as (($a number)) (,operator $a $k) (^compare_number $a (bitcast $k u64)))
    macro ^const_with (,operator) (as (($a number)) (,operator $a $k) (^compare_number (bitcast $k u64) $a))
    // Tables without a metatable that says when they are equal are not, unless they are the same one.
    macro ^has_no_equal (,a) (all (is table ,a) (^says_nothing (load headers (addr (unbox table ,a) &METATABLE) u64)))
    macro ^says_nothing (,meta) (any (zr ,meta) (nz (and (load headers (addr ,meta &FLAGS) u16) &NO_EQUAL)))
    // Numbers are equal by their values, all else by its bits; and tables by what their metatables say.
    macro ^equal (,a ,b) (as ((,a number) (,b number)) (eq ,a ,b)
        (any (eq ,a ,b) (all (uge ,a &STRING) (eq (shr ,a 48) (shr ,b 48)) (ne (shr ,a 48) &STRING_TAG)
            (notf (^has_no_equal ,a)) (^compare &EQUAL ,a ,b))))

    Op::Jump                     => (branch $to)
    Op::JumpIfTrue               => (when (^is_true $a) (branch $to))
    Op::JumpIfFalse              => (when (notf (^is_true $a)) (branch $to))
    Op::JumpIfEqual              => unsafe (when (^equal $a $b) (branch $to))
    Op::JumpIfNotEqual           => unsafe (when (notf (^equal $a $b)) (branch $to))
    Op::JumpIfIs                 => (when (eq $a $value) (branch $to))
    Op::JumpIfIsNot              => (when (ne $a $value) (branch $to))
    Op::JumpIfNumber             => (when (as (($a number)) (eq $a $k) (ne 0 0)) (branch $to))
    Op::JumpIfNotNumber          => (when (as (($a number)) (notf (eq $a $k)) (eq 0 0)) (branch $to))
    Op::JumpIfLess               => unsafe (when (^less $a $b) (branch $to))
    Op::JumpIfNotLess            => unsafe (when (notf (^less $a $b)) (branch $to))
    Op::JumpIfLessEqual          => unsafe (when (^less_equal $a $b) (branch $to))
    Op::JumpIfNotLessEqual       => unsafe (when (notf (^less_equal $a $b)) (branch $to))
    Op::JumpIfLessConst          => unsafe (when (^with_const lt) (branch $to))
    Op::JumpIfNotLessConst       => unsafe (when (notf (^with_const lt)) (branch $to))
    Op::JumpIfLessEqualConst     => unsafe (when (^with_const le) (branch $to))
    Op::JumpIfNotLessEqualConst  => unsafe (when (notf (^with_const le)) (branch $to))
    Op::JumpIfGreaterConst       => unsafe (when (^const_with gt) (branch $to))
    Op::JumpIfNotGreaterConst    => unsafe (when (notf (^const_with gt)) (branch $to))
    Op::JumpIfGreaterEqualConst  => unsafe (when (^const_with ge) (branch $to))
    Op::JumpIfNotGreaterEqualConst => unsafe (when (notf (^const_with ge)) (branch $to))

    macro ^goes_on (,index ,limit ,step) (if (lt (const 0.0 f64) ,step) (le ,index ,limit) (le ,limit ,index))

    Op::ForNumber => (as (($a number)) (box number $a) (slow (call throws observes loop_number
        (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $a u64) (carg $which u32)) u64)))
    Op::ForPrepare! => (letv: (($limit $limit) ($step (unbox number $step))
            ($start (add (sub (unbox number $index) $step) $step)))
        (dov (set $index (box number $start))
            (when (notf (^goes_on $start (unbox number $limit) $step)) (branch $end))))
    Op::ForLoop! => (letv: (($limit $limit) ($step $step)
            ($next (add (unbox number $index) (unbox number $step))))
        (dov (set $index (box number $next))
            (when (^goes_on $next (unbox number $limit) (unbox number $step)) (branch $to))))
    Op::ForLoopUp! => (letv: (($limit $limit) ($next (add (unbox number $index) $step)))
        (dov (set $index (box number $next)) (when (le $next (unbox number $limit)) (branch $to))))
    Op::ForLoopDown! => (letv: (($limit $limit) ($next (add (unbox number $index) $step)))
        (dov (set $index (box number $next)) (when (ge $next (unbox number $limit)) (branch $to))))
    macro ^count (,len) (box number (stof (ucast ,len i64) f64))
    macro ^length_slowly () (slow (call throws observes length
        (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $a u64)) u64))
    macro ^is_length (,table ,len) (all (zr (load headers (addr ,table &HASH) u64))
        (any (zr ,len) (ne (load elements (idx (load headers (addr ,table &ARRAY) ptr) ,len 8) u64) &NIL)))
    Op::Length => unsafe (as (($of table $a))
        (let: (($len (sub (^end $of) 1)))
            (if (^is_length $of $len) (^count $len) (^length_slowly)))
        (as (($a string)) (^count (load headers (addr $a &LEN) u32)) (^length_slowly)))
    Op::Concat! => unsafe (dov
        (set $dst (^or_method (call throws observes concat
            (arglist (carg (tc) ptr) (carg (frames) ptr) (carg (window $values) ptr) (carg (length $values) u64)) u64)
            (^operand) (^second_operand)))
        (^collect))
}

// Tables.
template! {
    use values;
    use operators;

    // What a slow path gives; or it leaves the call of a metamethod, which is behind the others.
    macro ^unless_method (,given ,way) (letv: (($given ,given)) (dov (when (eq $given &ABSENT) ,way) (set $dst $given)))
    macro ^unless_setter (,given ,way) (when (eq ,given &ABSENT) ,way)
    macro ^found (,value ,way) (letv: (($found ,value)) (ifv (likely (ne $found &NIL)) (set $dst $found) ,way))
    macro ^get_slowly (,object ,way) (slowv (^unless_method (call throws observes get_field
        (arglist (carg (tc) ptr) (carg (frames) ptr) (carg ,object u64) (carg $key u64) (carg $cache ptr) (carg $seen ptr)) u64) ,way))
    // A method of a string is a field of the table in which all strings look.
    macro ^get_of_string (,object ,way) (ifv (is string ,object)
        (cachedv $cache FieldCase (all (zr (case shape)) (^is_current))
            (set $dst (load fields (^slot (case other)) u64))
            (slowv (set $dst (call throws observes get_of_string (arglist
                (carg (tc) ptr) (carg (frames) ptr) (carg ,object u64) (carg $key u64) (carg $cache ptr)) u64))))
        ,way)
    macro ^otherwise (,object ,way) ,way
    macro ^get_method () (set $dst (^call_method (^operand) (^second_operand)))
    // A metatable has a function for fields that are not there.
    macro ^get_by (,of ,method) (set $dst (invoke observes (case other) (arglist ,method (box table ,of) $key) u64))
    macro ^set_by (,of ,method) (discard (invoke observes (case other) (arglist ,method (box table ,of) $key $value) u64))
    macro ^by_function (,of ,call ,way) (letv: (($meta (load headers (addr ,of &METATABLE) ptr)) ($function (load fields (^slot $meta) u64)))
        (ifv (all (^is_current) (is function $function)) (,call ,of $function) ,way))
    macro ^get (,object ,otherwise) (dov
        (asv (($of table ,object)) (dov
            (cachedv $cache FieldCase (^is_of $of)
                (ifv (eq (case kind) &OWN) (set $dst (load fields (^slot $of) u64))
                    (ifv (eq (case kind) &INHERITED)
                        (ifv (^is_current) (^found (load fields (^slot (case other)) u64) (branch (label slowly))) (branch (label slowly)))
                        (ifv (eq (case kind) &OWN_OR_META)
                            (letv: (($found (load fields (^slot $of) u64)))
                                (ifv (any (ne $found &NIL) (^is_current)) (set $dst $found) (branch (label slowly))))
                            (ifv (eq (case kind) &BY_FUNCTION)
                                (^by_function $of ^get_by (branch (label slowly)))
                                (ifv (any (eq (case kind) &NOWHERE) (^is_current)) (set $dst &NIL) (branch (label slowly)))))))
                (cold (branch (label elsewhere))))
            (branch (label done))
            (mark elsewhere)
            (^elsewhere $of ^inherited ^get_there ^not_there (^nil_unless_metatable $of (branch (label slowly))) (label slowly)
                (label slowly)))
            (,otherwise ,object (branch (label slowly))))
        (branch (label done))
        (mark slowly)
        (^get_slowly ,object (branch (label method)))
        (branch (label done))
        (mark method)
        (^get_method)
        (mark done))
    macro ^nil_unless_metatable (,of ,way) (ifv (zr (load headers (addr ,of &METATABLE) u64)) (set $dst &NIL) ,way)
    macro ^set_slowly (,object ,way) (slowv (^unless_setter (call throws observes set_field (arglist (carg (tc) ptr)
        (carg (frames) ptr) (carg ,object u64) (carg $key u64) (carg $value u64) (carg $cache ptr) (carg $seen ptr)) u64) ,way))
    macro ^store (,table) (dov (store fields (^slot ,table) $value u64) (^wrote ,table $value))
    macro ^set_method () (letv: (($method (^method)))
        (discard (invoke observes (^code $method) (arglist $method (^operand) $key $value) u64)))
    // There is memory for the field, and nobody inherits it.
    macro ^may_get_field (,of ,offset) (all (ult ,offset (shl (ucast (load headers (addr ,of &LEN) u32) u64) 3))
        (zr (and (load headers (addr ,of &FLAGS) u16) &PROTOTYPE_FLAG)))
    macro ^set (,object) (dov
        (asv (($of table ,object)) (dov
            (cachedv $cache FieldCase (^is_of $of)
                (ifv (eq (case kind) &OWN) (^store $of)
                    (ifv (eq (case kind) &BY_FUNCTION) (^by_function $of ^set_by (branch (label slowly)))
                        (ifv (any (eq (case kind) &ADDED) (all (eq (case kind) &ADDED_OR_META) (^is_current)))
                            (ifv (^may_get_field $of (ucast (case offset) u64))
                                (dov (^store $of) (store shapes (addr $of &SHAPE) (case other) u64))
                                (branch (label slowly)))
                            (ifv (all (eq (case kind) &OWN_OR_META) (any (ne (load fields (^slot $of) u64) &NIL) (^is_current)))
                                (^store $of)
                                (branch (label slowly))))))
                (cold (branch (label elsewhere))))
            (branch (label done))
            (mark elsewhere)
            (^elsewhere $of ^own_alone ^set_there ^add_there (branch (label slowly)) (label slowly) (label slowly)))
            (branch (label slowly)))
        (branch (label done))
        (mark slowly)
        (^set_slowly ,object (branch (label method)))
        (branch (label done))
        (mark method)
        (^set_method)
        (mark done))
    macro ^globals () (load headers (addr (unbox function $closure) &ENVIRONMENT) ptr)

    Op::GetField!  => unsafe (letv: (($object $object)) (^get $object ^otherwise))
    Op::GetMethod! => unsafe (letv: (($object $object)) (^get $object ^get_of_string))
    Op::SetField  => unsafe (^set $object)
    Op::GetGlobal! => unsafe (letv: (($globals (box table (^globals)))) (^get $globals ^otherwise))
    Op::SetGlobal => unsafe (letv: (($globals (box table (^globals)))) (^set $globals))

    // The entry at a place of a hash part's index; the part itself if there is none.
    macro ^entry (,part ,mask ,place) (idx ,part (shl (and (ucast
        (load headers (addr (idx (idx ,part ,mask 8) (and ,place ,mask) 4) &HASH_INDEX) u32) u64) ,mask) 1) 8)
    macro ^is_of_key (,part ,entry) (all (ne ,entry ,part) (eq (load headers ,entry u64) $key))
    // The address of a key's value in a hash part, and in slots; the part itself if the key is not in it, zero if neither is found out quickly.
    macro ^in_hash (,part) (let: (($mask (ucast (load headers (addr ,part &HASH_MASK) u32) u64))
            ($product (mul (xor $key (shr $key 32)) &FACTOR)) ($place (xor (shr $product 32) (shr $product &FOLD)))
            ($first (^entry ,part $mask $place)))
        (if (^is_of_key ,part $first) (addr $first &ENTRY_VALUE)
            (let: (($second (^entry ,part $mask (add $place 1))))
                (if (^is_of_key ,part $second) (addr $second &ENTRY_VALUE)
                    (if (any (eq $first ,part) (eq $second ,part)) ,part (const 0 ptr))))))
    macro ^hash (,shape) (shr (mul (xor $key (shl ,shape &SHAPE_SHIFT)) &FACTOR) &HASH_SHIFT)
    // Where the lookups say that tables of a shape have a key; zero if they do not say it. What is not in the table itself `,foreign` looks at.
    macro ^in_slots (,of ,foreign) (let: (($shape (load shapes (addr ,of &SHAPE) u64))
            ($lookup (idx (addr (tc) &LOOKUPS) (mul (and (^hash $shape) &LOOKUP_MASK) &LOOKUP_WORDS) 8)))
        (if (all (eq (load machine $lookup (&field Lookup, shape)) $shape) (eq (load machine $lookup (&field Lookup, key)) $key))
            (let: (($place (load machine $lookup (&field Lookup, place))))
                (if (ult $place &FOREIGN) (idx (load headers (addr ,of &SLOTS) ptr) $place 1) (,foreign $lookup $place)))
            (const 0 ptr)))
    macro ^own_alone (,lookup ,place) (const 0 ptr)
    macro ^inherited (,lookup ,place)
        (if (eq (load machine ,lookup (&field Lookup, epoch)) (load machine (addr (tc) &EPOCH) u64)) ,place (const 0 ptr))
    // What is in no array, or in tables of many shapes, where a site has found some. Of the macros, `,there` takes the address, and `,otherwise`
    // what is done about a name that is not found in slots, with a label for what it does not do.
    macro ^elsewhere (,of ,foreign ,there ,otherwise ,absent ,unnamed ,way) (cachedv $seen ElementCase (eq (case kind) &ELSEWHERE)
        (letv: (($part (load headers (addr ,of &HASH) ptr))
                ($hashed (if (nz $part) (if (zr (load headers (addr $part &FLAGS) u16)) (^in_hash $part) (const 0 ptr)) $part)))
            (ifv (ne $hashed $part)
                (ifv (nz $hashed) (,there ,of $hashed ,way) (branch ,way))
                (ifv (any (notf (is string $key)) (nz (and (load headers (addr ,of &FLAGS) u16) &MAP_FLAG)))
                    ,absent
                    (letv: (($found (^in_slots ,of ,foreign)))
                        (ifv (nz $found) (,there ,of $found ,way) (,otherwise ,of ,unnamed))))))
        (branch ,way))
    // Where nobody has a field, the place is that of a nil.
    macro ^get_there (,of ,at ,way) (letv: (($got (load fields ,at u64)))
        (ifv (any (ne $got &NIL) (zr (load headers (addr ,of &METATABLE) u64)) (eq ,at (load machine (addr (tc) &NOTHING) ptr)))
            (set $dst $got)
            (branch ,way)))
    // What begins like a metamethod is looked at by somebody when it changes.
    macro ^may_be_metamethod () (all (is string $key) (eq (load headers (addr (unbox string $key) &BYTES) u16) &UNDERSCORES))
    // A metatable says what happens to what is nil.
    macro ^is_for_metatable (,of ,at) (all (nz (load headers (addr ,of &METATABLE) u64)) (eq (load fields ,at u64) &NIL))
    macro ^set_there (,of ,at ,way) (ifv (any (^may_be_metamethod) (^is_for_metatable ,of ,at))
        (branch ,way)
        // The collector does not look at a key whose value is nil.
        (dov (when (eq (load fields ,at u64) &NIL) (^wrote ,of $key)) (store fields ,at $value u64) (^wrote ,of $value)))
    macro ^not_there (,of ,way) (branch ,way)
    // Gives a table a field that it does not have, if it has the memory for it.
    macro ^add_there (,of ,way) (letv: (($shape (load shapes (addr ,of &SHAPE) u64))
            ($addition (idx (addr (tc) &ADDITIONS) (mul (and (^hash $shape) &ADDITION_MASK) &ADDITION_WORDS) 8))
            ($offset (load machine $addition (&field Addition, offset))))
        (ifv (all (eq (load machine $addition (&field Addition, shape)) $shape) (eq (load machine $addition (&field Addition, key)) $key)
                (eq (load machine $addition (&field Addition, epoch)) (load machine (addr (tc) &EPOCH) u64)) (^may_get_field ,of $offset))
            (dov
                (store fields (idx (load headers (addr ,of &SLOTS) ptr) $offset 1) $value u64)
                (^wrote ,of $value)
                (store shapes (addr ,of &SHAPE) (load machine $addition (&field Addition, next)) u64))
            (branch ,way)))
    // A metatable has a function for an element that is not there: a number is none of the names that tables of a shape have.
    macro ^known (,fits ,arguments ,done ,way) (cachedv $by OperatorCase (all (^has_method $object) ,fits)
        (,done (invoke observes (case code) ,arguments u64))
        ,way)
    macro ^gives (,call) (set $dst ,call)
    // A key that may be set is neither nil nor a number that is none.
    macro ^is_ordered () (eq (bitcast $key f64) (bitcast $key f64))
    Op::GetIndex! => unsafe (letv: (($object $object) ($key $key)) (dov
        (asv (($of table $object)) (dov
            (asv (($number number $key))
                (letv: (($at (ftos_least $number i64)))
                    (ifv (likely (all (eq (stof $at f64) $number) (ult $at (^end $of))))
                        (^found (load elements (idx (load headers (addr $of &ARRAY) ptr) $at 8) u64) (branch (label absent)))
                        (branch (label elsewhere))))
                (cold (branch (label elsewhere))))
            (branch (label done))
            (mark elsewhere)
            (^elsewhere $of ^inherited ^get_there ^not_there (branch (label absent)) (label method_known) (label slowly))
            (branch (label done))
            (mark absent)
            (cachedv $seen ElementCase (eq (case kind) &ELSEWHERE)
                (^nil_unless_metatable $of (branch (label method_known)))
                (branch (label slowly)))
            (branch (label done))
            (mark method_known)
            (^known (any (eq (case operand) &ALONE) (is number $key)) (arglist (^known_method) $object $key) ^gives (branch (label slowly))))
            (branch (label slowly)))
        (branch (label done))
        (mark slowly)
        (slowv (^unless_method (call throws observes get_element (arglist (carg (tc) ptr)
            (carg (frames) ptr) (carg $object u64) (carg $key u64) (carg $seen ptr) (carg $by ptr)) u64) (branch (label method))))
        (branch (label done))
        (mark method)
        (^get_method)
        (mark done)))
    macro ^put (,of ,at) (dov (store elements (idx (load headers (addr ,of &ARRAY) ptr) ,at 8) $value u64) (^wrote ,of $value))
    // A new element behind the last one, if there is room, and none behind it in the hash part.
    macro ^may_append (,of ,at ,end) (all (eq ,at ,end) (ult ,end (ucast (load headers (addr ,of &ARRAY_ROOM) u32) u64))
        (zr (load headers (addr ,of &HASH) u64)) (ne $value &NIL))
    macro ^lengthen (,of ,end) (store lengths (addr ,of &ARRAY_END) (ucast (add ,end 1) u32) u32)
    macro ^has_no_setter (,meta) (nz (and (load headers (addr ,meta &FLAGS) u16) &NO_SETTER))
    // A metatable says something only of elements that are not there, and nothing if it has no `__newindex`.
    macro ^set_beside_metatable (,of ,number ,done) (letv:
        (($meta (load headers (addr ,of &METATABLE) u64)) ($at (ftos_least ,number i64)) ($end (^end ,of)))
        (when (eq (stof $at f64) ,number) (dov
            (when (ult $at $end)
                (when (any (ne (load elements (idx (load headers (addr ,of &ARRAY) ptr) $at 8) u64) &NIL) (^has_no_setter $meta))
                    (branch (label set))))
            (when (notf (all (^has_no_setter $meta) (^may_append ,of $at $end))) (branch (label other)))
            (^lengthen ,of $end)
            (mark set)
            (^put ,of $at)
            ,done
            (mark other))))
    Op::SetIndex => unsafe (dov
        (asv (($of table $object)) (dov
            (ifv (zr (load headers (addr $of &METATABLE) u64)) (dov
                (asv (($number number $key))
                    (letv: (($at (ftos_least $number i64)) ($end (^end $of)))
                        (ifv (likely (eq (stof $at f64) $number)) (dov
                            (when (notf (ult $at $end))
                                (ifv (likely (^may_append $of $at $end)) (^lengthen $of $end) (branch (label elsewhere))))
                            (^put $of $at))
                            (branch (label elsewhere))))
                    (cold (branch (label elsewhere))))
                (branch (label done)))
                (cachedv $seen ElementCase (eq (case kind) &BESIDE_METATABLE)
                    (dov
                        (asv (($number number $key)) (^set_beside_metatable $of $number (branch (label done))) (branch (label elsewhere)))
                        (ifv (zr (load headers (addr $of &HASH) u64)) (branch (label method_known)) (branch (label slowly))))
                    (branch (label elsewhere))))
            (mark elsewhere)
            // A number may be in the array, at which nobody has looked if there is a metatable.
            (^elsewhere $of ^own_alone ^set_there ^add_there
                (ifv (is number $key) (branch (label slowly)) (branch (label method_known)))
                (label method_known)
                (label slowly))
            (branch (label done))
            (mark method_known)
            (^known (any (all (eq (case operand) &ALONE) (is string $key)) (^is_ordered)) (arglist (^known_method) $object $key $value) discard (branch (label slowly))))
            (branch (label slowly)))
        (branch (label done))
        (mark slowly)
        (slowv (^unless_setter (call throws observes set_element (arglist (carg (tc) ptr)
            (carg (frames) ptr) (carg $object u64) (carg $key u64) (carg $value u64) (carg $seen ptr) (carg $by ptr)) u64) (branch (label method))))
        (branch (label done))
        (mark method)
        (^set_method)
        (mark done))
    Op::NewTable! => unsafe (dov
        (set $dst (box table (call leaf new_table (arglist (carg (tc) ptr) (carg $slots u32) (carg $elements u32)) ptr)))
        (^collect))
    // What a table of a layout is, as `Heap::table_of` makes it.
    macro ^is_new (,table ,elements ,slots) (dov
        (holds shapes (addr ,table &SHAPE) $shape u64)
        (holds headers (addr ,table &ARRAY) (addr ,table &ZERO) ptr)
        (holds headers (addr ,table &SLOTS) (addr (idx ,table ,elements 8) (&sizeof Table)) ptr)
        (holds headers (addr ,table &LEN) (ucast ,slots u32) u32)
        (holds headers (addr ,table &ARRAY_ROOM) (ucast (add ,elements 1) u32) u32)
        (holds lengths (addr ,table &ARRAY_END) (ucast (add ,elements 1) u32) u32)
        (holds headers (addr ,table &METATABLE) 0 u64)
        (holds headers (addr ,table &HASH) 0 u64)
        (holds headers (addr ,table &FLAGS) &INLINE_FLAGS u16)
        (holds headers (addr ,table &COLOR) (and (load machine (addr (tc) &WHITE) u8) 1) u8))
    // A table that is not made takes no memory; but a program may wait for the collector while it makes tables, which comes after many.
    macro ^count_unmade () (letv: (($debt (add (load machine (addr (tc) &DEBT) i64) &UNMADE)))
        (dov (guard (le $debt 0) (discard 0)) (store machine (addr (tc) &DEBT) $debt i64)))
    Op::NewObject! => unsafe (dov
        (ifv (kept) (^collect) (^count_unmade))
        (letv: (($new (call leaf makes (changes machine) new_object (arglist (carg (tc) ptr) (carg $layout u64)) ptr))
                ($elements (ucast (ucast $counts u32) u64)) ($slots (shr $counts 32)))
            (dov (^is_new $new $elements $slots) (set $dst (box table $new)))))
    macro ^put_value (,region) (store ,region (idx (addr (unbox table $object) (&sizeof Table)) $at 8) $value u64)
    Op::PutElement => unsafe (^put_value elements)
    Op::PutField => unsafe (^put_value fields)
    Op::SetList => unsafe (callv leaf throws set_list (arglist (carg (tc) ptr) (carg $table u64) (carg $first u32)
        (carg (window $values) ptr) (carg (length $values) u64)))
    Op::SetListAndResults => unsafe (callv leaf throws set_list_and_results (arglist (carg (tc) ptr) (carg $table u64)
        (carg $first u32) (carg (window $values) ptr) (carg (length $values) u64)))
    Op::SetListAndVarargs => unsafe (callv leaf throws set_list_and_varargs (arglist (carg (tc) ptr) (carg $table u64)
        (carg $first u32) (carg (window $values) ptr) (carg (length $values) u64) (carg $pack u64)))
    Op::NewClosure! => unsafe (dov
        (set $dst (box function (call leaf new_closure (arglist (carg (tc) ptr) (carg $closure u64) (carg $definition u64)
            (carg (window $upvalues) ptr) (carg (length $upvalues) u64)) ptr)))
        (^collect))
}
