package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.TypeRegistry;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Updates that have a condition, at the partition and by what their callers are told.
 *
 * <ul>
 *   <li>One that was done found its object, right before its own commit, as its condition wants it.
 *       So nothing came between.
 *   <li>One that was not done found it otherwise, and its caller is told how. That it has changed
 *       nothing is seen by the {@link LedgerCheck}.
 *   <li>Of callers who want the same of one object at one datacenter, and change with it what they
 *       ask about, one at most is told that it has succeeded: what is only added to never is again
 *       as it was. This needs nothing of what the partition did.
 * </ul>
 */
public final class ConditionCheck {
  /** What callers compete for: one of them at most may have it. */
  private record Prize(ReplicaId at, ObjectId object, Request.Condition condition) {}

  private final Unit unit;
  private final Map<Prize, Dot> won = new HashMap<>();
  private long done;
  private long notDone;

  public ConditionCheck(Unit unit) {
    this.unit = unit;
  }

  /** How many updates whose condition held were checked. */
  public long done() {
    return done;
  }

  /** How many updates whose condition did not hold were checked. */
  public long notDone() {
    return notDone;
  }

  /** How many callers were told that they have what others could no longer have. */
  public int won() {
    return won.size();
  }

  /**
   * A partition has done an update.
   *
   * @param at who, for a message
   * @param before what the object was right before it
   */
  public void done(
      Object at, ObjectId object, Request.Condition condition, Dot dot, CrdtState before) {
    done++;
    Reading was = read(before, condition);
    if (!was.equals(condition.expected())) {
      throw new Violation(
          name(object),
          "%s has done %s of %s although its condition did not hold: there was %s, not %s",
          at,
          dot,
          object,
          was,
          condition);
    }
  }

  /**
   * A partition has not done an update, and answers what there is.
   *
   * @param at who, for a message
   * @param state what the object was when the answer was made
   */
  public void notDone(
      Object at,
      ObjectId object,
      Request.Condition condition,
      Reply.Answer answer,
      CrdtState state) {
    notDone++;
    if (read(state, condition).equals(condition.expected())) {
      throw new Violation(
          name(object),
          "%s has not done an update of %s although its condition held: %s",
          at,
          object,
          condition);
    }
    Reading there = state.read(asked(condition));
    if (!answer.reading().filter(there::equals).isPresent()) {
      throw new Violation(
          name(object),
          "%s says to an update's condition that %s is %s, and it is %s",
          at,
          object,
          answer,
          there);
    }
  }

  private static Query asked(Request.Condition condition) {
    return condition.path().isEmpty()
        ? condition.query()
        : new Query.Select(List.of(condition.path().getFirst().name()));
  }

  /** What there is of what a condition is about, read in another way than a partition does. */
  private static Reading read(CrdtState state, Request.Condition condition) {
    if (condition.path().isEmpty()) {
      return state.read(condition.query());
    }
    Reading at = state.read(new Query.Whole());
    for (FieldId field : condition.path()) {
      Reading within = at instanceof Reading.Fields f ? f.fields().get(field) : null;
      at = within == null ? TypeRegistry.empty(field.type()).read(new Query.Whole()) : within;
    }
    return at;
  }

  /** A caller is told that its update was done. */
  public void told(ObjectId object, Request.Condition condition, Effect effect, Dot dot) {
    if (!Workload.isAccountable(object) || !changes(condition, effect)) {
      return;
    }
    Dot other = won.put(new Prize(dot.replica(), object, condition), dot);
    if (other != null) {
      throw new Violation(
          name(object),
          "two callers are told that they were the first with %s: by %s and %s, with %s",
          object,
          other,
          dot,
          condition);
    }
  }

  /** Whether it is about all of the object: then so is the answer where it does not hold. */
  public static boolean isOfAll(Request.Condition condition) {
    return condition.path().isEmpty() && condition.query() instanceof Query.Whole;
  }

  /** Whether an update makes that its own condition does not hold, for ever. */
  private static boolean changes(Request.Condition condition, Effect effect) {
    if (condition.path().isEmpty()) {
      return isOfAll(condition) && (effect.amount() > 0 || !effect.tokens().isEmpty());
    }
    return condition.path().equals(List.of(Effect.AMOUNT))
        ? effect.amount() > 0
        : condition.path().equals(List.of(Effect.TOKENS)) && !effect.tokens().isEmpty();
  }

  private String name(ObjectId object) {
    return unit + "/" + object;
  }
}
