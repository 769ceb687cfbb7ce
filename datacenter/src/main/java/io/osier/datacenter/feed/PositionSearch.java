package io.osier.datacenter.feed;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.WatchRequest;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds a watcher's position in the partitions' rings, or the key from which on the watcher must
 * walk through the existing objects; refuses positions after which some changes can no longer be
 * told.
 *
 * @param parts the partitions of the request: one for a single key, otherwise all
 */
record PositionSearch(WatchRequest request, ReplicaId self, List<WatchedPartitions.Part> parts) {
  private static final Key FIRST = Key.of(new byte[] {0});

  /**
   * Finds the position in a partition's ring; null until the ring has begun.
   *
   * @throws OsierException if the watcher cannot go on from its position
   */
  WatchRequest.@Nullable Place find(int i, long nowNanos) {
    ChangeRing ring = parts.get(i).ring();
    // Done before the ring's state is read, so that all changes after that state are kept.
    if (request.prefix()) {
      ring.keep();
    } else if (ring.look(request.key().orElseThrow(), nowNanos).isEmpty()) {
      return null;
    }
    Optional<ChangeRing.State> state = ring.state();
    if (state.isEmpty()) {
      return null;
    }
    ChangeRing.State now = state.get();
    WatchRequest.Place from = request.places().isEmpty() ? null : request.places().get(i);
    if (from == null && !request.resumes()) {
      return new WatchRequest.Place(now.life(), now.end(), now.here(), Optional.empty());
    }
    if (!request.prefix()) {
      // For a single key there is no walk: the watcher is told that the key may have changed.
      return from == null
          ? new WatchRequest.Place(~now.life(), 0, VersionVector.EMPTY, Optional.empty())
          : from;
    }
    if (from == null) {
      return walkFrom(now, VersionVector.EMPTY);
    }
    if (from.life() == now.life() && now.reaches(from.tick())) {
      return from;
    }
    if (from.life() == now.life() && from.tick() < now.oldest() && !request.resumes()) {
      throw new OsierException(
          ErrorCode.WATCHER_TOO_SLOW,
          "the watcher was cut off: it is behind by "
              + (now.end() - from.tick())
              + " changes, and the latest "
              + (now.end() - now.oldest())
              + " are kept (osier.memory.changes); it may go on from its position");
    }
    return goOn(i, now, from);
  }

  /** Goes on from a position of another life: of another datacenter, or before a restart. */
  private WatchRequest.Place goOn(int i, ChangeRing.State now, WatchRequest.Place from) {
    if (parts.get(i).source().forgotten().isEmpty()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "this datacenter has lost its data and has not compared with all others yet, so it does"
              + " not know what was removed since the watcher's position; try again later");
    }
    checkNothingLost(now, from.seen());
    // Checked even if the ring reaches back so far: removals that others had forgotten before this
    // datacenter recovered lost data never became visible here.
    checkRemembered(i, from.seen());
    long tick = from.next().isPresent() ? -1 : parts.get(i).ring().behind(from.seen());
    if (tick >= 0) {
      return new WatchRequest.Place(now.life(), tick, from.seen(), Optional.empty());
    }
    return walkFrom(now, from.seen());
  }

  private WatchRequest.Place walkFrom(ChangeRing.State now, VersionVector seen) {
    return new WatchRequest.Place(
        now.life(), now.end(), seen, Optional.of(request.key().orElse(FIRST)));
  }

  /** Checks that no update that the watcher was told of was lost with this datacenter's memory. */
  private void checkNothingLost(ChangeRing.State now, VersionVector seen) {
    for (int r = 0; r < seen.size(); r++) {
      ReplicaId replica = seen.replica(r);
      boolean former = replica.dc().equals(self.dc()) && replica.incarnation() < self.incarnation();
      if (former && seen.number(r) > now.here().get(replica)) {
        throw new OsierException(
            ErrorCode.SESSION_LOST,
            "the watcher was told of updates up to "
                + seen.number(r)
                + " of "
                + replica
                + ", and what is after "
                + now.here().get(replica)
                + " was lost with its memory; watch again without a position");
      }
    }
  }

  /** Checks that no removal that the watcher was not told of has been forgotten. */
  void checkRemembered(int i, VersionVector seen) {
    if (!seen.isEmpty()
        && parts.get(i).source().forgotten().filter(f -> f.isAtMost(seen)).isEmpty()) {
      throw new OsierException(
          ErrorCode.HISTORY_TOO_SHORT,
          "the changes after the watcher's position are no longer kept, and removals since then may"
              + " be forgotten: read the keys again and watch without a position");
    }
  }
}
