package io.osier.datacenter.partition.machine;

import io.osier.core.VersionVector;
import io.osier.datacenter.partition.Partition;
import io.osier.propagation.host.PeersHeard;
import java.util.List;
import java.util.Optional;

/**
 * A deterministic state machine as a shell drives it: inputs and their times go in, {@link Effects}
 * come out. {@link Partition} is the machine in production; tests of shells use scripted ones. Used
 * by one thread at a time, but for the methods that say so.
 */
public interface Machine {
  /**
   * Handles one input. Its effects gather until {@link #takeEffects}.
   *
   * @param now its time, never earlier than that of the input before
   */
  void on(Input input, Now now);

  /** Takes the effects of all inputs since the last call. */
  Effects takeEffects();

  /** Returns the bytes of what was committed here since the last {@link #takeEffects}, about. */
  default long gatheredBytes() {
    return 0;
  }

  /**
   * Takes what commands have waited for, those answered since the last call. Called together with
   * {@link #takeEffects}.
   */
  default List<Waited.Command> takeWaited() {
    return List.of();
  }

  /** Handles one input as a batch of its own. */
  default Effects step(Input input, Now now) {
    on(input, now);
    return takeEffects();
  }

  /** Returns when an {@link Input.Tick} is due, in the nanoseconds of {@link Now#nanos}. */
  long nextTickNanos();

  /** Returns whether commands are served. For any thread. */
  boolean isReady();

  /**
   * Returns whether this knows as much as any peer can tell of what its datacenter did before its
   * start. For any thread.
   */
  default boolean isSettled() {
    return isReady();
  }

  /**
   * Returns whether this has the data of no, some or all peers, as each had it when it was first
   * heard after an {@link Input.Peers}. Only for the control plane's keyspace. For any thread.
   *
   * @param number of the {@link Input.Peers}: while it still waits in the queue, nobody was heard
   */
  default PeersHeard heard(long number) {
    return PeersHeard.ALL;
  }

  /**
   * Returns whether this has the data that each peer had when it was first heard after an {@link
   * Input.Peers}. For any thread.
   *
   * @param number of the {@link Input.Peers}: false while it still waits in the queue
   */
  default boolean isComplete(long number) {
    return isReady();
  }

  /**
   * Returns a vector that covers all updates that dropped objects have forgotten: who has not been
   * told of all of these updates cannot be told what was removed. Empty while other datacenters may
   * have forgotten updates that never came here. For any thread.
   */
  default Optional<VersionVector> forgotten() {
    return Optional.of(VersionVector.EMPTY);
  }

  /**
   * Returns all updates that can have been shown here since {@link Input.Cease}. For any thread.
   */
  default Optional<VersionVector> shown() {
    return Optional.empty();
  }

  /** Returns whether every connected peer has acknowledged everything: a good moment to stop. */
  boolean isDrained();

  /**
   * Takes note of a measured time, by which modes are decided.
   *
   * @param shipments how many shipments one input brought
   * @param nanos how long handling that input took
   */
  void handled(int shipments, long nanos);
}
