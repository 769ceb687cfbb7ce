package io.osier.datacenter.forward;

import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Gives other parts of the datacenter access to what a {@link Forwarder} knows of what its clients
 * were shown. Thread-safe, by the forwarder's lock.
 */
public final class ShownHere {
  private final Object lock;
  private final HolderChoice choice;
  private final LongSupplier nanoTime;

  ShownHere(Object lock, HolderChoice choice, LongSupplier nanoTime) {
    this.lock = lock;
    this.choice = choice;
    this.nanoTime = nanoTime;
  }

  /** What was shown of a partition, all connections together. */
  public VersionVector of(String keyspace, int partition) {
    synchronized (lock) {
      return choice.shown(keyspace, partition);
    }
  }

  /** This may be shown of a partition by somebody else here. */
  public void shows(String keyspace, int partition, VersionVector seen) {
    synchronized (lock) {
      choice.shows(keyspace, partition, seen);
    }
  }

  /** A connection is shown here what a datacenter has told. */
  public void shows(Object lane, String keyspace, String dc) {
    synchronized (lock) {
      choice.shows(lane, keyspace, dc);
    }
  }

  /**
   * Hears the answer to a request that is done here, and that asks for what others have shown: what
   * is lost of that is asked for no more.
   */
  public Consumer<Reply> heard(Request asked, Consumer<Reply> reply) {
    return answer -> {
      if (answer instanceof Reply.Failure f && f.code() == ErrorCode.SESSION_LOST) {
        synchronized (lock) {
          choice.lost(asked);
        }
      }
      reply.accept(answer);
    };
  }

  /** The way to a datacenter and back, in milliseconds; 0 if it was not measured. */
  public double roundTripMillis(String dc) {
    synchronized (lock) {
      return choice.roundTripNanos(dc, nanoTime.getAsLong()) / 1e6;
    }
  }
}
