package io.osier.datacenter.partition;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Machine;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Notes in order what becomes visible while somebody watches; also what expires, at once: nobody
 * sees it any more, though one datacenter removes it only later. Not thread-safe, but for {@link
 * #forgotten} and {@link #shown}.
 */
final class VisibleChanges {
  /** The most expired objects that are reported at once. */
  private static final int OVER_AT_ONCE = 1_024;

  private static final long OVER_NANOS = 1_000_000;

  /** Sorts before all other objects with the same deadline. */
  private static final ObjectId FIRST = new ObjectId(Key.of(new byte[] {0}), CrdtType.values()[0]);

  private final ReplicaId self;
  private final boolean together;
  private final Propagation propagation;
  private final ObjectStore store;
  private long life;
  private List<Effects.Change> changes = new ArrayList<>();
  private List<ObjectId> over = new ArrayList<>();

  /**
   * The last deadline that was reported. An object with an earlier one that comes later is reported
   * as a change.
   */
  private Deadline lastOver = new Deadline(0, FIRST);

  private long nextOverNanos = Long.MIN_VALUE;

  /** The ticket of the command that is being served; 0 if there is none. */
  private long ticket;

  /** The vector that watchers were told last; empty if there was none. */
  private Optional<VersionVector> told = Optional.empty();

  /**
   * See {@link Machine#forgotten}; null while other datacenters may have forgotten updates that
   * never came here.
   */
  private volatile @Nullable VersionVector forgotten;

  /** See {@link Machine#shown}. */
  private volatile Optional<VersionVector> shown = Optional.empty();

  private boolean tellsShown;

  /**
   * @param together whether other datacenters' updates become visible together, by {@link
   *     #admitted}
   * @param before the updates that this partition may have forgotten before its start; with {@code
   *     UNKNOWN} other datacenters may have forgotten more
   */
  VisibleChanges(
      ReplicaId self,
      boolean together,
      Propagation propagation,
      ObjectStore store,
      Forgetting before) {
    this.self = self;
    this.together = together;
    this.propagation = propagation;
    this.store = store;
    this.forgotten =
        switch (before) {
          case NOTHING -> VersionVector.EMPTY;
          case SOMETHING -> propagation.here();
          case UNKNOWN -> null;
        };
  }

  /** See {@link Input.Watched}. */
  void watch(long as, Now now) {
    life = as;
    lastOver = new Deadline(Math.max(0, now.millis()), FIRST);
    nextOverNanos = Long.MIN_VALUE;
    changes = new ArrayList<>();
    over = new ArrayList<>();
    told = Optional.empty();
  }

  /** Returns whether somebody watches. */
  boolean areWanted() {
    return life != 0;
  }

  /** Attributes the commits from now on to the command with this ticket; to none for 0. */
  void serving(long of) {
    ticket = of;
  }

  /** An update of this datacenter is visible. */
  void committed(ObjectId object, boolean ends) {
    changes.add(new Effects.Change(object, self, ends, ticket));
  }

  /** Notes the objects that have expired by now, in part or as a whole. Reads deadlines alone. */
  void expire(Now now) {
    if (!areWanted() || nextOverNanos > now.nanos()) {
      return;
    }
    int left = OVER_AT_ONCE;
    Deadline next;
    while (left > 0
        && (next = store.deadlineAfter(lastOver)) != null
        && next.millis() <= now.millis()) {
      over.add(next.object());
      lastOver = next;
      left--;
    }
    nextOverNanos = now.nanos() + OVER_NANOS;
  }

  /** Returns when {@link #expire} has something to do; Long.MAX_VALUE if never. */
  long nextNanos(Now now) {
    Deadline next = areWanted() ? store.deadlineAfter(lastOver) : null;
    if (next == null) {
      return Long.MAX_VALUE;
    }
    long away = Math.clamp(next.millis() - now.millis(), 0, 1L << 40);
    return Math.max(nextOverNanos, now.nanos() + away * 1_000_000);
  }

  /** Notes that another datacenter's update was applied to an object. */
  void applied(Shipment update) {
    ReplicaId origin = update.content().isFull() ? null : update.origin();
    changes.add(new Effects.Change(update.object(), origin, !together));
  }

  /** Marks all that was applied since the last call as visible. */
  void admitted() {
    if (!changes.isEmpty()) {
      Effects.Change last = changes.removeLast();
      changes.add(new Effects.Change(last.object(), last.origin(), true));
    }
  }

  /** Takes what was noted; empty if there is nothing to report. */
  Optional<Effects.Visible> take() {
    VersionVector here = propagation.here();
    if (changes.isEmpty() && over.isEmpty() && told.filter(here::equals).isPresent()) {
      return Optional.empty();
    }
    List<Effects.Change> taken = changes;
    changes = new ArrayList<>();
    List<ObjectId> expired = over;
    over = expired.isEmpty() ? expired : new ArrayList<>();
    told = Optional.of(here);
    return Optional.of(
        new Effects.Visible(life, taken, here, propagation.far(), expired, Map.of()));
  }

  /** Notes that objects were dropped, and their removals with these updates forgotten. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // only the partition's thread writes it
  void forgot(VersionVector updates) {
    VersionVector before = forgotten;
    if (before != null) {
      forgotten = before.join(updates);
    }
  }

  /** Other datacenters may have forgotten updates that never came here, until {@link #caughtUp}. */
  void lacks() {
    forgotten = null;
  }

  /**
   * This partition now has all that other datacenters had, but for what they had forgotten by then.
   */
  void caughtUp() {
    if (forgotten == null) {
      forgotten = propagation.here();
    }
  }

  /** Returns {@link #forgotten} in the form that is stored for the next start. */
  Forgetting unremembered() {
    VersionVector now = forgotten;
    if (now == null) {
      return Forgetting.UNKNOWN;
    }
    return now.isEmpty() ? Forgetting.NOTHING : Forgetting.SOMETHING;
  }

  Optional<VersionVector> forgotten() {
    return Optional.ofNullable(forgotten);
  }

  /**
   * Makes {@link #shown} tell from now on which updates can have been shown.
   *
   * @param isRetired whether nothing will be shown any more
   */
  void cease(boolean isRetired) {
    tellsShown = !isRetired || shown.isEmpty();
  }

  /** Undoes {@link #cease}: the partition goes on showing its objects. */
  void resume() {
    tellsShown = false;
    shown = Optional.empty();
  }

  /** Notes that the updates of a batch are about to be shown, unless nothing is shown any more. */
  void batchEnded(boolean isRetired) {
    if (tellsShown) {
      shown = Optional.of(allShown());
      tellsShown = !isRetired;
    }
  }

  /**
   * Returns the updates that may have been shown: all that are complete here, and those that came
   * beyond them.
   */
  private VersionVector allShown() {
    VersionVector here = propagation.here();
    VersionVector far = propagation.far();
    for (int i = 0; i < far.size(); i++) {
      if (far.number(i) != Long.MAX_VALUE) { // that is: known
        here = here.raised(far.replica(i), far.number(i));
      }
    }
    return here;
  }

  Optional<VersionVector> shown() {
    return shown;
  }
}
