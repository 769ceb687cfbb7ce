package io.osier.datacenter.partition.machine;

import io.osier.core.VersionVector;
import io.osier.datacenter.partition.Partition;
import io.osier.propagation.host.PeersHeard;
import java.util.List;
import java.util.Optional;

/**
 * A deterministic state machine as a shell drives it: inputs and their times go in, {@link Effects}
 * come out. The one of production is {@link Partition}; tests of shells put a scripted one in its
 * place. Used by one thread at a time, but for {@link #isReady}.
 */
public interface Machine {
  /**
   * Handles one input. What is to be done gathers until {@link #takeEffects}.
   *
   * @param now when: never before the input before it
   */
  void on(Input input, Now now);

  /** Takes what all inputs since the last call want done. */
  Effects takeEffects();

  /** What was committed here since the last {@link #takeEffects} takes, about, in bytes. */
  default long gatheredBytes() {
    return 0;
  }

  /**
   * Takes what commands have waited for that were answered since the last call; to be called with
   * {@link #takeEffects}.
   */
  default List<Waited.Command> takeWaited() {
    return List.of();
  }

  /** Handles one input that is a batch of its own. */
  default Effects step(Input input, Now now) {
    on(input, now);
    return takeEffects();
  }

  /** When an {@link Input.Tick} is due, in the nanoseconds of {@link Now#nanos}. */
  long nextTickNanos();

  /** Whether commands are served. For any thread. */
  boolean isReady();

  /**
   * Whether it knows as much as anybody ever will of what its datacenter did in former lives. For
   * any thread.
   */
  default boolean isSettled() {
    return isReady();
  }

  /**
   * Of how many of the others it has what they had when they were first heard after a telling of
   * the peers; told of the control plane's keyspace only. For any thread.
   *
   * @param number of that telling: nobody was heard since one that still waits in the queue
   */
  default PeersHeard heard(long number) {
    return PeersHeard.ALL;
  }

  /**
   * Whether it has what each peer had when it was first heard after a telling of the peers ({@link
   * Input.Peers}). For any thread.
   *
   * @param number of that telling: false for one that still waits in the queue
   */
  default boolean isComplete(long number) {
    return isReady();
  }

  /**
   * Of objects that are not here any more nothing is remembered, whose updates may be up to this:
   * who has not been told of all of these cannot be told what was removed. Empty while others may
   * have forgotten what never came here. For any thread.
   */
  default Optional<VersionVector> forgotten() {
    return Optional.of(VersionVector.EMPTY);
  }

  /** Since {@link Input.Cease}: all that can have been shown here. For any thread. */
  default Optional<VersionVector> shown() {
    return Optional.empty();
  }

  /** Whether every connected peer has acknowledged everything: a good moment to stop. */
  boolean isDrained();

  /**
   * Takes note of a measured time, for the decisions about modes.
   *
   * @param shipments how many were received in one input
   * @param nanos how long that input took
   */
  void handled(int shipments, long nanos);
}
