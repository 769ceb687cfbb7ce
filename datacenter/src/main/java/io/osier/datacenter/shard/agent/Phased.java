package io.osier.datacenter.shard.agent;

import io.osier.datacenter.partition.machine.Waited;
import io.osier.protocol.Reply;
import java.util.function.Consumer;

/** An asker that is also told how far its request has come. Called by any thread. */
public interface Phased {
  /** An asker that wants to know none of it. */
  Phased UNTOLD = new Phased() {};

  /** Returns who is told of an asker's request: the asker, or nobody. */
  static Phased of(Consumer<Reply> asker) {
    return asker instanceof Phased phased ? phased : UNTOLD;
  }

  /** The request's partition has taken it. */
  default void taken(long nanos) {}

  /** The request has waited for something, and goes on. */
  default void waited(Waited what) {}

  /** The request's batch has been executed; its records have yet to become durable. */
  default void executed(long nanos) {}

  /**
   * All answers of its batch that are there have been given; follows each {@link #executed}. Who is
   * woken by its answer may wait for this, and then finds the others of the batch as well.
   */
  default void told() {}

  /** Who asks, for those who hear of changes at once and not of their own; 0 if it is the same. */
  default long author() {
    return 0;
  }
}
