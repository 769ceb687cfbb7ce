package io.osier.datacenter.store.objects;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.VersionStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects of a partition that expire, in the order of their deadlines. If a store notes
 * deadlines, only the nearest are in memory, within a budget in bytes, and another thread reads the
 * next ones before these are used up; otherwise all are in memory. Only for the partition's thread.
 *
 * <p>A read does not find notes that are not durable yet. So it begins when all notes made before
 * it was wanted are durable, and until it ends, all deadlines that come are kept in memory.
 */
public final class Deadlines {
  private static final Logger LOG = LoggerFactory.getLogger(Deadlines.class);

  /** How many deadlines are read at once. */
  private static final int PAGE = 4_096;

  /** The pause before a failed read is repeated. */
  public static final long RETRY_MILLIS = 60_000;

  public interface Notes {
    /** As {@link VersionStore#deadlines}; for any thread that may wait for a disk. */
    List<Deadline> deadlines(Optional<Deadline> after, int limit);

    /** Returns the group of the latest note. */
    long group();

    /** Returns the group up to which everything is durable. */
    long durableGroup();

    /** Wakes the partition. For any thread. */
    void wake();
  }

  /** A read that is wanted, or in progress. */
  private static final class Read {
    final long group;
    boolean begun;
    volatile boolean done;

    /** The deadlines read; null if reading failed; written before {@link #done}. */
    private @Nullable List<Deadline> found;

    Read(long group) {
      this.group = group;
    }
  }

  private final @Nullable Notes notes;
  private final Executor readers;
  private final long bytesMax;
  private final TreeSet<Deadline> nearest = new TreeSet<>();
  private long bytes;
  private boolean complete;

  /** If not all deadlines are in memory, all up to this one are; empty if nothing is known. */
  private Optional<Deadline> knownTo = Optional.empty();

  private @Nullable Read read;

  /** No read begins before this time, in milliseconds since 1970. */
  private long notBeforeMillis = Long.MIN_VALUE;

  /** Deadlines of a store that notes them. */
  public Deadlines(Notes notes, Executor readers, long bytesMax) {
    this.notes = notes;
    this.readers = readers;
    this.bytesMax = bytesMax;
  }

  /** Deadlines of a store with all objects in memory. */
  Deadlines() {
    this.notes = null;
    this.readers = Runnable::run;
    this.bytesMax = Long.MAX_VALUE;
    this.complete = true;
  }

  /** Reads the nearest deadlines. Called before anything else; waits for a disk. */
  public void recover() {
    Notes from = notes;
    if (from != null) {
      try {
        found(from.deadlines(Optional.empty(), PAGE));
      } catch (OsierException e) {
        if (e.code() != ErrorCode.STORE_DAMAGED) {
          throw e;
        }
        LOG.debug("deadlines cannot be read", e); // they are read again later, so nothing is lost
      }
    }
  }

  private void found(List<Deadline> next) {
    next.forEach(this::add);
    complete = next.size() < PAGE;
    knownTo = complete ? knownTo : Optional.of(next.getLast());
    trim();
  }

  /**
   * Takes note of an object's change of state.
   *
   * @param before the former state; null if there was none
   * @param after the new state; null if the object was dropped
   * @param changes takes the notes
   */
  void changed(
      ObjectId object,
      @Nullable CrdtState before,
      @Nullable CrdtState after,
      Consumer<Change> changes) {
    long from = before == null ? CrdtState.NEVER : before.overAt();
    long to = after == null ? CrdtState.NEVER : after.overAt();
    if (from == to) {
      return;
    }
    if (from != CrdtState.NEVER) {
      Deadline old = new Deadline(from, object);
      changes.accept(new Change.DropDeadline(old));
      bytes -= nearest.remove(old) ? old.heapBytes() : 0;
    }
    if (to != CrdtState.NEVER) {
      Deadline next = new Deadline(to, object);
      changes.accept(new Change.PutDeadline(next));
      if (complete || read != null || isKnown(next)) {
        add(next);
        trim();
      }
    }
  }

  private boolean isKnown(Deadline deadline) {
    return knownTo.isPresent() && deadline.compareTo(knownTo.get()) <= 0;
  }

  private void add(Deadline deadline) {
    bytes += nearest.add(deadline) ? deadline.heapBytes() : 0;
  }

  /** Drops the latest deadlines from memory if there are too many; their notes stay. */
  private void trim() {
    while (bytes > bytesMax && read == null && nearest.size() > 1) {
      bytes -= nearest.removeLast().heapBytes();
      complete = false;
      knownTo = Optional.of(nearest.last());
    }
  }

  /** See {@link ObjectStore#expiring}. */
  public List<Deadline> take(long until, int limit) {
    readOn(until);
    List<Deadline> taken = new ArrayList<>();
    while (taken.size() < limit && !nearest.isEmpty() && nearest.first().millis() <= until) {
      Deadline next = nearest.removeFirst();
      bytes -= next.heapBytes();
      taken.add(next);
    }
    return taken;
  }

  /** See {@link ObjectStore#deadlineAfter}. */
  public @Nullable Deadline after(Deadline before) {
    return nearest.higher(before);
  }

  /** See {@link ObjectStore#nextExpiryMillis}. */
  public long nextMillis() {
    long first = nearest.isEmpty() ? CrdtState.NEVER : nearest.first().millis();
    Read reading = read;
    boolean idle = reading == null ? !complete && isLow() : reading.done || !reading.begun;
    return idle ? Math.min(first, Math.max(0, notBeforeMillis)) : first;
  }

  private boolean isLow() {
    return bytes <= bytesMax / 2;
  }

  private void readOn(long until) {
    Notes from = notes;
    if (from == null) {
      return;
    }
    if (read == null && !complete && isLow() && until >= notBeforeMillis) {
      read = new Read(from.group());
    }
    Read reading = read;
    if (reading != null && !reading.begun && from.durableGroup() >= reading.group) {
      begin(reading, from);
    }
    if (reading != null && reading.done) {
      read = null;
      List<Deadline> found = reading.found;
      if (found == null) {
        notBeforeMillis = until + RETRY_MILLIS;
      } else {
        found(found);
      }
    }
  }

  private void begin(Read reading, Notes from) {
    reading.begun = true;
    Optional<Deadline> after = knownTo;
    try {
      readers.execute(
          () -> {
            try {
              reading.found = from.deadlines(after, PAGE);
            } catch (OsierException e) {
              LOG.debug("deadlines cannot be read", e);
            } finally {
              reading.done = true;
              from.wake();
            }
          });
    } catch (RejectedExecutionException e) {
      // Nobody reads any more: the partition is about to end.
    }
  }

  int size() {
    return nearest.size();
  }
}
