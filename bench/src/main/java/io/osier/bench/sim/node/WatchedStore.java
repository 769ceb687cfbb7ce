package io.osier.bench.sim.node;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.world.ForwardingStore;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.types.BoundedCounter;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.StoredKey;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A partition's store that notes every change, and so knows at any time which dots each object
 * covers. Each state that the store returns must cover the same.
 */
public final class WatchedStore extends ForwardingStore {
  /** Two looks in so many find objects that must be read from the disk. */
  private static final int COLD_ONE_IN = 3;

  private final Simulation simulation;
  private final SimNode node;
  private final Map<ObjectId, CausalContext> covered = new HashMap<>();

  /** The changes by the present input, in their order, with what each object covered before. */
  private final ArrayDeque<Covered> changes = new ArrayDeque<>();

  /** What each object covered before each of its changes by the present input. */
  private final Map<ObjectId, ArrayDeque<CausalContext>> former = new HashMap<>();

  /** The state of each object before each of its changes by the present input. */
  private final Map<ObjectId, ArrayDeque<CrdtState>> formerStates = new HashMap<>();

  /** In a causal keyspace: the objects that the present input changed, with what they covered. */
  private final Map<ObjectId, CausalContext> together = new LinkedHashMap<>();

  /** What is told to the checks once the records so far are durable. */
  private List<Runnable> told = new ArrayList<>();

  /** What each object covered with its last durable record: all that anybody may be shown. */
  private final Map<ObjectId, CausalContext> showable = new HashMap<>();

  /** What each object of a key covers that is read past the partition; null if none is. */
  private @Nullable Map<ObjectId, CausalContext> showing;

  /** When the updates of each object were acknowledged that the present input absorbs. */
  private final Map<ObjectId, Long> acknowledged = new HashMap<>();

  /** By key, how many records are not yet durable. */
  private final Map<Key, Integer> undurable = new HashMap<>();

  private long recorded;
  private long durable;

  private final Random coldness;

  /** Whether a read from the disk is under way. */
  private boolean reading;

  /** Whether the objects that were asked for have been read. */
  private boolean fetched;

  private record Covered(ObjectId object, CausalContext before) {}

  WatchedStore(Simulation simulation, SimNode node, ObjectStore inner) {
    super(inner);
    this.simulation = simulation;
    this.node = node;
    this.coldness =
        new Random(
            Objects.hash(
                simulation.profile().seed(),
                node.self().dc(),
                node.self().incarnation(),
                node.unit().number()));
    for (Entry e : inner.scan(Optional.empty(), Integer.MAX_VALUE)) {
      covered.put(e.object(), e.state().context());
      showable.put(e.object(), e.state().context());
    }
  }

  // ---------------------------------------------------------------- the witness

  /** The dots that an object covers, without a look into the store. */
  CausalContext covered(ObjectId object) {
    return covered.getOrDefault(object, CausalContext.EMPTY);
  }

  /**
   * What an object covered when an answer was made that had seen this: an input may change it again
   * after the answer, such as one that lets two commands go on.
   */
  CausalContext covered(ObjectId object, VersionVector seen) {
    CausalContext now =
        showing == null ? covered(object) : showing.getOrDefault(object, CausalContext.EMPTY);
    if (now.toVersionVector().isAtMost(seen)) {
      return now;
    }
    Iterator<CausalContext> earlier =
        former.getOrDefault(object, new ArrayDeque<>()).descendingIterator();
    while (earlier.hasNext()) {
      CausalContext before = earlier.next();
      if (before.toVersionVector().isAtMost(seen)) {
        return before;
      }
    }
    throw new Violation(
        node.name(object), "%s says that an answer has seen %s, and shows %s", node, seen, now);
  }

  /** What an object was right before an update of it that the input in hand has brought. */
  public CrdtState before(ObjectId object, Dot dot) {
    return state(object, state -> !state.context().contains(dot), "before " + dot);
  }

  /** What an object was when an answer was made that had seen just this. */
  public CrdtState seen(ObjectId object, VersionVector seen) {
    return state(object, state -> state.context().toVersionVector().equals(seen), "as " + seen);
  }

  /** The last state that the input in hand has found or left of an object, of those that match. */
  private CrdtState state(ObjectId object, Predicate<CrdtState> matches, String which) {
    CrdtState state = orNothing(object, get(object));
    Iterator<CrdtState> earlier =
        formerStates.getOrDefault(object, new ArrayDeque<>()).descendingIterator();
    while (!matches.test(state)) {
      if (!earlier.hasNext()) {
        throw new Violation(node.name(object), "%s never was %s: %s", object, which, state);
      }
      state = earlier.next();
    }
    return state;
  }

  private static CrdtState orNothing(ObjectId object, @Nullable CrdtState state) {
    return state == null ? CrdtState.bottom(object.type()) : state;
  }

  /** The next input begins. */
  void begin() {
    former.clear();
    formerStates.clear();
    acknowledged.clear();
    showing = null;
  }

  /** The present input absorbs updates that were acknowledged before. */
  void absorbs(Input.Absorbed input) {
    input.updates().forEach(u -> acknowledged.put(u.object(), u.sinceNanos()));
  }

  /** Checks that states of a key that are read past the partition are durable. */
  public Map<ObjectId, CausalContext> shown(Key key, List<CrdtState> states) {
    Map<ObjectId, CausalContext> shown = new HashMap<>();
    for (CrdtState state : states) {
      ObjectId object = new ObjectId(key, state.type());
      shown.put(object, state.context());
      CausalContext most = showable.getOrDefault(object, CausalContext.EMPTY);
      if (node.hasDisk() && !most.covers(state.context())) {
        throw new Violation(
            node.name(object), "%s shows %s, of which %s is durable", node, state.context(), most);
      }
    }
    return shown;
  }

  /** Makes a later read show what is shown at present. */
  Runnable shownNow(Runnable reading) {
    Map<ObjectId, CausalContext> now = showing;
    if (now == null) {
      return reading;
    }
    return () -> {
      showing = now;
      reading.run();
      showing = showing == now ? null : showing;
    };
  }

  /** Checks that the records are the changes of the present input, in their order. */
  void witness(List<Effects.Recorded> records) {
    for (Effects.Recorded record : records) {
      recorded++;
      switch (record) {
        case Effects.Applied a -> {
          ObjectId object = a.update().object();
          CausalContext before = before(object);
          Long since = acknowledged.get(object);
          Shipment update = inMemory(a.update());
          tell(
              object,
              () -> {
                showable.put(object, a.state().context());
                long madeNanos = since == null ? simulation.scheduler().nanos() : since;
                simulation.checks(node.unit()).appended(node, update, before, madeNanos);
              });
        }
        case Effects.Forgotten f -> {
          before(f.object());
          tell(
              f.object(),
              () -> {
                showable.remove(f.object());
                simulation.checks(node.unit()).once().forgotten(node.self(), f.object());
              });
        }
        case Effects.Committed c -> told.add(() -> durable++);
      }
    }
    if (!changes.isEmpty()) {
      ObjectId object = changes.element().object();
      throw new Violation(node.name(object), "%s changes %s without a record", node, object);
    }
    together.forEach(
        (object, before) ->
            check(object, before, requireNonNull(get(object), "what was changed is here")));
    together.clear();
  }

  /** Reads all of an update now, since a decomposed object may be another version later. */
  private static Shipment inMemory(Shipment update) {
    return Decomposition.isDecomposed(update.content())
        ? new Shipment(
            update.object(),
            update.origin(),
            update.predecessor(),
            update.needs(),
            update.last(),
            update.updates(),
            update.ageMillis(),
            Decomposition.whole(update.content()))
        : update;
  }

  private void tell(ObjectId object, Runnable what) {
    undurable.merge(object.key(), 1, Integer::sum);
    told.add(
        () -> {
          durable++;
          undurable.computeIfPresent(object.key(), (key, open) -> open == 1 ? null : open - 1);
          what.run();
        });
  }

  /** How many records were made. */
  public long recorded() {
    return recorded;
  }

  /** How many of them are durable. */
  public long durable() {
    return durable;
  }

  /** Returns what must be run once the records since the last call are durable. */
  Runnable takeRecorded() {
    List<Runnable> taken = told;
    told = new ArrayList<>();
    return () -> taken.forEach(Runnable::run);
  }

  /** What an object covered before the next change, which must be a change of this object. */
  private CausalContext before(ObjectId object) {
    Covered change = changes.poll();
    if (change == null || !object.equals(change.object())) {
      throw new Violation(node.name(object), "%s records %s, but changed %s", node, object, change);
    }
    return change.before();
  }

  private void changed(ObjectId object, @Nullable CrdtState state) {
    CrdtState before = orNothing(object, state);
    changes.add(new Covered(object, before.context()));
    former.computeIfAbsent(object, o -> new ArrayDeque<>()).add(before.context());
    formerStates.computeIfAbsent(object, o -> new ArrayDeque<>()).add(before);
  }

  /** Checks a state that has become visible. */
  private void check(ObjectId object, CausalContext before, CrdtState after) {
    simulation.checks(node.unit()).changed(node, object, before, after.context());
    if (after.store() instanceof BoundedCounter counter
        && counter.isCreated()
        && (counter.value() < counter.lower() || counter.value() > counter.upper())) {
      throw new Violation(
          node.name(object), "%s leaves its bounds at %s: %s", object, node.self(), counter);
    }
  }

  private @Nullable CrdtState witnessed(ObjectId object, @Nullable CrdtState state) {
    CausalContext is = state == null ? CausalContext.EMPTY : state.context();
    CausalContext was = covered(object);
    if (is != was && !is.equals(was)) {
      throw new Violation(
          node.name(object), "the store of %s holds %s of what covered %s", node, is, was);
    }
    return state;
  }

  // ---------------------------------------------------------------- the store

  @Override
  public void put(ObjectId object, CrdtState state) {
    CrdtState before = get(object);
    CrdtState spoiled = simulation.options().sabotage().stored(node.self(), object, before, state);
    if (spoiled == null) {
      return;
    }
    super.put(object, spoiled);
    covered.put(object, spoiled.context());
    CausalContext covering = before == null ? CausalContext.EMPTY : before.context();
    changed(object, before);
    simulation
        .trace()
        .about(node.unit(), object, "%s now covers %s", node.self(), spoiled.context());
    if (node.unit().isCausal()) {
      together.putIfAbsent(object, covering); // visible together, when the input is done
    } else {
      check(object, covering, spoiled);
    }
  }

  @Override
  public @Nullable CrdtState get(ObjectId object) {
    CrdtState state = simulation.options().sabotage().loaded(object, super.get(object));
    return witnessed(object, state);
  }

  @Override
  public boolean drop(ObjectId object) {
    CrdtState state = requireNonNull(super.get(object), "what is dropped is here");
    CausalContext context = state.context();
    if (!super.drop(object)) {
      return false;
    }
    covered.remove(object);
    simulation.checks(node.unit()).forgetting(object, context);
    simulation.trace().about(node.unit(), object, "%s forgets it", node.self());
    changed(object, state);
    return true;
  }

  /** Which objects the cache evicts is chance: what is cold is drawn by the seed, here as well. */
  @Override
  public boolean areAtHand(List<ObjectId> objects) {
    if (reading || fetched || !node.hasDisk() || coldness.nextInt(COLD_ONE_IN) > 0) {
      fetched = false;
      return !reading;
    }
    reading = true;
    node.readLater(
        () -> {
          reading = false;
          fetched = true;
          node.tickSoon();
        });
    return false;
  }

  @Override
  public boolean isCached(Key key) {
    return !node.hasDisk() || coldness.nextInt(COLD_ONE_IN) > 0;
  }

  @Override
  public Optional<StoredKey> durablyStored(Key key) {
    if (!isCached(key)) {
      return Optional.empty();
    }
    Optional<StoredKey> found = super.durablyStored(key);
    // What is neither there nor waits for the disk was evicted, by chance.
    if (found.isEmpty() && !undurable.containsKey(key)) {
      found = Optional.of(super.stored(key));
    }
    found.ifPresent(stored -> showing = shown(key, stored.states()));
    return found;
  }
}
