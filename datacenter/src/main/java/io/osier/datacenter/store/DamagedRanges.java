package io.osier.datacenter.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the ranges of a store that could not be read. Every reader of the store, and every
 * thread that rewrites its files, reports here, so that the log, the readiness, the dashboard and
 * the metrics name the damage even if a caller swallows the error. Holds at most {@link
 * #RANGES_MAX} ranges with texts of bounded length. Thread-safe.
 */
public final class DamagedRanges {
  private static final Logger LOG = LoggerFactory.getLogger(DamagedRanges.class);

  /** How many ranges are kept; of further ranges only the failed reads are counted. */
  public static final int RANGES_MAX = 100;

  /** How many characters of a message are kept. */
  public static final int TEXT_MAX = 300;

  /** The least pause before the same range is logged again. */
  private static final long LOG_MILLIS = 60_000;

  /** How RocksDB names a block: the file, and where it begins there. */
  private static final Pattern FILE = Pattern.compile("([0-9]+\\.(?:sst|log|blob))");

  private static final Pattern OFFSET = Pattern.compile("offset ([0-9]+)");

  /**
   * A range that cannot be read.
   *
   * @param where the partitions with data in it, in words
   * @param what the file and the place in it, if known, otherwise the error
   * @param since when a read first failed there
   * @param reads how many reads have failed there
   */
  public record Range(String where, String what, Instant since, long reads) {
    @Override
    public String toString() {
      return "%s: %s; since %s, %d failed reads"
          .formatted(where, what, since.truncatedTo(ChronoUnit.SECONDS), reads);
    }
  }

  private static final class Met {
    final Instant since;
    long reads;
    long loggedMillis;

    Met(long nowMillis) {
      this.since = Instant.ofEpochMilli(nowMillis);
      this.loggedMillis = nowMillis;
    }
  }

  private record Place(String where, String what) {}

  private final LongSupplier millis;
  private final LongAdder failedReads = new LongAdder();

  /** The ranges in the order in which they were met first. */
  private final Map<Place, Met> ranges = new LinkedHashMap<>();

  private final Optional<Path> note;

  /** Whether there is a range; readable without the lock, for frequent questions. */
  private volatile boolean known;

  /**
   * @param note the file that is made when damage is met, for the next start; empty for none
   */
  public DamagedRanges(LongSupplier millis, Optional<Path> note) {
    this.millis = millis;
    this.note = note;
  }

  /** Returns the table file that an error names; empty if it names none. */
  public static String fileOf(String message) {
    Matcher file = FILE.matcher(message);
    return file.find() ? file.group(1) : "";
  }

  /**
   * Reports a failed read, whose caller gets the error as well.
   *
   * @param where the partitions with data there, in words
   */
  public void met(String where, String message) {
    failedReads.increment();
    Place place = new Place(cut(where), what(message));
    long now = millis.getAsLong();
    boolean isNew;
    boolean isToBeLogged;
    long reads;
    synchronized (ranges) {
      Met met = ranges.get(place);
      isNew = met == null;
      if (met == null) {
        if (ranges.size() >= RANGES_MAX) {
          return;
        }
        met = new Met(now);
        ranges.put(place, met);
        known = true;
      }
      reads = ++met.reads;
      isToBeLogged = isNew || now - met.loggedMillis >= LOG_MILLIS;
      met.loggedMillis = isToBeLogged ? now : met.loggedMillis;
    }
    if (isNew) {
      note.ifPresent(DamagedRanges::make);
      LOG.error(
          "the store is damaged: {}: {} ({}). Reads of it fail with STORE_DAMAGED; all else is"
              + " served",
          place.where,
          place.what,
          cut(message));
    } else if (isToBeLogged) {
      LOG.warn(
          "the store is damaged: {}: {}: {} reads have failed", place.where, place.what, reads);
    }
  }

  /** Makes the note that tells the next start to look for damage. */
  public static void make(Path note) {
    try {
      if (!Files.exists(note)) {
        Files.createFile(note);
      }
    } catch (IOException e) {
      LOG.warn("cannot make {}: the next start will not look for the damage", note, e);
    }
  }

  /** Deletes the note: the whole store was read, and nothing is damaged. */
  public static void forget(Path note) {
    try {
      Files.deleteIfExists(note);
    } catch (IOException e) {
      LOG.warn("cannot delete {}: the next start looks for damage that is gone", note, e);
    }
  }

  /** Forgets the ranges of partitions that were deleted: nobody reads them any more. */
  public void gone(String where) {
    synchronized (ranges) {
      ranges.keySet().removeIf(place -> place.where.equals(where));
      known = !ranges.isEmpty();
    }
  }

  private static String what(String message) {
    String file = fileOf(message);
    if (file.isEmpty()) {
      return cut(message);
    }
    Matcher offset = OFFSET.matcher(message);
    return offset.find() ? "byte " + offset.group(1) + " of " + file : file;
  }

  private static String cut(String text) {
    return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX) + "…";
  }

  /** Returns the known damaged ranges, in the order in which they were met first. */
  public List<Range> all() {
    List<Range> all = new ArrayList<>();
    synchronized (ranges) {
      ranges.forEach(
          (place, met) -> all.add(new Range(place.where, place.what, met.since, met.reads)));
    }
    return all;
  }

  /** Returns whether no damage is known. */
  public boolean isEmpty() {
    return !known;
  }

  /** Returns how many reads have failed since the start. */
  public long failedReads() {
    return failedReads.sum();
  }
}
