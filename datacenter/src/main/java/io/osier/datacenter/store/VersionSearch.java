package io.osier.datacenter.store;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.VersionStore.Loaded;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The search of the thesis's second key design (4.5.2), for both adapters: one object's records are
 * walked from the newest to the oldest, by the largest number in their vectors, until no older one
 * can matter.
 *
 * <p>When may the walk stop? A record that is not at most the snapshot's vector has a larger number
 * than the snapshot for some replica; so its largest number is larger than the smallest of the
 * snapshot's, over all replicas that any record may name. A replica that the snapshot's vector does
 * not name counts as 0, and then the walk goes to the end.
 */
public final class VersionSearch {
  private VersionSearch() {}

  /** One record of an object; its content is decoded when it is asked for. */
  public interface Stored {
    VersionVector at();

    /** Returns whether the record holds all updates up to its time. */
    boolean isSnapshot();

    /**
     * Returns whether the record is a state in place that says that it is all that there is of its
     * key.
     */
    boolean isAlone();

    CrdtState content();
  }

  /**
   * Returns the largest number in a vector, which determines its place among an object's records.
   */
  public static long maxOf(VersionVector at) {
    long max = 0;
    for (int i = 0; i < at.size(); i++) {
      max = Math.max(max, at.number(i));
    }
    return max;
  }

  /**
   * Returns whether the first of two snapshots is the one to read. This is a total order of
   * vectors: a vector comes before each one that contains it, and which of several concurrent ones
   * is the newest does not change when others are deleted.
   */
  public static boolean isNewer(VersionVector first, VersionVector second) {
    long difference = maxOf(first) - maxOf(second);
    return difference == 0 ? sumOf(first) > sumOf(second) : difference > 0;
  }

  private static long sumOf(VersionVector at) {
    long sum = 0;
    for (int i = 0; i < at.size(); i++) {
      sum += at.number(i);
    }
    return sum;
  }

  /**
   * Returns a bound: a record whose largest number is at most this is at most the snapshot's
   * vector.
   */
  private static long floorOf(VersionVector snapshot, Collection<ReplicaId> known) {
    long floor = Long.MAX_VALUE;
    for (ReplicaId r : known) {
      floor = Math.min(floor, snapshot.get(r));
    }
    return known.isEmpty() ? 0 : floor;
  }

  /**
   * Returns the newest version: the newest snapshot joined with every operation that is not in it.
   *
   * @param inPlace the state in the object's place, which is a snapshot, too; null if there is none
   */
  public static Optional<Loaded> newest(
      @Nullable Stored inPlace,
      Iterator<? extends Stored> newestFirst,
      Collection<ReplicaId> known) {
    List<Stored> operations = new ArrayList<>();
    Stored snapshot = inPlace;
    long floor = inPlace == null ? -1 : floorOf(inPlace.at(), known);
    boolean hasVersions = newestFirst.hasNext() || inPlace == null || !inPlace.isAlone();
    while (newestFirst.hasNext()) {
      Stored r = newestFirst.next();
      boolean below = snapshot != null && maxOf(r.at()) < maxOf(snapshot.at());
      if (below && maxOf(r.at()) <= floor) {
        break;
      }
      if (!r.isSnapshot()) {
        operations.add(r);
      } else if (snapshot == null || isNewer(r.at(), snapshot.at())) {
        snapshot = r;
        floor = floorOf(r.at(), known);
      }
    }
    if (snapshot == null && operations.isEmpty()) {
      return Optional.empty();
    }
    List<CrdtState> deltas = new ArrayList<>(operations.size());
    long bytes = 0;
    for (Stored r : operations.reversed()) {
      if (snapshot == null || !r.at().isAtMost(snapshot.at())) {
        CrdtState delta = r.content();
        deltas.add(delta);
        bytes += delta.sizeBytes();
      }
    }
    // The state is copied once, not for each operation.
    CrdtState state =
        snapshot == null ? CrdtState.bottom(deltas.getFirst().type()) : snapshot.content();
    if (!deltas.isEmpty()) {
      state = state.join(CrdtState.join(deltas));
    }
    return Optional.of(new Loaded(state, deltas.size(), bytes, hasVersions));
  }
}
