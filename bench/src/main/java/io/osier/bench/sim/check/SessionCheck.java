package io.osier.bench.sim.check;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The four session guarantees (Terry and others, 1994), checked from what each session was told.
 *
 * <ul>
 *   <li><b>Read your writes, monotonic reads.</b> A read shows of its object all that the session
 *       had written or read when it asked: by the dots that the object covers, and, of accountable
 *       objects, by what the reader sees. A set shows every token that the session knows; a counter
 *       at least the last reading and the session's increments since; a register no value that the
 *       session knows to be overwritten, and some value if the session knows one.
 *   <li><b>Monotonic writes, writes follow reads.</b> A write is made at a datacenter that has all
 *       that the session had written or read, of every object of the unit, when it asked. At other
 *       datacenters the order holds within an object: a set that shows a token shows all tokens
 *       that the token's writer knew of it, a register shows no value together with one that its
 *       writer knew.
 * </ul>
 *
 * <p>A session stops knowing what it knew when it is told that it was lost with a datacenter's
 * memory.
 */
public final class SessionCheck {
  /** The tokens of one object. */
  private static final class Tokens {
    final Map<Value, Integer> numbers = new HashMap<>();
    final List<Value> values = new ArrayList<>();

    /** By token number: the tokens that its writer knew, and those that their writers knew. */
    final List<BitSet> pasts = new ArrayList<>();

    BitSet past(BitSet of) {
      BitSet past = new BitSet();
      of.stream().forEach(t -> past.or(pasts.get(t)));
      return past;
    }
  }

  /** Tells whether dots {@code here} of an object include all of its updates in {@code wanted}. */
  public interface Coverage {
    boolean covers(ObjectId object, CausalContext here, CausalContext wanted);
  }

  private final Unit unit;
  private final Coverage coverage;
  private final Map<ObjectId, Tokens> tokens = new HashMap<>();
  private long reads;

  public SessionCheck(Unit unit, Coverage coverage) {
    this.unit = unit;
    this.coverage = coverage;
  }

  /** How many reads of accountable objects were checked. */
  public long reads() {
    return reads;
  }

  /** A session asks for a write. */
  public void asked(SessionView view, ObjectId object, Effect effect) {
    if (effect.tokens().isEmpty()) {
      return;
    }
    Tokens of = tokens.computeIfAbsent(object, o -> new Tokens());
    BitSet past = (BitSet) view.tokens(object).clone();
    past.or(of.past(past));
    for (Value token : effect.tokens()) {
      of.numbers.put(token, of.pasts.size());
      of.values.add(token);
      of.pasts.add(past);
    }
  }

  /**
   * A session no longer knows what it knew when it asked for a write that was not done yet: it has
   * lost it.
   */
  public void forgot(ObjectId object, Effect effect) {
    Tokens of = tokens.get(object);
    for (Value token : effect.tokens()) {
      requireNonNull(of, "it was asked for").pasts.get(number(of, token)).clear();
    }
  }

  private static int number(Tokens of, Value token) {
    return requireNonNull(of.numbers.get(token), "it was asked for");
  }

  /**
   * A write was made at a datacenter, for a session that knew this when it asked.
   *
   * @param covered what each object covers at the datacenter
   */
  public void made(
      ReplicaId at, Function<ObjectId, CausalContext> covered, SessionView view, ObjectId object) {
    for (Map.Entry<ObjectId, CausalContext> known : view.dots().entrySet()) {
      CausalContext has = covered.apply(known.getKey());
      if (!coverage.covers(known.getKey(), has, known.getValue())) {
        throw new Violation(
            unit + "/" + known.getKey(),
            "a session wrote %s at %s, which does not have what the session knew of %s: it has %s,"
                + " the session knew %s",
            object,
            at,
            known.getKey(),
            has,
            known.getValue());
      }
    }
  }

  /** A write was acknowledged: the session knows it from now on. */
  public void wrote(SessionView view, ObjectId object, CausalContext dot, Effect effect) {
    view.sawDots(object, dot);
    if (!effect.tokens().isEmpty()) {
      view.sawTokens(object, numbers(object, effect.tokens()));
    }
    if (effect.amount() > 0) {
      view.added(object, effect.amount());
    }
  }

  /**
   * A read was answered.
   *
   * @param wanted what the session knew when it asked
   * @param shown what the object covered at the datacenter
   */
  public void read(
      ReplicaId at, SessionView wanted, ObjectId object, CausalContext shown, Reading reading) {
    read(at, wanted, object, shown);
    if (!Workload.isAccountable(object)) {
      return;
    }
    reads++;
    if (reading instanceof Reading.Flag there) {
      boolean known = wanted.amount(object) > 0 || !wanted.tokens(object).isEmpty();
      if (known && !there.value()) { // nothing of an account is ever taken back
        throw violation(at, object, "does not exist", "something of it");
      }
      return;
    }
    Effect effect = Effect.shownBy(reading);
    if (effect.amount() < wanted.amount(object)) {
      throw violation(at, object, "shows " + effect.amount(), wanted.amount(object));
    }
    BitSet values = numbers(object, effect.tokens());
    if (isRegister(object.type())) {
      checkRegister(at, wanted, object, values);
    } else {
      checkSet(at, wanted, object, values);
    }
  }

  /** Checks a read of which only the dots are known that the object covered. */
  public void read(ReplicaId at, SessionView wanted, ObjectId object, CausalContext shown) {
    if (!coverage.covers(object, shown, wanted.dots(object))) {
      throw violation(at, object, "shows only " + shown, wanted.dots(object));
    }
  }

  /** A read was answered before a write of the same session that was sent before it. */
  public void overtook(ReplicaId at, ObjectId object, CausalContext shown, Dot dot) {
    if (!coverage.covers(object, shown, CausalContext.of(dot))) {
      throw violation(at, object, "shows only " + shown, dot + ", which it had sent before");
    }
  }

  /** The session knows from now on what a read has shown. */
  public void saw(SessionView view, ObjectId object, CausalContext shown, Reading reading) {
    view.sawDots(object, shown);
    if (Workload.isAccountable(object) && !(reading instanceof Reading.Flag)) {
      Effect effect = Effect.shownBy(reading);
      view.sawAmount(object, effect.amount());
      view.sawTokens(object, numbers(object, effect.tokens()));
    }
  }

  private static boolean isRegister(CrdtType type) {
    return type == CrdtType.LWW_REGISTER || type == CrdtType.MV_REGISTER;
  }

  private void checkRegister(ReplicaId at, SessionView wanted, ObjectId object, BitSet values) {
    BitSet known = wanted.tokens(object);
    if (values.isEmpty() && !known.isEmpty()) {
      throw violation(at, object, "shows no value", text(object, known));
    }
    Tokens of = tokens.get(object);
    if (of == null) {
      return;
    }
    BitSet overwritten = of.past(known);
    overwritten.or(of.past(values));
    overwritten.and(values);
    if (!overwritten.isEmpty()) {
      throw violation(
          at,
          object,
          "shows overwritten values " + text(object, overwritten) + " in " + text(object, values),
          text(object, known));
    }
  }

  private void checkSet(ReplicaId at, SessionView wanted, ObjectId object, BitSet shown) {
    BitSet missing = (BitSet) wanted.tokens(object).clone();
    missing.andNot(shown);
    if (!missing.isEmpty()) {
      throw violation(at, object, "does not show " + text(object, missing), "these");
    }
    Tokens of = tokens.get(object);
    if (of == null) {
      return;
    }
    BitSet past = of.past(shown);
    past.andNot(shown);
    if (!past.isEmpty()) {
      throw violation(
          at,
          object,
          "does not show " + text(object, past) + ", which a writer of what it shows knew",
          text(object, wanted.tokens(object)));
    }
  }

  private BitSet numbers(ObjectId object, List<Value> values) {
    BitSet numbers = new BitSet();
    if (values.isEmpty()) {
      return numbers;
    }
    Tokens of = tokens.get(object);
    for (Value value : values) {
      Integer number = of == null ? null : of.numbers.get(value);
      if (number == null) {
        throw new Violation(unit + "/" + object, "%s shows %s, which nobody wrote", object, value);
      }
      numbers.set(number);
    }
    return numbers;
  }

  private String text(ObjectId object, BitSet numbers) {
    List<?> values = requireNonNull(tokens.get(object), "its elements are known").values;
    return numbers.stream().mapToObj(values::get).toList().toString();
  }

  private Violation violation(ReplicaId at, ObjectId object, String shows, Object known) {
    return new Violation(
        unit + "/" + object,
        "a session read %s at %s: it %s; the session knew %s",
        object,
        at,
        shows,
        known);
  }
}
