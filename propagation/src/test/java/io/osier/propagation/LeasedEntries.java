package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.tree.EntrySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Creates objects whose entries lie outside the heap and can be read only until {@link #end}: a
 * store would then return the entries of later versions.
 */
public final class LeasedEntries {
  private final List<Lease> leases = new ArrayList<>();

  /** Ends all leases that were given. */
  public void end() {
    leases.forEach(l -> l.ended = true);
    leases.clear();
  }

  /** Returns an equal object with its entries outside; the object itself if that is impossible. */
  public CrdtState of(CrdtState object) {
    if (!Decomposition.isPossible(object)) {
      return object;
    }
    List<ReplicaId> replicas = object.context().replicas();
    Lease lease = new Lease(replicas);
    leases.add(lease);
    Decomposition.all(object, replicas, lease.entries::put);
    byte[] head =
        WireOutput.bytesOf(
            out -> {
              replicas.forEach(out::presetReplica);
              Decomposition.writeHead(Decomposition.of(object), out);
            });
    return Decomposition.readHead(object.form(), replicas, new WireInput(head), lease);
  }

  private static final class Lease implements EntrySource {
    private final List<ReplicaId> replicas;
    private final NavigableMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);
    private boolean ended;

    Lease(List<ReplicaId> replicas) {
      this.replicas = replicas;
    }

    private void check() {
      if (ended) {
        throw new AssertionError("read after the lease has ended");
      }
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
      check();
      return entries.get(key);
    }

    @Override
    public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
      check();
      return EntrySource.pageOf(entries, from, inclusive, down, max);
    }

    @Override
    public List<ReplicaId> replicas() {
      return replicas;
    }

    @Override
    public boolean hold(int millis, boolean isPresent) {
      return !ended;
    }
  }
}
