package io.osier.datacenter.store;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.ReplicationProgress;
import io.osier.propagation.wire.Frame.Cursor;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * The groups of a partition that lives for a while: updates of its own and of others of most types,
 * states, snapshots, removals, drops, transactions, places in streams. The same ones each time.
 */
public final class StoreScript {
  public static final ReplicaId SELF = new ReplicaId("eu", 5);
  static final ReplicaId OTHER = new ReplicaId("us", 1_700_000_000_000L);
  private static final CrdtType[] TYPES = {
    CrdtType.PN_COUNTER,
    CrdtType.AW_SET,
    CrdtType.LWW_REGISTER,
    CrdtType.MV_REGISTER,
    CrdtType.EW_FLAG,
    CrdtType.G_SET
  };

  private final MemoryVersions versions = new MemoryVersions();
  private final List<List<Change>> groups = new ArrayList<>();
  private final PartitionStore store;

  /** What was changed since the last group. */
  private final Set<Key> changed = new HashSet<>();

  private final List<Map<Key, List<CrdtState>>> contents = new ArrayList<>();
  private final Random random = new Random(14);
  private final Map<ReplicaId, Long> numbers = new HashMap<>();
  private VersionVector through = VersionVector.EMPTY;

  private StoreScript() {
    this.store =
        new PartitionStore(
            versions, writer(), SELF, 1 << 20, 20, KeyedHash.of(() -> 7), Runnable::run);
  }

  /** A life that has ended. */
  public static StoreScript ended() {
    StoreScript script = new StoreScript();
    script.run();
    return script;
  }

  public List<List<Change>> groups() {
    return groups;
  }

  /** What each group changed, as it was then. */
  public List<Map<Key, List<CrdtState>>> contents() {
    return contents;
  }

  private GroupWriter writer() {
    return new GroupWriter() {
      @Override
      public void write(Group group) {
        groups.add(group.changes());
        versions.write(group.changes());
        group.written().run();
      }

      @Override
      public Runnable someTime(List<Change> changes) {
        throw new AssertionError("the cache holds everything");
      }
    };
  }

  private void run() {
    for (int i = 0; i < 400; i++) {
      CrdtType type = TYPES[random.nextInt(TYPES.length)];
      ObjectId object = new ObjectId(Key.of("k" + (char) random.nextInt(2) + i % 23), type);
      CrdtState state = store.get(object);
      if (state != null && state.isSpent() && random.nextInt(3) == 0) {
        store.drop(object);
        changed.add(object.key());
      } else {
        update(object, operation(type, i), random.nextInt(4) == 0 ? OTHER : SELF);
      }
      if (i % 10 == 0) {
        store.committed(new TransactionId(i, ~i), numbers.getOrDefault(SELF, 1L));
      }
      if (i % 3 == 0) {
        commit(i);
      }
    }
    commit(400);
  }

  private Operation operation(CrdtType type, int i) {
    boolean clears = random.nextInt(4) == 0;
    return switch (type) {
      case PN_COUNTER -> clears ? new Operation.Clear() : new Operation.Increment(i - 100);
      case AW_SET -> clears ? new Operation.Clear() : new Operation.Add(Value.of("e" + i % 40));
      case LWW_REGISTER, MV_REGISTER ->
          clears ? new Operation.Clear() : new Operation.Assign(Value.of("v".repeat(i % 90) + i));
      case EW_FLAG -> new Operation.SetFlag(!clears);
      default -> new Operation.Add(Value.of(i % 50));
    };
  }

  private void update(ObjectId object, Operation operation, ReplicaId origin) {
    CrdtState before = store.get(object);
    CrdtState state = before == null ? CrdtState.bottom(object.type()) : before;
    long predecessor = state.context().through(origin);
    long number = numbers.merge(origin, 1L, Long::sum);
    CrdtState delta = state.prepare(operation, origin, number, predecessor, 1_000 + number, 0);
    long last = delta.context().last(origin);
    numbers.put(origin, last);
    CrdtState after = state.join(delta);
    store.put(object, after);
    changed.add(object.key());
    CrdtState shipped = origin.equals(OTHER) && random.nextInt(3) == 0 ? after : delta;
    store.append(
        new Shipment(object, origin, predecessor, VersionVector.EMPTY, last, 1, 0, shipped), after);
    if (origin.equals(OTHER)) {
      through = through.raised(OTHER, last);
    }
  }

  private void commit(int i) {
    Map<Key, List<CrdtState>> now = new HashMap<>();
    changed.forEach(key -> now.put(key, store.get(key)));
    contents.add(now);
    changed.clear();
    long own = numbers.getOrDefault(SELF, 0L);
    Cursor cursor =
        new Cursor(
            i, i, i + 2L, i, Optional.of(new ObjectId(Key.of("k" + i), CrdtType.PN_COUNTER)));
    ReplicationProgress progress =
        new ReplicationProgress(through, Map.of(OTHER, cursor), i % 2 == 0);
    store.commit(
        Optional.of(
            new PartitionProgress(own, 1_000 + own, progress, own / 2, true, Forgetting.SOMETHING)),
        () -> {});
  }
}
