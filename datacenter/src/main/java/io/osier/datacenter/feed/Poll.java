package io.osier.datacenter.feed;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.host.StoredObjects;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One request of a watcher, until it is answered. For one thread at a time: the feed's, or the
 * reader's that walks through the existing objects.
 */
final class Poll {
  /**
   * About how many changes of a partition are examined for one answer. If an answer has passed
   * fewer than half of this, and is not full of keys, clients conclude that it tells all changes.
   */
  private static final int CHANGES_MAX = 20_000;

  /** A transaction is only told in parts if it is larger than so many usual answers. */
  private static final int WHOLE_FACTOR = 4;

  /**
   * Most objects examined for one answer, and most objects and bytes of a partition read at once.
   */
  private static final int OBJECTS_MAX = 5_000;

  private static final int OBJECTS_AT_ONCE = 256;
  private static final long OBJECT_BYTES_AT_ONCE = 1 << 20;

  /**
   * How much longer than it asked for the first watcher waits until the partitions begin to tell
   * changes: a refusal would send it to another datacenter.
   */
  private static final long BEGIN_NANOS = 1_000_000_000;

  private final WatchRequest request;
  private final Consumer<Reply> reply;

  /** Run once the watched key has changed; also identifies the poll in the ring. */
  private final Runnable changed;

  private final PositionSearch positions;

  /** The partitions of the request: one for a single key, otherwise all. */
  private final List<WatchedPartitions.Part> parts;

  private final long deadlineNanos;
  private final WatchRequest.Place[] places;
  private final boolean[] found;

  /** For each partition, the version vector at the position up to which its ring was read. */
  private final VersionVector[] reached;

  private final List<Reply.Change> changes = new ArrayList<>();
  private long bytes;
  private boolean whole = true;
  private boolean walks;

  /**
   * Makes a poll.
   *
   * @param due takes this poll when the key that it waits for has changed
   */
  Poll(
      WatchRequest request,
      ReplicaId self,
      List<WatchedPartitions.Part> parts,
      long deadlineNanos,
      Consumer<Reply> reply,
      Consumer<Poll> due) {
    this.request = request;
    this.positions = new PositionSearch(request, self, parts);
    this.parts = parts;
    this.deadlineNanos = deadlineNanos;
    this.reply = reply;
    this.changed = () -> due.accept(this);
    this.places = request.places().toArray(new WatchRequest.Place[parts.size()]);
    this.found = new boolean[parts.size()];
    this.reached = new VersionVector[parts.size()];
    Arrays.fill(reached, VersionVector.EMPTY);
  }

  boolean isOfOneKey() {
    return !request.prefix();
  }

  boolean isDue(long nowNanos) {
    return deadlineNanos + (hasBegun() ? 0 : BEGIN_NANOS) - nowNanos <= 0;
  }

  /** Returns whether the watcher's position was found in all partitions. */
  boolean hasBegun() {
    for (boolean known : found) {
      if (!known) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether a reader must walk through existing objects next. */
  boolean isToWalk() {
    return walks;
  }

  // ---------------------------------------------------------------- looking

  /**
   * Takes the changes after the watcher's position.
   *
   * @return whether the poll is to be answered now
   * @throws OsierException if the watcher cannot go on from its position
   */
  boolean look(long nowNanos) {
    boolean began = true;
    for (int i = 0; i < places.length; i++) {
      if (!found[i]) {
        WatchRequest.Place place = positions.find(i, nowNanos);
        found[i] = place != null;
        places[i] = found[i] ? place : places[i];
      }
      began &= found[i];
    }
    if (!began) {
      return false;
    }
    for (int i = 0; i < places.length; i++) {
      if (isOfOneKey()) {
        takeKey(nowNanos);
      } else {
        take(i);
      }
      walks |= places[i].next().isPresent();
    }
    return !changes.isEmpty() || (request.places().isEmpty() && !walks);
  }

  // ---------------------------------------------------------------- one key

  private Key key() {
    return request.key().orElseThrow();
  }

  private void takeKey(long nowNanos) {
    WatchRequest.Place from = places[0];
    ChangeRing ring = parts.getFirst().ring();
    Optional<ChangeRing.Known> looked = ring.look(key(), nowNanos);
    if (looked.isEmpty()) {
      return; // the ring has stopped, and begins anew
    }
    ChangeRing.Known known = looked.get();
    ChangeRing.State now = known.state();
    if (from.life() != now.life() || from.tick() > now.end()) {
      changes.add(new Reply.Change(key(), Optional.empty(), Optional.empty()));
    } else if (known.tick() > from.tick() && known.last() != null) {
      add(known.last());
    } else if (known.since() > from.tick()) {
      ChangeRing.Part part = ring.behind(from.life(), from.tick(), Integer.MAX_VALUE);
      if (part == null) {
        changes.add(new Reply.Change(key(), Optional.empty(), Optional.empty()));
      } else {
        part.batches().stream()
            .flatMap(b -> b.changes().stream())
            .filter(c -> c.object().key().equals(key()))
            .reduce((a, b) -> b)
            .ifPresent(this::add); // at worst one from before the position
      }
    }
    places[0] =
        new WatchRequest.Place(
            now.life(), now.end(), from.seen().join(now.here()), Optional.empty());
  }

  // ---------------------------------------------------------------- a prefix

  /** Takes the changes of a partition's ring. */
  private void take(int i) {
    WatchRequest.Place from = places[i];
    ChangeRing.Part part = parts.get(i).ring().behind(from.life(), from.tick(), CHANGES_MAX);
    if (part == null) {
      throw new OsierException(
          ErrorCode.WATCHER_TOO_SLOW,
          "the watcher was cut off: the changes that it had not read are no longer kept"
              + " (osier.memory.changes); it may go on from its position");
    }
    long tick = from.tick();
    VersionVector seen = part.here();
    for (ChangeRing.Batch batch : part.batches()) {
      List<Effects.Change> all = batch.changes();
      int at = (int) (tick - batch.start());
      while (at < all.size() && !isFull()) {
        Effects.Change change = all.get(at++);
        if (isWanted(change.object().key())) {
          add(change);
        }
        whole = change.ends();
      }
      tick = batch.start() + at;
      if (at < all.size()) {
        seen = batch.before();
        break;
      }
    }
    reached[i] = seen;
    places[i] =
        new WatchRequest.Place(
            from.life(),
            tick,
            from.next().isPresent() ? from.seen() : from.seen().join(seen),
            from.next());
  }

  /**
   * Returns whether the answer is full; a transaction is not cut in two unless it is very large.
   */
  private boolean isFull() {
    return bytes >= (whole ? 1 : WHOLE_FACTOR) * Reply.Changes.BYTES_MAX;
  }

  private boolean isWanted(Key key) {
    return request.key().isEmpty() || key.startsWith(request.key().get());
  }

  private void add(Effects.Change change) {
    changes.add(
        new Reply.Change(
            change.object().key(),
            Optional.of(change.object().type()),
            Optional.ofNullable(change.origin())));
    bytes += Reply.Change.PLACE_BYTES + change.object().key().length();
  }

  // ---------------------------------------------------------------- what is there

  /**
   * Walks through some of the existing objects, and takes those that the watcher was not told of.
   *
   * @throws OsierException if removals that the watcher was not told of may have been forgotten
   */
  void walk() {
    int left = OBJECTS_MAX;
    for (int i = 0; i < places.length; i++) {
      while (places[i].next().isPresent() && left > 0 && bytes < Reply.Changes.BYTES_MAX) {
        left -= walk(i);
      }
    }
    for (WatchRequest.Place place : places) {
      whole &= place.next().isEmpty();
    }
  }

  /** Walks on in one partition; returns how many objects were examined. */
  private int walk(int i) {
    WatchRequest.Place place = places[i];
    ObjectStore store = parts.get(i).source().store();
    ObjectId from = new ObjectId(place.next().orElseThrow(), CrdtType.values()[0]);
    List<StoredObjects.Entry> entries = new ArrayList<>();
    CrdtState first = store.getDurable(from); // pages exclude their start
    if (first != null) {
      entries.add(new StoredObjects.Entry(from, first));
    }
    StoredObjects.Page page =
        store.pageDurable(
            Optional.of(from),
            request.key().flatMap(Key::afterPrefix),
            OBJECTS_AT_ONCE,
            OBJECT_BYTES_AT_ONCE);
    entries.addAll(page.entries());
    boolean end = page.end();
    if (!end) {
      addRest(store, entries);
    }
    for (StoredObjects.Entry entry : entries) {
      Key key = entry.object().key();
      if (!isWanted(key)) {
        end = true;
        break;
      }
      if (!entry.state().context().toVersionVector().isAtMost(place.seen())) {
        changes.add(new Reply.Change(key, Optional.of(entry.object().type()), Optional.empty()));
        bytes += Reply.Change.PLACE_BYTES + key.length();
      }
    }
    if (end) {
      positions.checkRemembered(i, place.seen()); // objects may have been forgotten meanwhile
      places[i] =
          new WatchRequest.Place(
              place.life(), place.tick(), place.seen().join(reached[i]), Optional.empty());
    } else {
      Key last = entries.getLast().object().key();
      places[i] =
          new WatchRequest.Place(
              place.life(), place.tick(), place.seen(), Optional.of(behind(last)));
    }
    return entries.size() + 1;
  }

  /**
   * Adds the other objects of the last object's key: a position names no type, so the next page
   * begins after the whole key.
   */
  private static void addRest(ObjectStore store, List<StoredObjects.Entry> entries) {
    ObjectId last = entries.getLast().object();
    for (CrdtType type : CrdtType.values()) {
      if (type.compareTo(last.type()) > 0) {
        ObjectId object = new ObjectId(last.key(), type);
        CrdtState state = store.getDurable(object);
        if (state != null) {
          entries.add(new StoredObjects.Entry(object, state));
        }
      }
    }
  }

  /** Returns the next possible key after the last one. */
  private Key behind(Key last) {
    if (last.length() == Key.LENGTH_MAX) {
      return last.afterPrefix().orElse(last);
    }
    byte[] next = new byte[last.length() + 1];
    last.copyTo(next, 0);
    return Key.of(next);
  }

  // ---------------------------------------------------------------- waiting, and the answer

  /** Waits for changes; returns false if some have come already. */
  boolean waits() {
    if (isOfOneKey()) {
      return parts.getFirst().ring().waits(key(), places[0].life(), places[0].tick(), changed);
    }
    for (int i = 0; i < places.length; i++) {
      if (!parts.get(i).ring().waits(places[i].life(), places[i].tick())) {
        for (int k = 0; k < i; k++) {
          parts.get(k).ring().waitsNoMore();
        }
        return false;
      }
    }
    return true;
  }

  /** Undoes {@link #waits}. */
  void waitsNoMore() {
    if (isOfOneKey()) {
      parts.getFirst().ring().waitsNoMore(key(), changed);
    } else {
      parts.forEach(p -> p.ring().waitsNoMore());
    }
  }

  /** Answers with the changes taken, and the position after them. */
  void answer() {
    if (!hasBegun()) {
      fail(
          new OsierException(
              ErrorCode.UNAVAILABLE, "the datacenter is not ready to tell of changes"));
      return;
    }
    reply.accept(new Reply.Changes(changes, Arrays.asList(places), whole));
  }

  void fail(OsierException error) {
    fail(new Reply.Failure(error.code(), String.valueOf(error.reason())));
  }

  void fail(Reply.Failure failure) {
    reply.accept(failure);
  }
}
