package io.osier.propagation.host;

/**
 * Bounds and times of the streams between two partitions.
 *
 * @param windowBytes most bytes sent to a peer and not acknowledged, of all partitions of a
 *     datacenter together, 1 KiB or more; beyond it nothing queues up: the peer is caught up later,
 *     per object with whatever is smaller
 * @param frameBytes about the largest frame, 1 KiB or more; a single object may exceed it
 * @param retryMillis how long to wait for an answer before a request is sent again, 10 or more
 * @param statusMillis how often a peer is sent a status if something changed, 10 or more
 * @param healMillis how long an origin must be out of reach before its updates are fetched from
 *     third datacenters, 0 or more
 * @param forgetMillis for how long every datacenter must have had all of a removed object before
 *     the record of its removal is dropped, 0 or more; longer than the time within which a
 *     datacenter that does not write synchronously can lose acknowledged updates
 * @param pullBytes a set or map whose state has more bytes is not sent to a peer that lacks some of
 *     it: the peer pulls the entries that it lacks; 64 or more
 * @param memory what the streams may take in the heap
 */
public record StreamSettings(
    int windowBytes,
    int frameBytes,
    int retryMillis,
    int statusMillis,
    int healMillis,
    int forgetMillis,
    int pullBytes,
    Memory memory) {
  /** The default of {@code pullBytes}: 1 MiB. */
  private static final int PULL_BYTES = 1 << 20;

  /**
   * The most bytes of the heap that the streams of a partition may take.
   *
   * @param trails shipped updates that some peer may not have. When it is spent, the oldest updates
   *     are not kept: states are shipped instead, and in the end a peer is caught up by a scan
   * @param relays updates of others that some datacenter may not have. When it is spent they are
   *     forgotten: states are given instead
   * @param waiting received updates that wait for earlier ones. When it is spent, peers whose
   *     updates wait get no more acknowledgements, so that they stop sending. In a causal keyspace
   *     those go on that have yet to send updates on which closed cuts depend; frames of others are
   *     not taken, but requested again, while twice as much waits. And repairs bring no more until
   *     the updates are fetched that were missing for the ones they brought
   */
  public record Memory(long trails, long relays, long waiting) {
    /** 64 MiB, 16 MiB, 32 MiB. */
    public static final Memory DEFAULT = new Memory(64L << 20, 16L << 20, 32L << 20);
  }

  /** Creates settings with 1 MiB for {@code pullBytes}, and {@link Memory#DEFAULT}. */
  public StreamSettings(
      int windowBytes,
      int frameBytes,
      int retryMillis,
      int statusMillis,
      int healMillis,
      int forgetMillis) {
    this(
        windowBytes,
        frameBytes,
        retryMillis,
        statusMillis,
        healMillis,
        forgetMillis,
        PULL_BYTES,
        Memory.DEFAULT);
  }

  /** Returns these settings with other bounds in the heap. */
  public StreamSettings within(Memory bounds) {
    return with(pullBytes, bounds);
  }

  /** Returns these settings with another value of {@code pullBytes}. */
  public StreamSettings pulling(int bytes) {
    return with(bytes, memory);
  }

  private StreamSettings with(int pulled, Memory bounds) {
    return new StreamSettings(
        windowBytes,
        frameBytes,
        retryMillis,
        statusMillis,
        healMillis,
        forgetMillis,
        pulled,
        bounds);
  }

  /**
   * 8 MiB window, 64 KiB frames, retry after 1 s, status every 200 ms, repair after 1 s, forgetting
   * after 10 s.
   */
  public static final StreamSettings DEFAULT =
      new StreamSettings(8 << 20, 64 << 10, 1_000, 200, 1_000, 10_000);

  public StreamSettings {
    check("windowBytes", windowBytes, 1 << 10);
    check("frameBytes", frameBytes, 1 << 10);
    check("retryMillis", retryMillis, 10);
    check("statusMillis", statusMillis, 10);
    check("healMillis", healMillis, 0);
    check("forgetMillis", forgetMillis, 0);
    check("pullBytes", pullBytes, 64);
  }

  private static void check(String what, int value, int min) {
    if (value < min) {
      throw new IllegalArgumentException(what + " must be at least " + min + ", not " + value);
    }
  }
}
