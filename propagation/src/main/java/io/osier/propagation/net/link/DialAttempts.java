package io.osier.propagation.net.link;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.time.BackOff;
import java.util.random.RandomGenerator;

/**
 * Decides what follows from one attempt after the other to reach a datacenter: how long to wait,
 * what is worth a line in the log, and when the process must be told that it is refused. Pure; not
 * thread-safe.
 */
public final class DialAttempts {
  static final long PAUSE_MILLIS_MIN = 50;
  public static final long PAUSE_MILLIS_MAX = 1_000;

  /** The connection of a killed process may linger for the dead interval. */
  private static final long LINGERING_MAX = 3 * Heartbeat.DEAD_MILLIS / PAUSE_MILLIS_MAX;

  private final ReplicaId self;
  private final int newest;
  private final BackOff backOff = new BackOff(PAUSE_MILLIS_MIN, PAUSE_MILLIS_MAX);
  private String lastFailure = "";
  private int duplicates;
  private int version;

  /** Whether every version was refused since the last connection: then haste gains nothing. */
  private boolean exhausted;

  /** Whether the next attempt is made without TLS, if the other end may speak either. */
  private boolean plain;

  /**
   * @param newest the newest version of the protocol that this datacenter speaks
   */
  public DialAttempts(ReplicaId self, int newest) {
    this.self = self;
    this.newest = newest;
    this.version = newest;
  }

  /** Returns how long to wait before the next attempt. */
  public long pauseMillis(RandomGenerator random) {
    return backOff.nextMillis(random);
  }

  /** Notes that the peer was not reached; returns whether the reason differs from the last one. */
  public boolean failed(String why) {
    boolean isNews = !why.equals(lastFailure);
    lastFailure = why;
    return isNews;
  }

  /** Returns the version of the protocol of the next greeting. */
  public int version() {
    return version;
  }

  /** Whether to dial without TLS now, if that is allowed. */
  public boolean isPlain() {
    return plain;
  }

  /** Switches between TLS and none for the next attempt, since the last one failed. */
  public void otherWay() {
    plain = !plain;
  }

  /** Whether an older version than the newest is spoken, as the other end has demanded. */
  public boolean isOlder() {
    return version < newest;
  }

  /** Notes that an established connection is lost: the other end may be another process by now. */
  public void lost() {
    plain = false; // the other end may speak TLS by now
    version = newest;
    exhausted = false;
  }

  /** Notes that the other end has accepted a version of the protocol. */
  public void welcomed(int spoken) {
    version = spoken;
    exhausted = false;
    backOff.reset();
    lastFailure = "";
    duplicates = 0;
  }

  /** Makes the pauses long, since dialling again soon is of no use. */
  public void slowDown() {
    backOff.slowDown();
  }

  /**
   * Notes a refusal; returns whether the process must be told. It need not be while an older
   * version of the protocol is left to be tried, nor while the reason may be a connection of this
   * datacenter's own former life.
   *
   * <p>Only this method lowers the version that is spoken. A connection that is closed without a
   * reason says nothing about the version: there may be something between the two that takes
   * connections.
   *
   * @param oldest the oldest version that may be spoken now
   */
  public boolean refused(PeerMessage.Refused refusal, int oldest) {
    if (refusal.code() == ErrorCode.VERSION_MISMATCH && version > oldest) {
      version--;
      if (!exhausted) {
        backOff.reset(); // the other end runs, and the next greeting is a different one
      }
      return false;
    }
    backOff.slowDown();
    if (refusal.code() == ErrorCode.VERSION_MISMATCH) {
      version = newest;
      exhausted = true;
    }
    boolean lingers =
        refusal.code() == ErrorCode.DUPLICATE_DC
            && refusal.newest() < self.incarnation()
            && ++duplicates <= LINGERING_MAX;
    return !lingers;
  }
}
