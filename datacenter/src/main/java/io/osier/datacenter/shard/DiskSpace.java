package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.propagation.net.LogThrottle;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the disk of a store has room for updates: looks at it again and again. One thread looks;
 * any may ask.
 */
public final class DiskSpace {
  private static final Logger LOG = LoggerFactory.getLogger(StoreService.class);
  private static final long WATCH_MILLIS = 200;

  /** How often the disk is looked at where there is plenty of room. */
  private static final long WATCH_SELDOM_MILLIS = 1_000;

  /** So much more than the least free space is plenty: no disk writes it within a second. */
  private static final long PLENTY_BYTES = 16L << 30;

  /** A store that can only be read is tried again after so long: it may not be for want of room. */
  private static final long READ_ONLY_NANOS = 5_000_000_000L;

  private static final String WATCHING = "watching";

  /** Above the least free space by this factor updates are taken again. */
  private static final double FREE_AGAIN = 1.1;

  private final Path dir;
  private final long minFreeBytes;
  private final boolean isReadOnly;
  private final Consumer<Throwable> onFailure;
  private final LogThrottle trouble = new LogThrottle();
  private final LongAdder failedAttempts = new LongAdder();
  private final long beganNanos = System.nanoTime();

  /** Where the store is, once that was found; for the thread that looks. */
  private @Nullable FileStore disk;

  private volatile boolean full;

  /** See {@link #roomBytes}; of a disk that was not looked at yet nobody knows better. */
  private volatile long roomBytes = Long.MAX_VALUE;

  /**
   * @param minFreeBytes with less free space than this updates are refused
   * @param isReadOnly whether the disk was full when the store was opened
   * @param onFailure is told, with STORE_FULL, when such a disk has room again
   */
  DiskSpace(Path dir, long minFreeBytes, boolean isReadOnly, Consumer<Throwable> onFailure) {
    this.dir = dir;
    this.minFreeBytes = minFreeBytes;
    this.isReadOnly = isReadOnly;
    this.onFailure = onFailure;
    this.full = isReadOnly;
  }

  /** Looks whether the disk is full, and again later, by the timer. */
  void watch(ScheduledExecutorService timer) {
    long pauseMillis = WATCH_MILLIS;
    try {
      pauseMillis = look();
      trouble.end(WATCHING);
    } catch (IOException e) {
      disk = null;
      failedAttempts.increment();
      if (trouble.isNews(WATCHING, e.toString())) {
        LOG.warn("cannot see how much space {} has, and look again: {}", dir, e.getMessage());
      }
    } finally {
      try {
        var unused = timer.schedule(() -> watch(timer), pauseMillis, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        LOG.debug("the store is closed", e);
      }
    }
  }

  /** Looks whether the disk is full. Returns when to look again. */
  private long look() throws IOException {
    FileStore there = disk;
    if (there == null) {
      there = Files.getFileStore(dir); // reads all mounts
      disk = there;
    }
    long free = there.getUsableSpace();
    roomBytes = isReadOnly ? 0 : Math.max(0, free - minFreeBytes);
    if (isReadOnly) {
      if (free >= minFreeBytes * FREE_AGAIN && System.nanoTime() - beganNanos > READ_ONLY_NANOS) {
        onFailure.accept(
            new OsierException(
                ErrorCode.STORE_FULL,
                "the disk of "
                    + dir
                    + " was full, and has room again: the datacenter starts anew"));
      }
      return WATCH_MILLIS;
    }
    boolean now = free < (full ? (long) (minFreeBytes * FREE_AGAIN) : minFreeBytes);
    if (now != full) {
      full = now;
      if (now) {
        LOG.error(
            "the disk of {} has {} bytes free, less than osier.store.min-free ({}): updates are"
                + " refused until there is more; reads go on",
            dir,
            free,
            minFreeBytes);
      } else {
        LOG.info("the disk of {} has room again: updates are taken", dir);
      }
    }
    return free - minFreeBytes > PLENTY_BYTES ? WATCH_SELDOM_MILLIS : WATCH_MILLIS;
  }

  /** So much can be stored before updates are refused; 0 while they are. */
  public long roomBytes() {
    return full ? 0 : roomBytes;
  }

  /** Whether updates, also those of peers, must be refused because the disk is full. */
  public boolean isFull() {
    return full;
  }

  /**
   * Throws if updates must be refused.
   *
   * @throws OsierException STORE_FULL
   */
  void checkRoom() {
    if (full) {
      throw new OsierException(
          ErrorCode.STORE_FULL,
          "the disk of this datacenter is full: nothing was done; reads go on, and updates do when"
              + " there is room again");
    }
  }

  /** How often looking has failed. */
  long failedAttempts() {
    return failedAttempts.sum();
  }
}
