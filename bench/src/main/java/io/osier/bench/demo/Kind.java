package io.osier.bench.demo;

import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/**
 * A kind of user data in a keyspace of its own: makes its operations, and checks its objects at the
 * end. Each {@link Part} is used by one thread; all else is thread-safe.
 */
abstract class Kind {
  /** Takes the operations of one datacenter; each call of a {@link Part} makes one operation. */
  interface Calls {
    /**
     * Notes the outcome of an update in flight.
     *
     * @param unknown notes that the update has failed and may nevertheless be done
     * @return completes after the outcome was noted
     */
    CompletableFuture<?> update(
        CompletableFuture<?> update, Runnable acknowledged, Runnable unknown);

    void read(CompletableFuture<?> read);
  }

  /** The users at one datacenter. */
  interface Part {
    /** Makes one operation. */
    void call(Calls calls);
  }

  final String keyspace;
  final String sla;
  final int tenths;
  final String why;
  final LongAdder acknowledged = new LongAdder();

  /**
   * Creates a kind without objects.
   *
   * @param sla the keyspace's staleness bound, as in the configuration
   * @param tenths the kind's share of all operations, in tenths
   * @param why what decides how many bytes joined updates save, as a sentence
   */
  Kind(String keyspace, String sla, int tenths, String why) {
    this.keyspace = keyspace;
    this.sla = sla;
    this.tenths = tenths;
    this.why = why;
  }

  /** Writes the objects that must be there before the load begins. */
  void fill(Keyspace space) {}

  /**
   * Returns the users of a datacenter.
   *
   * @param number a number that no other users have
   */
  abstract Part part(int number, Keyspace space, SplittableRandom random);

  /** Returns whether objects or elements expire while the keyspace is read. */
  boolean expires() {
    return false;
  }

  /**
   * Compares the objects that a datacenter shows with the acknowledged updates.
   *
   * @param fromMillis when reading them began, by the system's clock
   * @param toMillis when reading them had ended
   */
  abstract Audit audit(Map<String, Reading> there, long fromMillis, long toMillis);
}
