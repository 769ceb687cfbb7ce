package io.osier.crdt;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.crdt.state.CrdtState;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The join by its definition, plain and slow, sharing no code with the real one: a state is a set
 * of facts, each with its dot, a context is a set of dots, and a fact stays if both sides have it
 * or the side without it does not know its dot. It knows nothing of states, deltas and mentions.
 * Facts are read from the encoded form.
 *
 * @param slots counters' sums by path and replica: last, up, down, and base, up, down
 */
record ReferenceJoin(Set<Fact> facts, Set<Dot> context, Map<List<Object>, List<List<Long>>> slots) {
  /**
   * A fact that one dot asserts.
   *
   * @param path fields and element that it is about
   * @param content kind and values
   */
  record Fact(List<Object> path, Dot dot, List<Object> content) {}

  static ReferenceJoin of(CrdtState causal) {
    WireInput in = new WireInput(Encoded.encode(causal));
    int form = in.readByteUnsigned() >> 1;
    CrdtType type = CrdtType.of((form & 15) == 15 ? in.readByteUnsigned() : form & 15);
    ReferenceJoin result =
        new ReferenceJoin(new HashSet<>(), dots(in.readContext()), new HashMap<>());
    result.readStore(type, List.of(), in);
    if (form > 15 && result.readDeadlines(List.of(), in) == 0) { // then of parts, too
      result.readDeadlines(List.of(), in);
      for (int n = in.readCount(1); n > 0; n--) {
        Object part =
            type == CrdtType.OR_MAP
                ? new FieldId(in.readText(100), CrdtType.of(in.readByte()))
                : in.readValue();
        result.readDeadlines(List.of("part", part), in);
      }
    }
    in.expectEnd();
    return result;
  }

  private static Set<Dot> dots(CausalContext context) {
    Set<Dot> dots = new HashSet<>();
    for (int i = 0; i < context.size(); i++) {
      for (long n = 1; n <= context.last(context.replica(i)); n++) {
        if (context.contains(context.replica(i), n)) {
          dots.add(new Dot(context.replica(i), n));
        }
      }
    }
    return dots;
  }

  private static List<Object> with(List<Object> path, Object last) {
    List<Object> longer = new java.util.ArrayList<>(path);
    longer.add(last);
    return longer;
  }

  private void readStore(CrdtType type, List<Object> path, WireInput in) {
    switch (type) {
      case PN_COUNTER -> readSlots(path, true, in);
      case G_COUNTER -> readSlots(path, false, in);
      case EW_FLAG -> readDots(path, "on", in);
      case DW_FLAG -> {
        readDots(path, "on", in);
        readDots(path, "off", in);
      }
      case STRING -> {
        readStore(CrdtType.LWW_REGISTER, path, in);
        readSums(path, in);
      }
      case LWW_REGISTER -> {
        for (int n = in.readCount(1); n > 0; n--) {
          add(path, in.readDot(), List.of(in.readNumber(), in.readValue()));
        }
      }
      case MV_REGISTER, MIN_REGISTER, MAX_REGISTER -> {
        for (int n = in.readCount(1); n > 0; n--) {
          add(path, in.readDot(), List.of(in.readValue()));
        }
      }
      case OR_MAP -> {
        for (int n = in.readCount(1); n > 0; n--) {
          FieldId field = new FieldId(in.readText(100), CrdtType.of(in.readByte()));
          readStore(field.type(), with(path, field), in);
        }
      }
      default -> {
        for (int n = in.readCount(1); n > 0; n--) {
          readElement(type, with(path, in.readValue()), in);
        }
      }
    }
  }

  private void readElement(CrdtType type, List<Object> path, WireInput in) {
    switch (type) {
      case G_SET, AW_SET -> readDots(path, "in", in);
      case RW_SET -> {
        readDots(path, "in", in);
        readDots(path, "out", in);
      }
      default -> {
        for (int n = in.readCount(1); n > 0; n--) {
          add(path, in.readDot(), List.of(in.readNumber(), in.readFlag()));
        }
      }
    }
  }

  private int readDeadlines(List<Object> path, WireInput in) {
    int count = in.readCount(1);
    for (int n = count; n > 0; n--) {
      add(path, in.readDot(), List.of("until", in.readNumber()));
    }
    return count;
  }

  private void readDots(List<Object> path, String kind, WireInput in) {
    for (int n = in.readCount(1); n > 0; n--) {
      add(path, in.readDot(), List.of(kind));
    }
  }

  private void add(List<Object> path, Dot dot, List<Object> content) {
    facts.add(new Fact(path, dot, content));
  }

  private void readSlots(List<Object> path, boolean withDown, WireInput in) {
    for (int n = in.readCount(1); n > 0; n--) {
      ReplicaId replica = in.readReplica();
      List<Long> last = List.of(in.readNumber(), in.readNumber(), withDown ? in.readNumber() : 0L);
      long base = in.readNumber();
      List<Long> reset =
          base == 0
              ? List.of(0L, 0L, 0L)
              : List.of(base, in.readNumber(), withDown ? in.readNumber() : 0L);
      slots.put(with(path, replica), List.of(last, reset));
    }
  }

  private void readSums(List<Object> path, WireInput in) {
    for (int n = in.readCount(1); n > 0; n--) {
      ReplicaId replica = in.readReplica();
      List<Long> last = List.of(in.readNumber(), in.readNumber(), in.readSigned());
      long base = in.readNumber();
      List<Long> reset =
          base == 0 ? List.of(0L, 0L, 0L) : List.of(base, in.readNumber(), in.readSigned());
      slots.put(with(path, replica), List.of(last, reset));
    }
  }

  ReferenceJoin join(ReferenceJoin other) {
    ReferenceJoin result =
        new ReferenceJoin(new HashSet<>(), new HashSet<>(context), new HashMap<>(slots));
    result.context.addAll(other.context);
    for (Fact fact : facts) {
      if (other.facts.contains(fact) || !other.context.contains(fact.dot)) {
        result.facts.add(fact);
      }
    }
    for (Fact fact : other.facts) {
      if (facts.contains(fact) || !context.contains(fact.dot)) {
        result.facts.add(fact);
      }
    }
    other.slots.forEach((key, theirs) -> result.slots.merge(key, theirs, ReferenceJoin::later));
    return result;
  }

  /** Of two at one number, the base of zero sums. */
  private static boolean isWider(List<Long> a, List<Long> b) {
    return a.get(0).equals(b.get(0)) ? a.get(1) == 0 && a.get(2) == 0 : a.get(0) > b.get(0);
  }

  private static List<List<Long>> later(List<List<Long>> a, List<List<Long>> b) {
    return List.of(
        a.get(0).get(0) >= b.get(0).get(0) ? a.get(0) : b.get(0),
        isWider(a.get(1), b.get(1)) ? a.get(1) : b.get(1));
  }
}
