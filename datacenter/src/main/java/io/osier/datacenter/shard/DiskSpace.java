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

/** Watches whether a store's disk has room for updates. One thread watches; any thread may ask. */
public final class DiskSpace {
  private static final Logger LOG = LoggerFactory.getLogger(StoreService.class);
  private static final long WATCH_MILLIS = 200;

  /** The pause between looks at a disk with plenty of room. */
  private static final long WATCH_SELDOM_MILLIS = 1_000;

  /**
   * The disk has plenty of room if it has this much more than the least free space: no disk writes
   * as much within a second.
   */
  private static final long PLENTY_BYTES = 16L << 30;

  /**
   * How long a store that was opened only for reading waits before another attempt: it may have
   * failed for another reason than lack of room.
   */
  private static final long READ_ONLY_NANOS = 5_000_000_000L;

  private static final String WATCHING = "watching";

  /** Updates are taken again once there is this times the least free space. */
  private static final double FREE_AGAIN = 1.1;

  private final Path dir;
  private final long minFreeBytes;
  private final boolean isReadOnly;
  private final Consumer<Throwable> onFailure;
  private final LogThrottle trouble = new LogThrottle();
  private final LongAdder failedAttempts = new LongAdder();
  private final long beganNanos = System.nanoTime();

  /** The disk of the store, once it was found; for the watching thread. */
  private @Nullable FileStore disk;

  private volatile boolean full;

  /** See {@link #roomBytes}; unlimited until the first look. */
  private volatile long roomBytes = Long.MAX_VALUE;

  /**
   * @param minFreeBytes the least free space: with less, updates are refused
   * @param isReadOnly whether the disk was full when the store was opened
   * @param onFailure is told, with STORE_FULL, when a disk that was full then has room again
   */
  DiskSpace(Path dir, long minFreeBytes, boolean isReadOnly, Consumer<Throwable> onFailure) {
    this.dir = dir;
    this.minFreeBytes = minFreeBytes;
    this.isReadOnly = isReadOnly;
    this.onFailure = onFailure;
    this.full = isReadOnly;
  }

  /** Looks at the disk, and again later, by the timer. */
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

  /** Looks at the disk. Returns the pause until the next look, in milliseconds. */
  private long look() throws IOException {
    FileStore there = disk;
    if (there == null) {
      there = Files.getFileStore(dir); // this reads all mounts
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

  /** Returns how many bytes can be stored before updates are refused; 0 while they are. */
  public long roomBytes() {
    return full ? 0 : roomBytes;
  }

  /** Returns whether updates, those of peers included, must be refused because the disk is full. */
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

  /** Returns how often a look at the disk has failed. */
  long failedAttempts() {
    return failedAttempts.sum();
  }
}
