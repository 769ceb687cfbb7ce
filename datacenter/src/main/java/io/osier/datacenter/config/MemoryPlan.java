package io.osier.datacenter.config;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;

/**
 * How a process's heap is shared out: what settings may take of it, and what they are by default.
 *
 * @param heapBytes the largest size of the heap
 */
public record MemoryPlan(long heapBytes) {
  /** Larger objects need more of the heap while they are brought to a peer. */
  private static final long HUGE_OBJECT_BYTES = 64L << 20;

  private static final long CACHE_BYTES_MAX = 256L << 20;
  private static final long UNWRITTEN_BYTES_MAX = 64L << 20;
  private static final long SUBSCRIPTION_BYTES_MAX = 64L << 20;
  private static final int UNSENT_BYTES_MAX = 4 << 20;
  private static final int CONNECTIONS = 1_000;

  /**
   * What a connection may keep for itself, in bytes: what it has read and what it is about to
   * write.
   */
  private static final int CONNECTION_BYTES = 64 << 10;

  /** The plan for this process's heap. */
  public static MemoryPlan ofThisProcess() {
    return new MemoryPlan(Runtime.getRuntime().maxMemory());
  }

  /** Returns the bytes for all clients' requests in flight, wherever they wait. */
  public long requestBytes() {
    return heapBytes / 8;
  }

  /**
   * Returns the bytes for answers until clients read them. They are outside the heap, and at most
   * as large.
   */
  public long answerBytes() {
    return heapBytes / 4;
  }

  /**
   * Returns how many bytes each of this many connections may have encoded and not sent before it
   * must wait.
   */
  public int unsentBytes(int connections) {
    return Math.toIntExact(
        Math.clamp(answerBytes() / connections, CONNECTION_BYTES, UNSENT_BYTES_MAX));
  }

  /** Returns the bytes for the subscriptions of clients of the Redis protocol. */
  public long subscriptionBytes() {
    return Math.min(SUBSCRIPTION_BYTES_MAX, heapBytes / 32);
  }

  /**
   * Returns the bytes for the records of such clients' caches, and for messages that wait for them.
   */
  public long trackingBytes() {
    return Math.min(SUBSCRIPTION_BYTES_MAX, heapBytes / 32);
  }

  /**
   * Returns the bytes of groups that partitions have executed and the store has not written yet.
   */
  public long unwrittenBytes() {
    return Math.min(UNWRITTEN_BYTES_MAX, heapBytes / 16);
  }

  /** Returns the bytes of the cache if none are set; objects may take up to three times as much. */
  long cacheBytes() {
    return Math.max(1 << 20, Math.min(CACHE_BYTES_MAX, heapBytes / 8));
  }

  /** Returns the bytes for forwarded requests and their answers if none are set. */
  long forwardedBytes() {
    return heapBytes / 16;
  }

  /** Returns the bytes for copies of objects that others hold if none are set. */
  long copyBytes() {
    return heapBytes / 32;
  }

  /** Returns the other shares if none are set. */
  MemoryShares shares() {
    return new MemoryShares(
        heapBytes / 16,
        heapBytes / 8,
        heapBytes / 32,
        heapBytes / 32,
        heapBytes / 16,
        heapBytes / 32,
        heapBytes / 32,
        heapBytes / 32);
  }

  /** Describes how the heap is divided, in one line. */
  public String division(DatacenterConfig config) {
    MemoryShares shares = config.memory();
    long cache = config.store().dir().isPresent() ? config.store().cacheBytes() : 0;
    return ("of a heap of %s: cache %s, requests %s, commands %s, trails (own updates that a"
            + " peer may lack) %s, relays (others' updates that a peer may lack) %s, waiting (for"
            + " earlier updates) %s, changes (for watchers) %s, history %s, transactions %s, ended"
            + " (transactions) %s, each divided among %d partitions, the last three among %d causal"
            + " ones; forwarded %s, copies %s; besides, answers %s")
        .formatted(
            mebibytes(heapBytes),
            mebibytes(cache),
            mebibytes(requestBytes()),
            mebibytes(shares.commands()),
            mebibytes(shares.trails()),
            mebibytes(shares.relays()),
            mebibytes(shares.waiting()),
            mebibytes(shares.changes()),
            mebibytes(shares.history()),
            mebibytes(shares.transactions()),
            mebibytes(shares.ended()),
            config.partitions(),
            config.causalPartitions(),
            mebibytes(config.forwardedBytes()),
            mebibytes(config.copies().bytes()),
            mebibytes(answerBytes()));
  }

  /** Returns the limit on clients' connections if none is set. */
  int connections() {
    return (int) Math.max(1, Math.min(CONNECTIONS, connectionsMax()));
  }

  private long connectionsMax() {
    return heapBytes / 4 / CONNECTION_BYTES;
  }

  /**
   * Checks that settings fit.
   *
   * @throws OsierException CONFIGURATION, naming the setting and what would be right
   */
  void check(String source, DatacenterConfig config) {
    if (config.store().dir().isPresent()) {
      atMost(source, "osier.store.cache", config.store().cacheBytes(), heapBytes / 2, "half");
    }
    atMost(
        source,
        "osier.memory (its sum)",
        config.memory().sum() + config.forwardedBytes() + config.copies().bytes(),
        heapBytes / 2,
        "half");
    atMost(
        source, "osier.streams.window", config.streams().windowBytes(), heapBytes / 4, "a quarter");
    List<KeyspacePolicy> held = new ArrayList<>(config.keyspaces());
    config.withHomes().stream().filter(k -> k.heldBy(config.dc())).forEach(held::add);
    for (KeyspacePolicy keyspace : held) {
      String limits = "osier.keyspaces." + keyspace.name() + ".limits.";
      long object = keyspace.limits().objectBytesMax();
      // What a peer lacks of a large object altogether is encoded, framed and read as one piece.
      if (object > HUGE_OBJECT_BYTES) {
        atMost(source, limits + "object", object, heapBytes / 8, "an eighth, beyond 64MiB,");
      } else {
        atMost(source, limits + "object", object, heapBytes / 3, "a third");
      }
      atMost(
          source, limits + "value", keyspace.limits().valueBytesMax(), requestBytes(), "an eighth");
      UserLimits.Limit user = config.userLimits().bytes();
      if (user.isGiven() && keyspace.limits().valueBytesMax() > user.max()) {
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            "%s: osier.user-limits.bytes must be at least %svalue, %d bytes, not %d"
                .formatted(source, limits, keyspace.limits().valueBytesMax(), user.max()));
      }
    }
    if (config.clients().connectionsMax() > connectionsMax()) {
      throw tooMuch(
          source,
          "osier.listen.client-connections",
          String.valueOf(config.clients().connectionsMax()),
          "at most " + connectionsMax() + " (64KiB each, a quarter of the heap)");
    }
  }

  private void atMost(String source, String key, long bytes, long max, String part) {
    if (bytes > max) {
      throw tooMuch(
          source, key, mebibytes(bytes), "at most " + mebibytes(max) + " (" + part + " of it)");
    }
  }

  private OsierException tooMuch(String source, String key, String value, String allowed) {
    return new OsierException(
        ErrorCode.CONFIGURATION,
        ("%s: %s = %s does not fit in the heap of %s: it must be %s, or Java must get"
                + " more memory (OSIER_JAVA_OPTIONS=-Xmx2g)")
            .formatted(source, key, value, mebibytes(heapBytes), allowed));
  }

  private static String mebibytes(long bytes) {
    return bytes < 10 << 20 ? (bytes >> 10) + "KiB" : (bytes >> 20) + "MiB";
  }
}
