package io.osier.datacenter.copies;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.store.StoredKey;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Builds one answer to a datacenter that follows objects. Not thread-safe. */
final class Telling {
  /** The size of the largest objects that are followed. */
  private static final int OBJECT_BYTES_MAX = 32 << 10;

  /** What an object takes of an answer besides its states, in bytes. */
  private static final int TOLD_BYTES = 16;

  private final VersionVector through;
  private final List<FollowCodec.Told> told = new ArrayList<>();
  private final Map<Long, Key> left;
  private long size;

  /**
   * Makes an answer with only the refused keys.
   *
   * @param through all these updates are in the states that are read from now on
   * @param changed the keys to tell, by number, in this order; those that are told are removed
   */
  Telling(VersionVector through, Map<Long, Key> changed, List<Long> refused) {
    this.through = through;
    this.left = changed;
    refused.forEach(number -> take(number, Optional.empty()));
  }

  /**
   * Adds the states of the changed keys, until the answer is full.
   *
   * @param stored reads the objects of a key
   * @throws OsierException if that cannot be read
   */
  void takeAll(Function<Key, StoredKey> stored) {
    Iterator<Map.Entry<Long, Key>> rest = left.entrySet().iterator();
    while (rest.hasNext() && size <= FollowCodec.BYTES_MAX) {
      Map.Entry<Long, Key> each = rest.next();
      take(each.getKey(), states(each.getValue(), stored).filter(Telling::isFollowed));
      rest.remove();
    }
  }

  private static Optional<List<CrdtState>> states(Key key, Function<Key, StoredKey> stored) {
    try {
      return Optional.of(stored.apply(key).states());
    } catch (OsierException e) {
      if (e.code() != ErrorCode.VALUE_TOO_LARGE) {
        throw e;
      }
      return Optional.empty();
    }
  }

  /**
   * Returns whether objects may be followed; decomposed ones may not, as their entries would be
   * read one by one.
   */
  private static boolean isFollowed(List<CrdtState> states) {
    return sizeBytes(states) <= OBJECT_BYTES_MAX
        && states.stream()
            .noneMatch(s -> Followers.isRefused(s.type()) || Decomposition.isDecomposed(s));
  }

  private static long sizeBytes(List<CrdtState> states) {
    return states.stream().mapToLong(CrdtState::sizeBytes).sum();
  }

  private void take(long number, Optional<List<CrdtState>> states) {
    long of = states.map(Telling::sizeBytes).orElse(0L);
    told.add(new FollowCodec.Told(number, states, of));
    size += TOLD_BYTES + of;
  }

  /** Returns the changed keys for which there was no room. */
  Map<Long, Key> left() {
    return left;
  }

  /** Returns the answer, with this number. */
  FollowCodec.Answer answer(long step) {
    return new FollowCodec.Answer(
        step, left.isEmpty() ? Optional.of(through) : Optional.empty(), told);
  }
}
