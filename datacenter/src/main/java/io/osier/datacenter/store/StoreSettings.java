package io.osier.datacenter.store;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Where and how a datacenter keeps its data.
 *
 * @param dir the directory; empty to keep everything in memory only
 * @param cacheBytes objects kept in memory, all partitions together
 * @param minFreeBytes with less free space than this on the disk, updates are to be refused; see
 *     {@link #leastFreeBytes}
 * @param logMax so many entries of a partition's log are kept at most for datacenters that are away
 */
public record StoreSettings(
    Optional<Path> dir, Durability durability, long cacheBytes, long minFreeBytes, long logMax) {
  /** What is in memory and in no file yet takes so much at most when it is written. */
  public static final long FLUSH_BYTES = 64L << 20;

  /**
   * With less free space than this updates are refused: whatever was set, what is in memory must
   * find room, since a store that cannot write it cannot go on.
   */
  public long leastFreeBytes() {
    return Math.max(minFreeBytes, FLUSH_BYTES);
  }

  /** When an update counts as durable. */
  public enum Durability {
    /** When the disk has confirmed it. */
    SYNC,
    /** When the operating system has it: a crash of the machine may lose the latest updates. */
    ASYNC,
    /** At once: any end of the process but a graceful shutdown may lose much. */
    NONE
  }
}
