package io.osier.protocol;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import java.util.List;
import java.util.Optional;

/**
 * Asks for changes that became visible at the datacenter after a position. Answered by {@link
 * Reply.Changes}, as soon as there are some, or when the wait is over.
 *
 * @param key whose changes are wanted; empty for those of all keys
 * @param prefix whether the changes of all keys that begin with it are wanted, too
 * @param places the position, one for each partition in its order (for a single key only that of
 *     its partition), from the last answer; empty for a watcher that begins
 * @param resumes whether earlier changes are wanted, too: for a watcher that begins, everything
 *     that exists; otherwise everything between its position and the oldest change that is kept.
 *     Without it, a watcher whose position is not kept any more is too slow
 * @param waitMillis 0 to {@link #WATCH_WAIT_MILLIS_MAX}; a watcher that begins is answered at once
 */
public record WatchRequest(
    String keyspace,
    Optional<Key> key,
    boolean prefix,
    List<Place> places,
    boolean resumes,
    int waitMillis)
    implements Request.OfKeyspace {
  public WatchRequest {
    places = List.copyOf(places);
    if (key.isEmpty() && !prefix) {
      throw new IllegalArgumentException("a watcher of no prefix is one of a key");
    }
  }

  /**
   * A watcher's position in one partition.
   *
   * @param life identifies the count of changes: of one datacenter, and not for ever
   * @param tick the number of this life's changes that the watcher has got
   * @param seen the watcher was told of all of these updates, at whatever datacenter: so it can go
   *     on at another one
   * @param next the next key, while the watcher is being sent the existing objects; empty once that
   *     is done
   */
  public record Place(long life, long tick, VersionVector seen, Optional<Key> next) {}
}
