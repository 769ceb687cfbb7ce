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

/** An answer to who follows objects, while it is put together. Not thread-safe. */
final class Telling {
  /** Larger objects are not followed. */
  private static final int OBJECT_BYTES_MAX = 32 << 10;

  /** What an object takes of an answer besides its states. */
  private static final int TOLD_BYTES = 16;

  private final VersionVector through;
  private final List<FollowCodec.Told> told = new ArrayList<>();
  private final Map<Long, Key> left;
  private long size;

  /**
   * Tells nothing yet but what is refused.
   *
   * @param through in what keys hold from now on is all of this
   * @param changed what is to be told, by number, in this order
   */
  Telling(VersionVector through, Map<Long, Key> changed, List<Long> refused) {
    this.through = through;
    this.left = changed;
    refused.forEach(number -> take(number, Optional.empty()));
  }

  /**
   * Takes what has changed, as far as there is room.
   *
   * @param stored what a key holds
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

  /** Of a decomposed object the entries would be read one by one. */
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

  /** What has changed and is not told. */
  Map<Long, Key> left() {
    return left;
  }

  FollowCodec.Answer answer(long step) {
    return new FollowCodec.Answer(
        step, left.isEmpty() ? Optional.of(through) : Optional.empty(), told);
  }
}
