package io.osier.bench.demo;

import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/**
 * One kind of what users have, in a keyspace of its own: what is called, and what must be there in
 * the end. Its parts are used by one thread each, all else by any.
 */
abstract class Kind {
  /** What the calls of one datacenter go through: each call of {@link Part} makes one of them. */
  interface Calls {
    /**
     * An update that is being made.
     *
     * @param unknown notes that it has failed, and may be done nevertheless
     * @return ends after the notes
     */
    CompletableFuture<?> update(
        CompletableFuture<?> update, Runnable acknowledged, Runnable unknown);

    void read(CompletableFuture<?> read);
  }

  /** The users of one datacenter. */
  interface Part {
    /** Makes one call. */
    void call(Calls calls);
  }

  final String keyspace;
  final String sla;
  final int tenths;
  final String why;
  final LongAdder acknowledged = new LongAdder();

  /**
   * A kind of which nothing is there yet.
   *
   * @param sla how stale its users may see it, as the configuration has it
   * @param tenths of all operations
   * @param why what decides how much is saved, a sentence
   */
  Kind(String keyspace, String sla, int tenths, String why) {
    this.keyspace = keyspace;
    this.sla = sla;
    this.tenths = tenths;
    this.why = why;
  }

  /** What must be there before the load begins. */
  void fill(Keyspace space) {}

  /** What the users of a datacenter do, who have a number that no others have. */
  abstract Part part(int number, Keyspace space, SplittableRandom random);

  /** Whether parts of it expire while it is read. */
  boolean expires() {
    return false;
  }

  /**
   * Holds what a datacenter shows against what was acknowledged.
   *
   * @param fromMillis when it began to be read, by the system's clock
   * @param toMillis when it had been read
   */
  abstract Audit audit(Map<String, Reading> there, long fromMillis, long toMillis);
}
