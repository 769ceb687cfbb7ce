package io.osier.bench.sim.check;

import io.osier.core.CausalContext;
import io.osier.crdt.ObjectId;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a session has written and read so far, of each object: updates by their dots, tokens by
 * their numbers, and the least that a counter must show. A copy is cheap: what the maps hold never
 * changes. Not thread-safe.
 */
public final class SessionView {
  private static final BitSet NO_TOKENS = new BitSet(0);

  private final Map<ObjectId, CausalContext> dots;
  private final Map<ObjectId, BitSet> tokens;
  private final Map<ObjectId, Long> amounts;

  public SessionView() {
    this(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
  }

  private SessionView(
      Map<ObjectId, CausalContext> dots,
      Map<ObjectId, BitSet> tokens,
      Map<ObjectId, Long> amounts) {
    this.dots = dots;
    this.tokens = tokens;
    this.amounts = amounts;
  }

  /** Copies what a read or a write of an object is to be checked against. */
  public SessionView copy(ObjectId object, boolean isWrite) {
    // A datacenter that makes a write must have all that the session knew, of whatever object.
    SessionView copy =
        new SessionView(
            isWrite ? new LinkedHashMap<>(dots) : new LinkedHashMap<>(2),
            new LinkedHashMap<>(2),
            new LinkedHashMap<>(2));
    copyEntry(dots, copy.dots, object);
    copyEntry(tokens, copy.tokens, object);
    copyEntry(amounts, copy.amounts, object);
    return copy;
  }

  private static <V> void copyEntry(Map<ObjectId, V> from, Map<ObjectId, V> to, ObjectId object) {
    V value = from.get(object);
    if (value != null) {
      to.put(object, value);
    }
  }

  Map<ObjectId, CausalContext> dots() {
    return dots;
  }

  CausalContext dots(ObjectId object) {
    return dots.getOrDefault(object, CausalContext.EMPTY);
  }

  /** The tokens that the session knows; not to be changed. */
  BitSet tokens(ObjectId object) {
    return tokens.getOrDefault(object, NO_TOKENS);
  }

  long amount(ObjectId object) {
    return amounts.getOrDefault(object, 0L);
  }

  public void sawDots(ObjectId object, CausalContext more) {
    dots.merge(object, more, CausalContext::join);
  }

  void sawTokens(ObjectId object, BitSet more) {
    if (!more.isEmpty()) {
      BitSet all = (BitSet) tokens(object).clone();
      all.or(more);
      tokens.put(object, all);
    }
  }

  void sawAmount(ObjectId object, long atLeast) {
    amounts.merge(object, atLeast, Math::max);
  }

  /** Adds an update of the session itself to what its counter must show. */
  void added(ObjectId object, long amount) {
    amounts.merge(object, amount, Long::sum);
  }

  public void clear() {
    dots.clear();
    tokens.clear();
    amounts.clear();
  }
}
