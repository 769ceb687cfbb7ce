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
 * Notes what becomes visible while somebody watches, in its order; and what is over, as soon as it
 * is: nobody sees it any more, though it is removed later, and by one datacenter. Not thread-safe,
 * but for {@link #forgotten} and {@link #shown}.
 */
final class VisibleChanges {
  /** So many are told at once that are over. */
  private static final int OVER_AT_ONCE = 1_024;

  private static final long OVER_NANOS = 1_000_000;

  /** In front of all others of its time. */
  private static final ObjectId FIRST = new ObjectId(Key.of(new byte[] {0}), CrdtType.values()[0]);

  private final ReplicaId self;
  private final boolean together;
  private final Propagation propagation;
  private final ObjectStore store;
  private long life;
  private List<Effects.Change> changes = new ArrayList<>();
  private List<ObjectId> over = new ArrayList<>();

  /** The last one that was over. What has an earlier one by now became visible as a change. */
  private Deadline lastOver = new Deadline(0, FIRST);

  private long nextOverNanos = Long.MIN_VALUE;

  /** Of the command that is served; 0 if none is. */
  private long ticket;

  /** What was told last; empty if nothing was. */
  private Optional<VersionVector> told = Optional.empty();

  /** See {@link Machine#forgotten}; null while others may have forgotten what never came here. */
  private volatile @Nullable VersionVector forgotten;

  /** See {@link Machine#shown}. */
  private volatile Optional<VersionVector> shown = Optional.empty();

  private boolean tellsShown;

  /**
   * @param together whether others' updates become visible by {@link #admitted}
   * @param before what this partition may have forgotten before; of {@code UNKNOWN} others, too
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

  /** Whether somebody watches. */
  boolean areWanted() {
    return life != 0;
  }

  /** What is committed from now on is this command's; of none for 0. */
  void serving(long of) {
    ticket = of;
  }

  /** An update of this datacenter is visible. */
  void committed(ObjectId object, boolean ends) {
    changes.add(new Effects.Change(object, self, ends, ticket));
  }

  /** Notes what is over by now, of an object or all of it. Reads deadlines alone. */
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

  /** When {@link #expire} has something to do; Long.MAX_VALUE if never. */
  long nextNanos(Now now) {
    Deadline next = areWanted() ? store.deadlineAfter(lastOver) : null;
    if (next == null) {
      return Long.MAX_VALUE;
    }
    long away = Math.clamp(next.millis() - now.millis(), 0, 1L << 40);
    return Math.max(nextOverNanos, now.nanos() + away * 1_000_000);
  }

  /** Something of others has come into an object. */
  void applied(Shipment update) {
    ReplicaId origin = update.content().isFull() ? null : update.origin();
    changes.add(new Effects.Change(update.object(), origin, !together));
  }

  /** What was applied since the last call is visible. */
  void admitted() {
    if (!changes.isEmpty()) {
      Effects.Change last = changes.removeLast();
      changes.add(new Effects.Change(last.object(), last.origin(), true));
    }
  }

  /** Takes what was noted; empty if there is nothing to tell. */
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

  /** Nothing is remembered any more of something that these updates have made. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // by the partition's thread alone
  void forgot(VersionVector updates) {
    VersionVector before = forgotten;
    if (before != null) {
      forgotten = before.join(updates);
    }
  }

  /** Others may have forgotten what never came here, until {@link #caughtUp}. */
  void lacks() {
    forgotten = null;
  }

  /** All that others had is here, but for what they had forgotten by then. */
  void caughtUp() {
    if (forgotten == null) {
      forgotten = propagation.here();
    }
  }

  /** What {@link #forgotten} comes to after a restart. */
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
   * From now on {@link #shown} says what can have been shown.
   *
   * @param isRetired whether nothing is shown any more
   */
  void cease(boolean isRetired) {
    tellsShown = !isRetired || shown.isEmpty();
  }

  /** It goes on being shown. */
  void resume() {
    tellsShown = false;
    shown = Optional.empty();
  }

  /** What a batch has made visible is about to be shown, unless nothing is any more. */
  void batchEnded(boolean isRetired) {
    if (tellsShown) {
      shown = Optional.of(allShown());
      tellsShown = !isRetired;
    }
  }

  /** What is here; what came beside what is complete may be shown, too. */
  private VersionVector allShown() {
    VersionVector here = propagation.here();
    VersionVector far = propagation.far();
    for (int i = 0; i < far.size(); i++) {
      if (far.number(i) != Long.MAX_VALUE) { // that is: not known
        here = here.raised(far.replica(i), far.number(i));
      }
    }
    return here;
  }

  Optional<VersionVector> shown() {
    return shown;
  }
}
