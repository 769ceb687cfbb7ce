package io.osier.datacenter.copies;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the objects that other datacenters follow here, and the states that they were told.
 * Thread-safe.
 */
public final class FollowerCounts {
  /**
   * The counts.
   *
   * @param objects followed objects at present, each counted once for each datacenter that follows
   *     it
   * @param states states that were told since the start; always whole states, whatever the mode of
   *     their object
   * @param bytes bytes of these states
   * @param untoldMillis for how long the oldest change that a follower was not told has waited, in
   *     milliseconds; 0 if there is none
   */
  public record Figures(long objects, long states, long bytes, long untoldMillis) {}

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

  Figures figures(long untoldMillis) {
    return new Figures(objects.sum(), states.sum(), bytes.sum(), untoldMillis);
  }
}
