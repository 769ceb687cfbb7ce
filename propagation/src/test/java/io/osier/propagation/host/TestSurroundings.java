package io.osier.propagation.host;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Surroundings for tests of sending: the datacenter "eu" with one peer, "us". */
public final class TestSurroundings {
  public static final ReplicaId SELF = new ReplicaId("eu", 1);

  private TestSurroundings() {}

  /** Objects that receive nothing: there are none, unless a test adds some. */
  public static class Objects implements ObjectAccess, StoredObjects {
    @Override
    public StoredObjects stored() {
      return this;
    }

    @Override
    public @Nullable CrdtState state(ObjectId object) {
      return null;
    }

    @Override
    public void apply(Shipment update, CrdtState joined) {
      throw new AssertionError("nothing comes");
    }

    @Override
    public List<Entry> scan(Optional<ObjectId> after, int limit) {
      return List.of();
    }

    @Override
    public List<Logged> logged(long after, int limit) {
      return List.of();
    }
  }

  /** Objects that keep received states; a scan finds none. */
  public static final class Kept extends Objects {
    public final TreeMap<ObjectId, CrdtState> objects = new TreeMap<>();

    @Override
    public @Nullable CrdtState state(ObjectId object) {
      return objects.get(object);
    }

    @Override
    public void apply(Shipment update, CrdtState joined) {
      objects.put(update.object(), joined);
    }
  }

  /** Returns a page of some objects, as a scan returns it. */
  public static List<StoredObjects.Entry> page(
      NavigableMap<ObjectId, CrdtState> objects, Optional<ObjectId> after, int limit) {
    return (after.isEmpty() ? objects : objects.tailMap(after.get(), false))
        .entrySet().stream()
            .limit(limit)
            .map(e -> new StoredObjects.Entry(e.getKey(), e.getValue()))
            .toList();
  }

  /**
   * Returns the progress of a store that was closed when nothing was received and all was settled.
   */
  public static RecoveredState recovered(long life, boolean resumed, long committed) {
    return new RecoveredState(
        life,
        resumed,
        committed,
        committed,
        0,
        VersionVector.EMPTY,
        Set.of(),
        Map.of(),
        true,
        Forgetting.NOTHING,
        1);
  }

  /** Returns a context whose frames are dropped. */
  public static ReplicationContext of(
      KeyspacePolicy policy, RecoveredState recovered, ObjectAccess replica) {
    return of(policy, StreamSettings.DEFAULT, recovered, replica, (to, frame) -> {});
  }

  /** Returns a context of everything that differs between tests. */
  public static ReplicationContext of(
      KeyspacePolicy policy,
      StreamSettings settings,
      RecoveredState recovered,
      ObjectAccess replica,
      FrameSink sink) {
    return new ReplicationContext(
        SELF, List.of("us"), policy, settings, recovered, replica, sink, UpdateObserver.NONE);
  }
}
