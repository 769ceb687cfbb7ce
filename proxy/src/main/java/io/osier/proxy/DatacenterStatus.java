package io.osier.proxy;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A datacenter as the others have it.
 *
 * @param address where the others dial it; empty if that is not known where it was asked
 * @param state active, joining, leaving, left or removed
 * @param awaited what it waits for, in words
 * @param fromFile whether configuration files name it, and not a command
 * @param changedBy the user who changed it last; empty if nobody has, or without users
 * @param changedAt when; empty if it never was
 */
public record DatacenterStatus(
    String name,
    Optional<String> address,
    State state,
    List<String> awaited,
    boolean fromFile,
    Optional<String> changedBy,
    Optional<Instant> changedAt) {
  /** What a datacenter is to the others. */
  public enum State {
    /** It serves. */
    ACTIVE,
    /** It catches up, and is active then. */
    JOINING,
    /** It ships what it has, and is gone then. */
    LEAVING,
    /** It is gone, by itself. */
    LEFT,
    /** It was given up as dead. */
    REMOVED,
    /** Something that came later than this client. */
    OTHER
  }

  public DatacenterStatus {
    awaited = List.copyOf(awaited);
  }
}
