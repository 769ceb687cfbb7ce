package io.osier.bench.sim.check;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Against a reference: at the end each object is the join of just the updates that must be in it,
 * each as it was when it was made. Those are all of the incarnations that kept their memory, and of
 * one that lost it those up to the last that anyone has. Also, what each datacenter journalled
 * since its start joins to what it holds.
 */
public final class ExactlyOnceCheck {
  /**
   * What a datacenter journalled of an object. Of every fourth object each delta is joined by
   * itself, as the object was; the others' are joined in groups, which copies less.
   *
   * <p>In groups, other rows of removed counters may be left. An origin that has forgotten the
   * object says with its next delta that all before it was seen ({@code (0, n]}). A delta drops
   * nothing from a state; but joined to a state that knows nothing of the origin, it makes one that
   * was there when the rows were dropped. Both are right: everybody has what was forgotten.
   */
  private static final class Journalled {
    private static final int DELTAS_MAX = 32;
    private final boolean oneByOne;
    private final List<CrdtState> deltas = new ArrayList<>();
    private CrdtState state;

    Journalled(ObjectId object, CrdtState state) {
      this.oneByOne = Math.floorMod(object.key().hashCode(), 4) == 0;
      this.state = state;
    }

    boolean gives(CrdtState actual) {
      CrdtState journalled = state();
      return oneByOne
          ? journalled.equals(actual)
          : journalled.context().equals(actual.context())
              && journalled.trimmed().equals(actual.trimmed());
    }

    void add(CrdtState delta) {
      deltas.add(delta);
      if (oneByOne || deltas.size() == DELTAS_MAX) {
        state();
      }
    }

    CrdtState state() {
      if (!deltas.isEmpty()) {
        state = state.join(CrdtState.join(deltas));
        deltas.clear();
      }
      return state;
    }
  }

  private final Unit unit;
  private final Function<ObjectId, CausalContext> forgotten;
  private final Map<ObjectId, Map<ReplicaId, TreeMap<Long, CrdtState>>> made = new HashMap<>();
  private final Map<ReplicaId, Map<ObjectId, Journalled>> journals = new HashMap<>();
  private final Map<ReplicaId, Long> committed = new HashMap<>();
  private long updates;

  public ExactlyOnceCheck(Unit unit, Function<ObjectId, CausalContext> forgotten) {
    this.unit = unit;
    this.forgotten = forgotten;
  }

  /** How many updates were made. */
  public long updates() {
    return updates;
  }

  /** The last commit number of each incarnation that made an update. */
  public Map<ReplicaId, Long> committed() {
    return committed;
  }

  /** An update was made and journalled. */
  public void made(Shipment update) {
    long before = committed.getOrDefault(update.origin(), 0L);
    if (update.last() <= before) {
      throw new Violation(
          unit + "/" + update.object(),
          "%s gave commit number %d again, after %d",
          update.origin(),
          update.last(),
          before);
    }
    committed.put(update.origin(), update.last());
    made.computeIfAbsent(update.object(), o -> new HashMap<>())
        .computeIfAbsent(update.origin(), r -> new TreeMap<>())
        .put(update.last(), update.content());
    updates++;
  }

  /** An incarnation starts with the objects that the one before it has left. */
  public void started(ReplicaId self, Map<ObjectId, CrdtState> content) {
    Map<ObjectId, Journalled> journal = new HashMap<>();
    content.forEach((object, state) -> journal.put(object, new Journalled(object, state)));
    journals.put(self, journal);
  }

  /** A tombstone was dropped. */
  public void forgotten(ReplicaId at, ObjectId object) {
    journals.getOrDefault(at, new HashMap<>()).remove(object);
  }

  /** An update, local or remote, was journalled. */
  public void journalled(ReplicaId at, Shipment update) {
    journals
        .computeIfAbsent(at, r -> new HashMap<>())
        .computeIfAbsent(update.object(), o -> new Journalled(o, CrdtState.bottom(o.type())))
        .add(update.content());
  }

  /**
   * Checks the end.
   *
   * @param contents what each datacenter holds: equal by now
   * @param lost the incarnations that lost their memory
   */
  public void ended(Map<ReplicaId, Map<ObjectId, CrdtState>> contents, Set<ReplicaId> lost) {
    contents.forEach(this::checkJournal);
    Map<ObjectId, CrdtState> content = contents.values().iterator().next();
    // In their order, so that each run of a seed fails for the same one.
    for (Map.Entry<ObjectId, Map<ReplicaId, TreeMap<Long, CrdtState>>> e :
        new TreeMap<>(made).entrySet()) {
      ObjectId object = e.getKey();
      CrdtState actual = content.getOrDefault(object, CrdtState.bottom(object.type()));
      CausalContext seen = actual.context().join(forgotten.apply(object));
      CrdtState expected = expected(e.getValue(), seen, object, lost);
      if (!expected.trimmed().equals(actual.trimmed())) {
        throw new Violation(
            unit + "/" + object,
            "updates are missing or twice in %s: it is %s, must be %s",
            object,
            actual,
            expected);
      }
    }
    for (ObjectId object : content.keySet()) {
      if (!made.containsKey(object)) {
        throw new Violation(unit + "/" + object, "%s is there, but nobody wrote it", object);
      }
    }
  }

  private static CrdtState expected(
      Map<ReplicaId, TreeMap<Long, CrdtState>> of,
      CausalContext seen,
      ObjectId object,
      Set<ReplicaId> lost) {
    CrdtState expected = CrdtState.bottom(object.type());
    for (Map.Entry<ReplicaId, TreeMap<Long, CrdtState>> own : of.entrySet()) {
      long through = lost.contains(own.getKey()) ? seen.through(own.getKey()) : Long.MAX_VALUE;
      for (CrdtState delta : own.getValue().headMap(through, true).values()) {
        expected = expected.join(delta);
      }
    }
    return expected;
  }

  private void checkJournal(ReplicaId at, Map<ObjectId, CrdtState> content) {
    Map<ObjectId, Journalled> journal = journals.getOrDefault(at, Map.of());
    content.forEach(
        (object, state) -> {
          Journalled journalled = journal.get(object);
          if (journalled == null || !journalled.gives(state)) {
            throw new Violation(
                unit + "/" + object,
                "%s holds of %s what it did not journal: it is %s, the journal gives %s",
                at,
                object,
                state,
                journalled == null ? "nothing" : journalled.state());
          }
        });
  }
}
