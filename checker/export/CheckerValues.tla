---------------------------- MODULE CheckerValues ----------------------------
(* What every module that `checker export` writes is built on: values that   *)
(* TLA+ has no word for, and evaluation errors as failed assertions. An       *)
(* absent key, position or field is TLC's own error.                          *)
(*                                                                            *)
(* An optional value is `none` or a value. A map is a function; what a        *)
(* partial map lacks is not in its DOMAIN. A bag is a function from its items *)
(* to how often each is in it. Positions of sequences count from 1.           *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT none

(****************************** errors **************************************)

Error(code, place) == Assert(FALSE, <<"evaluation error", code, place>>)

Check(condition, code, place) == IF condition THEN TRUE ELSE Error(code, place)

Within(value, S, place) == IF value \in S THEN value ELSE Error("E501", place)

Some(value, place) == IF value = none THEN Error("E502", place) ELSE value

(* The only element: {e : x \in {v}} is e with x evaluated first, once.       *)
Only(S) == CHOOSE x \in S : TRUE

(* What a choice is made from. *)
Choices(S, place) == IF S = {} THEN Error("E508", place) ELSE S

(****************************** numbers *************************************)

Quotient(a, b, place) ==
  IF b = 0 THEN Error("E503", place)
  ELSE IF b > 0 THEN a \div b ELSE (-a) \div (-b)

Remainder(a, b, place) == a - b * Quotient(a, b, place)

RECURSIVE SumOver(_, _)
SumOver(f, S) ==
  IF S = {} THEN 0
  ELSE LET x == CHOOSE x \in S : TRUE IN f[x] + SumOver(f, S \ {x})

Sum(f) == SumOver(f, DOMAIN f)

(****************************** order ***************************************)

BoolBefore(a, b) == ~a /\ b

First(S, Before(_, _)) == CHOOSE x \in S : \A y \in S : ~Before(y, x)

Last(S, Before(_, _)) == CHOOSE x \in S : \A y \in S : ~Before(x, y)

Least(S, Before(_, _), place) ==
  IF S = {} THEN Error("E507", place) ELSE First(S, Before)

Greatest(S, Before(_, _), place) ==
  IF S = {} THEN Error("E507", place) ELSE Last(S, Before)

InOrder(S, Before(_, _)) ==
  [i \in 1..Cardinality(S) |->
    CHOOSE x \in S : Cardinality({y \in S : Before(y, x)}) = i - 1]

SetBefore(a, b, Before(_, _)) ==
  LET differ == (a \ b) \cup (b \ a)
  IN differ # {} /\ Last(differ, Before) \in b

MapBefore(a, b, KeyBefore(_, _), Before(_, _)) ==
  LET differ == {k \in DOMAIN a \cup DOMAIN b :
                   ~(k \in DOMAIN a /\ k \in DOMAIN b /\ a[k] = b[k])}
      k == First(differ, KeyBefore)
  IN differ # {} /\ (k \notin DOMAIN a \/ (k \in DOMAIN b /\ Before(a[k], b[k])))

SequenceBefore(a, b, Before(_, _)) ==
  LET common == IF Len(a) < Len(b) THEN Len(a) ELSE Len(b)
      differ == {i \in 1..common : a[i] # b[i]}
      i == First(differ, <)
  IN IF differ = {} THEN Len(a) < Len(b) ELSE Before(a[i], b[i])

(****************************** maps ****************************************)

EmptyMap == [x \in {} |-> none]

Put(map, key, value) ==
  [x \in DOMAIN map \cup {key} |-> IF x = key THEN value ELSE map[x]]

Without(map, key) == [x \in DOMAIN map \ {key} |-> map[x]]

Covered(map, keys, code, place) ==
  IF keys \subseteq DOMAIN map THEN map ELSE Error(code, place)

(* The map of some <<key, value>>; a later one replaces an earlier one.       *)
MapOf(pairs) ==
  [k \in {pairs[i][1] : i \in DOMAIN pairs} |->
    pairs[Last({i \in DOMAIN pairs : pairs[i][1] = k}, <)][2]]

(****************************** sequences ***********************************)

Range(s) == {s[i] : i \in DOMAIN s}

Slice(s, start, stop, place) ==
  IF start < 0 \/ stop < 0 THEN Error("E506", place)
  ELSE SubSeq(s, start + 1, IF stop < Len(s) THEN stop ELSE Len(s))

AtMost(s, n, place) == IF Len(s) <= n THEN s ELSE Error("E501", place)

Occurrences(s, x) == Cardinality({i \in DOMAIN s : s[i] = x})

(* Without the first x, which is in it. *)
Dropped(s, x) ==
  LET at == First({i \in DOMAIN s : s[i] = x}, <)
  IN SubSeq(s, 1, at - 1) \o SubSeq(s, at + 1, Len(s))

(* What f makes of the items of s, one after the other. *)
RECURSIVE Gather(_, _)
Gather(s, f) == IF s = <<>> THEN <<>> ELSE f[Head(s)] \o Gather(Tail(s), f)

(****************************** bags ****************************************)

BagOf(s) == [x \in Range(s) |-> Occurrences(s, x)]

BagSize(bag) == Sum(bag)

BagCount(bag, x) == IF x \in DOMAIN bag THEN bag[x] ELSE 0

BagAdd(bag, x) == Put(bag, x, BagCount(bag, x) + 1)

BagTake(bag, x) ==
  IF bag[x] = 1 THEN Without(bag, x) ELSE [bag EXCEPT ![x] = @ - 1]

BagsOf(S, n) ==
  {bag \in UNION {[D -> 1..n] : D \in SUBSET S} : BagSize(bag) <= n}

BagUpTo(bag, n, place) == IF BagSize(bag) <= n THEN bag ELSE Error("E501", place)
==============================================================================
