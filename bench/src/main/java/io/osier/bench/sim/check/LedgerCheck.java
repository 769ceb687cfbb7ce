package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An account of what clients were told, checked against what readers see in the end: a counter
 * shows exactly the sum of the acknowledged increments, a set exactly the acknowledged tokens.
 *
 * <p>Acknowledged by an incarnation that lost its memory counts just what survived, by the object's
 * context. What was asked of a datacenter that crashed before it answered may be there or not: a
 * token of it may show, and a counter may show up to the sum of those increments more.
 */
public final class LedgerCheck {
  private record Entry(ReplicaId origin, long number, Effect effect) {}

  private final Unit unit;
  private final Map<ObjectId, List<Entry>> acknowledged = new HashMap<>();
  private final Map<ObjectId, List<Effect>> unknown = new HashMap<>();
  private long updates;

  public LedgerCheck(Unit unit) {
    this.unit = unit;
  }

  /** How many acknowledged updates are accounted for. */
  long updates() {
    return updates;
  }

  /** An update was acknowledged. */
  public void acknowledged(ObjectId object, Dot dot, Effect effect) {
    updates++;
    acknowledged
        .computeIfAbsent(object, o -> new ArrayList<>())
        .add(new Entry(dot.replica(), dot.number(), effect));
  }

  /** An update will never be answered: its datacenter crashed. */
  public void unanswered(ObjectId object, Effect effect) {
    unknown.computeIfAbsent(object, o -> new ArrayList<>()).add(effect);
  }

  /**
   * Checks a reading at the end.
   *
   * @param survived of incarnations that lost their memory, the last update of the object that is
   *     still there
   */
  public void ended(ReplicaId at, ObjectId object, Reading reading, Map<ReplicaId, Long> survived) {
    long amount = 0;
    Set<Value> tokens = new HashSet<>();
    for (Entry e : acknowledged.getOrDefault(object, List.of())) {
      if (e.number <= survived.getOrDefault(e.origin, Long.MAX_VALUE)) {
        amount += e.effect.amount();
        tokens.addAll(e.effect.tokens());
      }
    }
    long amountMax = amount;
    Set<Value> tokensMax = new HashSet<>(tokens);
    for (Effect effect : unknown.getOrDefault(object, List.of())) {
      amountMax += effect.amount();
      tokensMax.addAll(effect.tokens());
    }
    Effect shown = Effect.shownBy(reading);
    if (shown.amount() < amount || shown.amount() > amountMax) {
      throw new Violation(
          unit + "/" + object,
          "%s shows %d of %s; acknowledged were %d, and %d may have been",
          at,
          shown.amount(),
          object,
          amount,
          amountMax - amount);
    }
    Set<Value> seen = new HashSet<>(shown.tokens());
    boolean isRegister =
        object.type() == CrdtType.LWW_REGISTER || object.type() == CrdtType.MV_REGISTER;
    boolean complete = isRegister ? tokens.isEmpty() || !seen.isEmpty() : seen.containsAll(tokens);
    if (!complete || !tokensMax.containsAll(seen)) {
      tokens.removeAll(seen);
      throw new Violation(
          unit + "/" + object,
          "%s shows of %s the tokens %s; of those acknowledged %s is missing",
          at,
          object,
          shown.tokens(),
          tokens);
    }
  }
}
