//! What calls, returns and loops over what is called mean.
//!
//! A call knows what it has called. What a function of the library does with a few numbers is done here.

use super::bytecode::Op;
use super::cases::{
    ABSOLUTE, ALLOCATES, BYTE, CALLABLE, CLOSURE as OF_CLOSURE, CallCase, FLOOR, GIVES_METATABLE, LARGER,
    PART, SQUARE_ROOT,
};
use super::layout::*;
use super::slow::*;
use super::templates::values;
use crate::object::value::{ABSENT, FALSE, FUNCTION, NIL, STRING, TABLE, THREAD, TRUE};
use azulejo::{prelude::*, suspend};

template! {
    use values;

    // A function has code of its own for few arguments, which may be another than that for any number of them.
    macro ^code_for_any (,value) (load headers (addr (load headers (addr (unbox function ,value) &DEFINITION) u64) &CODE_FOR_ANY) u64)
    // What a call knows of what it has called: a closure, or a quick function of the library. All else takes the slow way.
    macro ^by_cache (,function ,learn ,closure ,callable ,quick ,slow) (dov
        (asv (($object function ,function))
            (cachedv $cache CallCase (eq (load headers (addr $object &CODE) u64) (case identity))
                (ifv (likely (eq (case kind) &OF_CLOSURE)) ,closure (,quick (branch (label slowly))))
                (branch (label slowly)))
            (cold (asv (($of table ,function))
                (cachedv $cache CallCase (eq (case kind) &CALLABLE)
                    (letv: (($found (call leaf tentative callable_method (arglist (carg $of ptr) (carg (case identity) u64)
                            (carg (case offset) u32) (carg (case method) u64)) u64)))
                        (ifv (ne $found &ABSENT)
                            (,callable $found (branch (label slowly)))
                            (branch (label slowly))))
                    (branch (label slowly)))
                (branch (label slowly)))))
        (branch (label done))
        (mark slowly)
        (slowv (dov ,learn ,slow))
        (mark done))
    macro ^learn (,count) (when (notf (full $cache)) (callv leaf learn_call
        (arglist (carg (tc) ptr) (carg $function u64) (carg ,count u32) (carg $cache ptr))))
    macro ^learn2 () (callv leaf learn_call2
        (arglist (carg (tc) ptr) (carg $function u64) (carg $a u64) (carg $b u64) (carg $cache ptr)))
    macro ^call (,learn ,code ,arguments ,callable ,quick ,natively) (letv: (($function $function))
        (^by_cache $function ,learn (set $dst (invoke observes (case code) ,arguments u64)) ,callable ,quick
            (set $dst (if (^is_closure $function) (invoke observes (,code $function) ,arguments u64) ,natively))))
    // If the collector is to work, the call goes the way on which it does.
    macro ^is_quick (,given ,way) (dov
        (when (all (any (eq (case kind) &ALLOCATES) (eq (case kind) &PART)) (unlikely (gt (load machine (addr (tc) &DEBT) i64) 0))) (branch (label other)))
        (letv: (($given ,given)) (when (likely (ne $given &ABSENT)) (dov (set $dst $given) (branch (label end)))))
        (mark other)
        ,way
        (mark end))
    macro ^no_quick (,way) ,way
    macro ^set_number (,number) (dov (set $dst (box number ,number)) (^set_count 1))
    macro ^of_number (,operator ,done ,way) (asv (($x number $a)) (dov (^set_number (,operator $x)) ,done) ,way)
    macro ^quick1 (,way) (dov
        (ifv (ule (case kind) &ALLOCATES)
            (dov
                (^is_quick (call leaf tentative (case code) (arglist (carg (tc) ptr) (carg $a u64)) u64)
                    (branch (label other)))
                (branch (label end)))
            (ifv (eq (case kind) &FLOOR)
                (^of_number floor (branch (label end)) (branch (label other)))
                (ifv (eq (case kind) &SQUARE_ROOT)
                    (^of_number sqrt (branch (label end)) (branch (label other)))
                    (ifv (eq (case kind) &ABSOLUTE)
                        (^of_number abs (branch (label end)) (branch (label other)))
                        (^of_number ceil (branch (label end)) (branch (label other)))))))
        (mark other)
        ,way
        (mark end))
    macro ^larger_or_smaller (,done ,way) (asv (($x number $a) ($y number $b))
        (dov (^set_number (if (if (eq (case kind) &LARGER) (gt $y $x) (lt $y $x)) $y $x)) ,done)
        ,way)
    macro ^byte (,done ,way) (asv (($text string $a) ($number number $b))
        (letv: (($at (ftos_least $number i64)))
            (when (all (eq (stof $at f64) $number) (ult (sub $at 1) (ucast (load headers (addr $text &LEN) u32) u64)))
                (dov
                    (^set_number (stof (ucast (load headers (addr (idx $text $at 1) &BEFORE_BYTES) u8) i64) f64))
                    ,done)))
        ,way)
    // The shape is there, and the collector keeps it until the next cycle at least.
    macro ^is_there (,shape) (let: (($cell (and ,shape &SHAPE_ADDRESS)))
        (any (all (eq (load machine (addr $cell &GENERATION) u16) (ucast (shr ,shape 48) u16))
                (eq (load machine (addr $cell &REACHED) u32) (load machine (addr (tc) &CYCLE) u32)))
            (call leaf tentative (changes machine) reach_shape (arglist (carg (tc) ptr) (carg ,shape u64)) bool)))
    // Nobody has inherited from the table, and it has memory for fields.
    macro ^may_get_metatable (,of ,meta) (all (eq (load shapes (addr ,of &SHAPE) u64) (case before)) (eq ,meta (case meta))
        (nz (load headers (addr ,of &LEN) u32)) (zr (and (load headers (addr ,of &FLAGS) u16) &PROTOTYPE_FLAG))
        (ne (load headers (addr ,of &COLOR) u8) &BLACK))
    macro ^give_metatable (,done) (asv (($of table $a) ($meta table $b))
        (when (all (^may_get_metatable $of $meta) (^is_there (case code)))
            (dov
                (store headers (addr $of &METATABLE) $meta u64)
                (store shapes (addr $of &SHAPE) (case code) u64)
                (^set_count 1)
                (set $dst $a)
                ,done))
        (discard $a))
    macro ^quick2 (,way) (dov
        (when (ugt (case kind) &ALLOCATES) (ifv (eq (case kind) &GIVES_METATABLE)
            (dov (^give_metatable (branch (label end))) (branch (label unfit)))
            (ifv (eq (case kind) &BYTE)
                (^byte (branch (label end)) (branch (label quickly)))
                (^larger_or_smaller (branch (label end)) (branch (label quickly))))))
        (mark quickly)
        (^is_quick
            (call leaf tentative (case code) (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64)) u64)
            (branch (label unfit)))
        (branch (label end))
        (mark unfit)
        ,way
        (mark end))
    // A part of one byte, if that has been a string before.
    macro ^character (,done) (asv (($text string $a) ($number number $b))
        (letv: (($at (ftos_least $number i64)))
            (when (all (eq $b $c) (eq (stof $at f64) $number) (ult (sub $at 1) (ucast (load headers (addr $text &LEN) u32) u64)))
                (letv: (($string (load machine (idx (load pure (addr (tc) &CHARACTERS) ptr)
                        (ucast (load headers (addr (idx $text $at 1) &BEFORE_BYTES) u8) u64) 8) ptr)))
                    (when (nz $string) (dov (set $dst (box string $string)) (^set_count 1) ,done)))))
        (discard $a))
    macro ^quick3 (,way) (dov
        (when (eq (case kind) &PART) (^character (branch (label end))))
        (^is_quick
            (call leaf tentative (case code) (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64) (carg $c u64)) u64)
            (branch (label unfit)))
        (branch (label end))
        (mark unfit)
        ,way
        (mark end))
    // Or a closure stands for what is called.
    macro ^or_callable (,given ,arguments) (let: (($given ,given))
        (if (ne $given &ABSENT) $given (invoke observes (^code (^method)) ,arguments u64)))
    macro ^callable0 (,method ,way) (set $dst (invoke observes (case code) (arglist ,method $function) u64))
    macro ^callable1 (,method ,way) (set $dst (invoke observes (case code) (arglist ,method $function $a) u64))
    macro ^callable2 (,method ,way) (set $dst (invoke observes (case code) (arglist ,method $function $a $b) u64))
    macro ^callable3 (,method ,way) (set $dst (invoke observes (case code) (arglist ,method $function $a $b $c) u64))
    // What stands for what is called gets that in front of the arguments, and so all in memory.
    macro ^gather_callable (,method) (call leaf gather_callable (arglist
        (carg (tc) ptr) (carg ,method u64) (carg (window $call) ptr) (carg (length $call) u64)) u64)
    macro ^with_method (,method ,code) (let: (($n (^gather_callable ,method)))
        (invoke observes ,code (arglist (spread (^gathered) $n)) u64))
    macro ^callable_many (,method ,way) (set $dst (^with_method ,method (case code)))
    Op::Call0! => unsafe (^call (^learn (const 0 u32)) ^code (arglist $function) ^callable0 ^no_quick (^or_callable
        (call throws observes call0 (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $function u64)) u64)
        (arglist (^method) $function)))
    Op::Call1! => unsafe (^call (^learn (const 1 u32)) ^code (arglist $function $a) ^callable1 ^quick1 (^or_callable
        (call throws observes call1 (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $function u64) (carg $a u64)) u64)
        (arglist (^method) $function $a)))
    Op::Call2! => unsafe (^call (^learn2) ^code (arglist $function $a $b) ^callable2 ^quick2 (^or_callable
        (call throws observes call2
            (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $function u64) (carg $a u64) (carg $b u64)) u64)
        (arglist (^method) $function $a $b)))
    Op::Call3! => unsafe (^call (^learn (const 3 u32)) ^code (arglist $function $a $b $c) ^callable3 ^quick3 (^or_callable
        (call throws observes call3
            (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $function u64) (carg $a u64) (carg $b u64) (carg $c u64)) u64)
        (arglist (^method) $function $a $b $c)))

    macro ^set_count (,count) (store machine (addr (tc) &RESULT_COUNT) ,count u32)
    macro ^first_of (,run) (load (window ,run) u64)
    macro ^natively_many () (let: (($given (call throws observes call_many (arglist
            (carg (tc) ptr) (carg (frames) ptr) (carg (window $call) ptr) (carg (length $call) u64)) u64)))
        (if (ne $given &ABSENT) $given (let: (($method (^method))) (^with_method $method (^code_for_any $method)))))

    macro ^count_arguments () (ucast (sub (length $call) 1) u32)
    Op::Call! => unsafe (^call (^learn (^count_arguments)) ^code_for_any (arglist $call) ^callable_many ^no_quick
        (^natively_many))
    // `select`, of values in registers. What it does with other numbers, and other functions of this name, are calls.
    macro ^select (,known) (letv: (($function $function)) (dov
        (asv (($object function $function))
            (cachedv $cache CallCase (eq (load headers (addr $object &CODE) u64) (case identity))
                (,known (branch (label done)))
                (branch (label slowly)))
            (branch (label slowly)))
        (mark slowly)
        (slowv (dov
            (when (notf (full $cache))
                (callv leaf learn_select (arglist (carg $function u64) (carg $cache ptr))))
            (set $dst (if (^is_closure $function)
                (invoke observes (^code_for_any $function) (arglist $call) u64) (^natively_many)))))
        (mark done)))
    // Two of the registers are the function and the number.
    macro ^count_values () (sub (length $call) 2)
    macro ^counted (,done) (dov (set $dst (box number (stof (bitcast (^count_values) i64) f64))) ,done)
    macro ^numbered (,done) (asv (($number number $which))
        (letv: (($at (ftos_least $number i64)))
            (when (all (eq (stof $at f64) $number) (ult (sub $at 1) (^count_values)))
                (dov (set $dst (load (idx (window $call) (add $at 1) 8) u64)) ,done)))
        (discard $which))
    Op::CountValues! => unsafe (^select ^counted)
    Op::SelectValue! => unsafe (^select ^numbered)
    macro ^gather (,run) (call leaf gather (arglist (carg (tc) ptr) (carg (window ,run) ptr) (carg (length ,run) u64)) u64)
    macro ^gathered () (load machine (addr (tc) &ARGUMENTS) ptr)
    macro ^natively_gathered (,count) (call throws observes call_gathered
        (arglist (carg (tc) ptr) (carg (frames) ptr) (carg ,count u64)) u64)
    macro ^count_results () (load machine (addr (tc) &RESULT_COUNT) u32)
    Op::IfOneResult => unsafe (when (unlikely (ne (^count_results) 1)) (slowv (branch $otherwise)))
    Op::CallWithResults => unsafe (let: (($function (^first_of $call)) ($n (^gather $call)))
        (if (^is_closure $function)
            (invoke observes (^code_for_any $function) (arglist (spread (^gathered) $n)) u64)
            (^natively_gathered $n)))
    macro ^gather_varargs () (call leaf gather_varargs (arglist
        (carg (tc) ptr) (carg (window $call) ptr) (carg (length $call) u64) (carg $pack u64)) u64)
    Op::CallWithVarargs => unsafe (let: (($function (^first_of $call)))
        (if (^is_closure $function)
            (let: (($n (^gather_varargs)))
                (invoke observes (^code_for_any $function) (arglist (spread (^gathered) $n)) u64))
            (call throws observes call_with_varargs (arglist (carg (tc) ptr) (carg (frames) ptr)
                (carg (window $call) ptr) (carg (length $call) u64) (carg $pack u64)) u64)))
    // If it is no closure, the bytecode behind this one calls it.
    macro ^left_to_next (,way) (discard (const 0 u32))
    macro ^end_with (,count ,code ,arguments ,callable) (letv: (($function $function))
        (^by_cache $function (^learn ,count) (tail (case code) ,arguments) ,callable ^left_to_next
            (when (^is_closure $function) (tail (,code $function) ,arguments))))
    macro ^end_with0 (,method ,way) (tail (case code) (arglist ,method $function))
    macro ^end_with1 (,method ,way) (tail (case code) (arglist ,method $function $a))
    macro ^end_with2 (,method ,way) (tail (case code) (arglist ,method $function $a $b))
    macro ^end_with3 (,method ,way) (tail (case code) (arglist ,method $function $a $b $c))
    Op::TailCall0 => unsafe (^end_with (const 0 u32) ^code (arglist $function) ^end_with0)
    Op::TailCall1 => unsafe (^end_with (const 1 u32) ^code (arglist $function $a) ^end_with1)
    Op::TailCall2 => unsafe (^end_with (const 2 u32) ^code (arglist $function $a $b) ^end_with2)
    Op::TailCall3 => unsafe (^end_with (const 3 u32) ^code (arglist $function $a $b $c) ^end_with3)
    macro ^end_with_many (,method ,way) (letv: (($n (^gather_callable ,method)))
        (tail (case code) (arglist (spread (^gathered) $n))))
    Op::TailCall => unsafe (^end_with (^count_arguments) ^code_for_any (arglist $call) ^end_with_many)
    Op::TailCallWithResults => unsafe (letv: (($function (^first_of $call)))
        (when (^is_closure $function)
            (letv: (($n (^gather $call))) (tail (^code_for_any $function) (arglist (spread (^gathered) $n))))))
    Op::TailCallWithVarargs => unsafe (letv: (($function (^first_of $call)))
        (when (^is_closure $function)
            (letv: (($n (^gather_varargs))) (tail (^code_for_any $function) (arglist (spread (^gathered) $n))))))
    Op::TakeVarargs => unsafe (callv leaf take_varargs
        (arglist (carg (window $values) ptr) (carg (length $values) u64) (carg $pack u64)))
    Op::TakeResults => unsafe (callv leaf take_results
        (arglist (carg (tc) ptr) (carg (window $results) ptr) (carg (length $results) u64)))
    Op::Collect! => unsafe (^collect)
    Op::NewArg! => unsafe (dov
        (set $dst (call leaf throws new_arg (arglist (carg (tc) ptr) (carg $pack u64)) u64))
        (^collect))
    Op::Look => unsafe (dov
        (when (nz (load machine (addr (tc) &IS_WATCHING) u8)) (slowv (callv throws observes look
            (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $kind u32) (carg $callee u64)))))
        (discard (window $values)))
    Op::SampleIfDue => unsafe (if (zr (atomic_load $due u32 relaxed)) (branch $past) (exit))
    Op::TakeSample => (callv observes take_sample (arglist (carg (tc) ptr) (carg (frames) ptr)))
    Op::Return0 => unsafe (dov (^set_count 0) (return (copy &NIL)))
    Op::Return => unsafe (dov (^set_count 1) (return $a))
    macro ^results () (load machine (addr (tc) &RESULTS) ptr)
    // Of the results behind the first; nil if there are not so many.
    macro ^result (,count ,at) (if (uge (^count_results) ,count) (load results (addr (^results) ,at) u64) (copy &NIL))
    macro ^take_first () (when (zr (^count_results)) (set $a &NIL))
    Op::TakeTwo! => unsafe (dov (^take_first) (set $b (^result 2 0)))
    Op::TakeThree! => unsafe (dov (^take_first) (set $b (^result 2 0)) (set $c (^result 3 8)))
    Op::ReturnTwo => unsafe (dov
        (store results (^results) $b u64) (^set_count 2) (return $a))
    Op::ReturnThree => unsafe (dov
        (store results (^results) $b u64) (store results (addr (^results) 8) $c u64) (^set_count 3) (return $a))
    Op::ReturnMany => unsafe (return (call leaf put_results
        (arglist (carg (tc) ptr) (carg (window $values) ptr) (carg (length $values) u64)) u64))
    Op::ReturnResults => unsafe (return (call leaf put_more_results
        (arglist (carg (tc) ptr) (carg (window $values) ptr) (carg (length $values) u64)) u64))
    Op::ReturnVarargs => unsafe (return (call leaf put_varargs_behind (arglist
        (carg (tc) ptr) (carg (window $values) ptr) (carg (length $values) u64) (carg $pack u64)) u64))
    Op::ReturnGiven => (return $a)
    macro ^no_more (,first) (dov (set ,first &NIL) (branch $end))
    // The position is the number that controls the loop, if that began at the first element: no number is converted to find the next one.
    Op::ForEachIndex! => unsafe (when (eq $function (load machine (addr (tc) &EACH_INDEX) u64))
        (asv (($of table $state) ($before number $control))
            (letv: (($at (add $position 1)))
                (when (eq (stof (bitcast $position i64) f64) $before)
                    (ifv (ult $at (^end $of))
                        (letv: (($element (load elements (idx (load headers (addr $of &ARRAY) ptr) $at 8) u64)))
                            (ifv (ne $element &NIL)
                                (letv: (($next (box number (stof (bitcast $at i64) f64)))) (dov
                                    (set $position $at)
                                    (set $control $next)
                                    (set $index $next)
                                    (set $value $element)
                                    (branch $to)))
                                (^no_more $index)))
                        (when (zr (load headers (addr $of &HASH) ptr)) (^no_more $index)))))
            (discard $state)))
    macro ^each (,position ,key ,value) (letv: (($next ,key)) (dov
        (set $position ,position) (set $control $next) (set $key $next) (set $value ,value) (branch $to)))
    macro ^in_array (,of) (letv: (($index (add $position 1)))
        (when (ult $index (^end ,of))
            (letv: (($element (load elements (idx (load headers (addr ,of &ARRAY) ptr) $index 8) u64)))
                (when (ne $element &NIL) (^each $index (box number (stof (bitcast $index i64) f64)) $element)))))
    macro ^in_entries (,of) (when (uge $position &IN_ENTRIES)
        (letv: (($part (load headers (addr ,of &HASH) ptr)) ($number (sub $position &IN_ENTRIES)))
            (when (all (nz $part) (zr (load headers (addr $part &FLAGS) u16)))
                (ifv (ult $number (ucast (load headers (addr $part &HASH_USED) u32) u64))
                    (letv: (($entry (addr (idx $part (shl $number 1) 8) &ENTRIES)))
                        (letv: (($found (load fields (addr $entry &ENTRY_VALUE) u64)))
                            (when (ne $found &NIL) (^each (add $position 1) (load headers $entry u64) $found))))
                    (^no_more $key)))))
    macro ^is_next () (any (eq $function (load machine (addr (tc) &EACH_PAIR) u64)) (eq $function (load machine (addr (tc) &NEXT) u64)))
    // A traversal that has begun behind some key finds the position first, as `next` does.
    Op::ForEachPair! => unsafe (when (all (^is_next) (any (nz $position) (eq $control &NIL)))
        (asv (($of table $state)) (dov
            (^in_array $of)
            (^in_entries $of)
            // Loops by other functions have no call for this, and know what they have read.
            (letv: (($behind (slow (call leaf next_pair (arglist (carg (tc) ptr) (carg (box table $of) u64) (carg $position u64)) u64))))
                (ifv (zr $behind)
                    (^no_more $key)
                    (^each $behind (^operand) (^second_operand)))))
            (discard $state)))
    Op::ForEach! => (when (ne $first &NIL) (dov (set $control $first) (branch $to)))

    macro ^caught () (call observes caught (arglist (carg (tc) ptr) (carg (frames) ptr) (carg (trap_code) u32)) u64)
    macro ^protected (,enter) (let: (($n ,enter))
        (let: (($function (load (^gathered) u64)))
            (let: (($first (if (^is_closure $function)
                    (try (invoke observes (^code_for_any $function) (arglist (spread (^gathered) $n)) u64) (^caught))
                    (try (^natively_gathered $n) (^caught)))))
                (call leaf unprotect (arglist (carg (tc) ptr) (carg $first u64)) u64))))
    Op::ProtectedCall => unsafe (^protected
        (call throws observes protect (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $pack u64)) u64))
    Op::ProtectedFew => unsafe (^protected (call throws observes protect_few
        (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $function u64) (carg $a u64) (carg $b u64)) u64))
    Op::HandledCall => unsafe (^protected (call throws observes protect_with
        (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $function u64) (carg $handler u64)) u64))
    // What a coroutine yields, and what it is resumed with, are results: the first goes along with the switch.
    macro ^suspended (,first) (dov
        (when (unlikely (zr (load machine (addr (tc) &COROUTINE) u64)))
            (callv throws observes yield_outside (arglist (carg (tc) ptr) (carg (frames) ptr))))
        (set $dst (call throws observes suspend (arglist (carg ,first u64)) u64)))
    Op::Yield! => unsafe (^suspended (call leaf give_pack (arglist (carg (tc) ptr) (carg $pack u64)) u64))
    Op::YieldFew! => unsafe (dov
        (store results (^results) $b u64)
        (store results (addr (^results) 8) $c u64)
        (^set_count (if (eq $a &ABSENT) 0 (if (eq $b &ABSENT) 1 (if (eq $c &ABSENT) 2 3))))
        (^suspended (if (eq $a &ABSENT) (copy &NIL) $a)))
}
