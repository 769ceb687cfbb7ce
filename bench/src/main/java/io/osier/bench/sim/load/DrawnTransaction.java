package io.osier.bench.sim.load;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimSending;
import io.osier.bench.sim.app.SimWitness;
import io.osier.bench.sim.check.TransactionCheck.Outcome;
import io.osier.bench.sim.check.TransactionView;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.BitSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One transaction of production's client: what its session knew, and what became of it. */
final class DrawnTransaction implements SimWitness {
  private final Simulation simulation;
  private final String caller;
  private final Unit unit;

  /** The transactions that the session had seen and done when this one began. */
  final BitSet before;

  int number;
  Set<Integer> places = Set.of();
  @Nullable TransactionView view;
  Outcome outcome = Outcome.UNKNOWN;
  int commits;

  /** The replica that has answered last; null before the first answer. */
  @Nullable ReplicaId at;

  /** The replica that has made the last answer, also if it was forwarded; null before. */
  private @Nullable ReplicaId holder;

  /** The commit that a partition made of it; null if none. */
  @Nullable Dot dot;

  /** When the partition made the commit, in nanoseconds of virtual time. */
  long madeNanos;

  @Nullable SimSending begun;

  /**
   * Makes a transaction that begins.
   *
   * @param caller whose it is
   * @param known what its session has seen and done
   */
  DrawnTransaction(Simulation simulation, String caller, Unit unit, BitSet known) {
    this.simulation = simulation;
    this.caller = caller;
    this.unit = unit;
    this.before = (BitSet) known.clone();
  }

  @Override
  public Object about() {
    return "txn";
  }

  @Override
  public void sends(SimSending sending) {
    if (sending.request() instanceof Request.Transact t && t.begin().isPresent()) {
      begun = sending;
    }
  }

  @Override
  public void made(SimSending sending, @Nullable SimNode by, Reply reply) {
    if (by != null) {
      holder = by.self();
    }
    Dot made = reply instanceof Reply.Transacted t ? t.dot().orElse(null) : null;
    if (made == null) {
      return;
    }
    Dot before = commit();
    if (outcome == Outcome.NEVER || (before != null && !before.equals(made))) {
      throw wrong("is committed as %s at %s; before that: %s", made, by, before);
    }
    dot = made;
    madeNanos = simulation.scheduler().nanos();
  }

  @Override
  public void leaves(SimSending sending, Reply reply) {}

  @Override
  public void hears(SimSending sending, Reply reply) {
    at = holder == null ? sending.to() : holder;
  }

  @Override
  public void crashed(SimSending sending) {}

  /** The commit that was made of it and that no crash has taken back; null if none. */
  @Nullable Dot commit() {
    return dot != null && simulation.losses().tookBack(unit, dot, madeNanos) ? null : dot;
  }

  ReplicaId where() {
    return requireNonNull(at, "it was answered");
  }

  @SuppressWarnings("AnnotateFormatMethod") // its annotation would be a dependency for this alone
  Violation wrong(String what, @Nullable Object... parameters) {
    return new Violation(
        unit + "/txn",
        "transaction %d of %s %s",
        number,
        caller,
        String.format(Locale.ROOT, what, parameters));
  }
}
