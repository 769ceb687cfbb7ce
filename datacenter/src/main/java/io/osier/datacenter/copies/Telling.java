package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.StoredKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An answer to who follows objects, while it is put together. Not thread-safe. */
final class Telling {
  /** Larger objects are not followed. */
  private static final int OBJECT_BYTES_MAX = 32 << 10;

  private final VersionVector through;
  private final List<FollowCodec.Told> told = new ArrayList<>();
  private long size;

  /** What has changed and is not told yet, by number. */
  final Map<Long, Key> left = new HashMap<>();

  /**
   * Tells nothing yet.
   *
   * @param through in what keys hold from now on is all of this
   */
  Telling(VersionVector through) {
    this.through = through;
  }

  /**
   * Takes what is left, as far as it is known and there is room.
   *
   * @param stored what a key holds; null if that is not known
   */
  void takeAll(Function<Key, @Nullable StoredKey> stored) {
    Iterator<Map.Entry<Long, Key>> rest = left.entrySet().iterator();
    while (rest.hasNext() && !isFull()) {
      Map.Entry<Long, Key> each = rest.next();
      try {
        StoredKey found = stored.apply(each.getValue());
        if (found != null) {
          take(each.getKey(), found.states());
          rest.remove();
        }
      } catch (OsierException e) { // what cannot be read is not followed
        told.add(new FollowCodec.Told(each.getKey(), Optional.empty(), 0));
        rest.remove();
      }
    }
  }

  private void take(long number, List<CrdtState> states) {
    long of = states.stream().mapToLong(CrdtState::sizeBytes).sum();
    boolean follows =
        of <= OBJECT_BYTES_MAX && states.stream().noneMatch(s -> Followers.isRefused(s.type()));
    told.add(new FollowCodec.Told(number, follows ? Optional.of(states) : Optional.empty(), of));
    size += follows ? of : 0;
  }

  private boolean isFull() {
    return size > FollowCodec.BYTES_MAX;
  }

  /** Whether nothing more can be told, or all is. */
  boolean isOver() {
    return left.isEmpty() || isFull();
  }

  /** The answer. */
  FollowCodec.Answer answer(long step) {
    return new FollowCodec.Answer(
        step, left.isEmpty() ? Optional.of(through) : Optional.empty(), told);
  }
}
