package io.osier.bench.sim.load;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.propagation.host.StoredObjects;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A watcher of one unit, at one datacenter and then at another, with production's {@code
 * KeyspaceFeed} in front of rings that hold little. It notes each object as it is when its change
 * is told. Whenever the watcher has been told everything, each object must read as it noted.
 */
public final class SimWatcher {
  private static final long PAUSE_NANOS = 400_000_000;

  /** One pause of so many is long enough for the watcher to be cut off. */
  private static final int LONG_ONE_IN = 8;

  private static final long LONG_NANOS = 4_000_000_000L;
  private static final int MOVES_ONE_IN = 8;
  private static final int END_TRIES = 2_000;

  /**
   * What the watcher knows of an object.
   *
   * @param covered the dots that it was told of, at any datacenter
   * @param read what it has read by then, here and there: a session never reads less; null where
   *     there was nothing
   */
  private record Told(CausalContext covered, @Nullable CrdtState read) {
    static final Told NOTHING = new Told(CausalContext.EMPTY, null);

    /**
     * Adds a state that it is told of.
     *
     * @param forgotten what was removed and forgotten since: a state that is newer does not say so
     */
    Told with(CrdtState state, CausalContext forgotten) {
      boolean goesOn =
          read != null && !read.context().toVersionVector().isAtMost(forgotten.toVersionVector());
      return new Told(
          covered.join(state.context()),
          Decomposition.whole(goesOn ? requireNonNull(read).join(state) : state));
    }

    Optional<Reading> reads() {
      return read == null ? Optional.empty() : reading(read);
    }
  }

  private final Simulation simulation;
  private final Unit unit;
  private final Random random;
  private final Map<ObjectId, Told> told = new HashMap<>();
  private List<WatchRequest.Place> places = List.of();
  private boolean resumes = true;
  private String at;
  private long checked;

  public SimWatcher(Simulation simulation, Unit unit, Random random) {
    this.simulation = simulation;
    this.unit = unit;
    this.random = random;
    this.at = simulation.anyDc(random);
  }

  public void start() {
    simulation
        .scheduler()
        .in(
            random.nextInt(LONG_ONE_IN) == 0 ? LONG_NANOS : random.nextLong(PAUSE_NANOS),
            () -> {
              if (simulation.isLoading()) {
                if (random.nextInt(MOVES_ONE_IN) == 0) {
                  at = simulation.anyDc(random);
                }
                ask();
                start();
              }
            });
  }

  /** Checks at the end of the run that each datacenter tells it everything. */
  public void end() {
    for (SimDc dc : simulation.holders().of(unit)) {
      at = dc.self().dc();
      long before = checked;
      for (int i = 0; checked == before; i++) {
        if (i == END_TRIES) {
          throw new Violation(unit, "a watcher of %s is not told everything at %s", unit, at);
        }
        simulation.scheduler().runFor(PAUSE_NANOS / 10);
        ask();
      }
    }
  }

  private void ask() {
    SimDc dc = simulation.dc(at);
    if (!dc.isUp() || !dc.serves(unit)) {
      return;
    }
    SimNode node = dc.node(unit);
    Reply reply =
        node.feed()
            .watch(
                new WatchRequest(unit.policy().name(), Optional.empty(), true, places, resumes, 0));
    switch (reply) {
      case null -> {} // it catches up
      case Reply.Changes changes -> take(node, changes);
      case Reply.Failure f -> failed(f);
      default -> throw new Violation(unit, "a watcher is answered with %s", reply);
    }
  }

  private void failed(Reply.Failure failure) {
    if (failure.code() == ErrorCode.WATCHER_TOO_SLOW) {
      resumes = true;
    } else if (failure.code() == ErrorCode.HISTORY_TOO_SHORT
        || failure.code() == ErrorCode.SESSION_LOST) {
      places = List.of();
      resumes = true;
      told.clear();
    } else if (failure.code() != ErrorCode.UNAVAILABLE) {
      throw new Violation(unit, "a watcher at %s fails with %s", at, failure);
    }
  }

  private void take(SimNode node, Reply.Changes changes) {
    resumes = false;
    boolean goesOn = changes.places().equals(places); // nothing was left to be told
    places = changes.places();
    for (Reply.Change change : changes.changes()) {
      ObjectId object = new ObjectId(change.key(), change.type().orElseThrow());
      CrdtState state = node.store().getDurable(object);
      Told before = told.getOrDefault(object, Told.NOTHING);
      told.put(
          object,
          state == null
              ? new Told(before.covered.join(forgotten(object)), null)
              : before.with(state, forgotten(object)));
    }
    if (goesOn && changes.changes().isEmpty() && places.getFirst().next().isEmpty()) {
      check(node);
    }
  }

  private CausalContext forgotten(ObjectId object) {
    return simulation.checks(unit).forgotten(object);
  }

  /**
   * It has been told everything that is durable at a node. Where that has all that the watcher has
   * heard of elsewhere, each object reads as it did when it was told of it last.
   */
  private void check(SimNode node) {
    checked++;
    VersionVector here = node.feed().told();
    if (!places.getFirst().seen().isAtMost(here)) {
      return; // the node is behind
    }
    Map<ObjectId, Optional<Reading>> there = new TreeMap<>();
    told.keySet().forEach(object -> there.put(object, Optional.empty()));
    StoredObjects.Page all =
        node.store()
            .pageDurable(Optional.empty(), Optional.empty(), Integer.MAX_VALUE, Long.MAX_VALUE);
    for (StoredObjects.Entry e : all.entries()) {
      there.put(e.object(), reading(e.state()));
    }
    there.forEach(
        (object, reads) -> {
          Told known = told.getOrDefault(object, Told.NOTHING);
          if (known.covered.toVersionVector().isAtMost(here) && !reads.equals(known.reads())) {
            throw new Violation(
                node.name(object),
                "a watcher at %s was not told of a change of %s: it reads %s, and was told of %s",
                node,
                object,
                reads,
                known);
          }
        });
  }

  private static Optional<Reading> reading(CrdtState state) {
    return state.isBottom() ? Optional.empty() : Optional.of(state.read(new Query.Whole()));
  }
}
