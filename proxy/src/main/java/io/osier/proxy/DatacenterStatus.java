package io.osier.proxy;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A datacenter as the cluster's members know it.
 *
 * @param address where the others dial it; empty if the answering datacenter does not know that
 * @param state active, joining, leaving, left or removed
 * @param awaited what the datacenter waits for, in words
 * @param fromFile whether it comes from configuration files rather than a command
 * @param changedBy the user who changed it last; empty if nobody did, or there are no users
 * @param changedAt when it was changed last; empty if it never was
 */
public record DatacenterStatus(
    String name,
    Optional<String> address,
    State state,
    List<String> awaited,
    boolean fromFile,
    Optional<String> changedBy,
    Optional<Instant> changedAt) {
  /** The state of a datacenter's membership. */
  public enum State {
    /** It serves. */
    ACTIVE,
    /** It catches up, and then becomes active. */
    JOINING,
    /** It ships its last updates, and then is gone. */
    LEAVING,
    /** It has left after it had shipped its updates. */
    LEFT,
    /** It was given up as dead. */
    REMOVED,
    /** A state that this version of the client does not know. */
    OTHER
  }

  public DatacenterStatus {
    awaited = List.copyOf(awaited);
  }
}
