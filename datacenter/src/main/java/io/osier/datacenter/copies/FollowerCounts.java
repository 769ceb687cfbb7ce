package io.osier.datacenter.copies;

import io.osier.datacenter.metrics.Snapshot;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the objects that other datacenters follow here, and the states that they were told.
 * Thread-safe.
 */
final class FollowerCounts {
  private final LongAdder objects = new LongAdder();
  private final LongAdder states = new LongAdder();
  private final LongAdder bytes = new LongAdder();

  /** Notes that so many more objects are followed; fewer if negative. */
  void follows(int more) {
    objects.add(more);
  }

  /** Notes the states of an answer. */
  void told(FollowCodec.Answer answer) {
    for (FollowCodec.Told told : answer.objects()) {
      if (told.states().isPresent()) {
        states.increment();
        bytes.add(told.bytes());
      }
    }
  }

  Snapshot.Followed figures(long untoldMillis) {
    return new Snapshot.Followed(objects.sum(), states.sum(), bytes.sum(), untoldMillis);
  }
}
