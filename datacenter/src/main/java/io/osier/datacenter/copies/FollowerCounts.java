package io.osier.datacenter.copies;

import java.util.concurrent.atomic.LongAdder;

/** What others follow of what is held here, and what they were told. Thread-safe. */
public final class FollowerCounts {
  /**
   * What was counted.
   *
   * @param objects that are followed at present, once for each datacenter that does
   * @param states that were told: an object's whole state each time, whatever its mode
   * @param bytes of these
   * @param untoldMillis so long the change has waited that has waited longest to be told to
   *     somebody; 0 if all is told
   */
  public record Figures(long objects, long states, long bytes, long untoldMillis) {}

  private final LongAdder objects = new LongAdder();
  private final LongAdder states = new LongAdder();
  private final LongAdder bytes = new LongAdder();

  /** So many more objects are followed. */
  void follows(int more) {
    objects.add(more);
  }

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
