package io.osier.propagation.net.link;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.time.BackOff;
import java.util.random.RandomGenerator;

/**
 * What follows from one attempt after the other to reach a datacenter: how long to wait, what is
 * worth a line in the log, and when the process must hear that it is not wanted. Pure; not
 * thread-safe.
 */
public final class DialAttempts {
  static final long PAUSE_MILLIS_MIN = 50;
  public static final long PAUSE_MILLIS_MAX = 1_000;

  /** The connection of a process that was killed may linger for the dead interval. */
  private static final long LINGERING_MAX = 3 * Heartbeat.DEAD_MILLIS / PAUSE_MILLIS_MAX;

  private final ReplicaId self;
  private final int newest;
  private final BackOff backOff = new BackOff(PAUSE_MILLIS_MIN, PAUSE_MILLIS_MAX);
  private String lastFailure = "";
  private int duplicates;
  private int version;

  /** Whether every version was refused since there was a connection: nothing is gained by haste. */
  private boolean exhausted;

  /** Whether the next attempt is one without TLS, where the other end may speak either. */
  private boolean plain;

  /**
   * @param newest the newest version of the protocol that it speaks
   */
  public DialAttempts(ReplicaId self, int newest) {
    this.self = self;
    this.newest = newest;
    this.version = newest;
  }

  /** How long to wait before the next attempt. */
  public long pauseMillis(RandomGenerator random) {
    return backOff.nextMillis(random);
  }

  /** Nobody was reached; whether that is for another reason than the last time. */
  public boolean failed(String why) {
    boolean isNews = !why.equals(lastFailure);
    lastFailure = why;
    return isNews;
  }

  /** Which version of the protocol the next greeting speaks. */
  public int version() {
    return version;
  }

  /** Whether to dial without TLS now, if that is allowed. */
  public boolean isPlain() {
    return plain;
  }

  /** With TLS nothing came of it, or without it: the next attempt is the other way. */
  public void otherWay() {
    plain = !plain;
  }

  /** Whether an older version than the newest is spoken: the other end has said that it must. */
  public boolean isOlder() {
    return version < newest;
  }

  /** A connection on which both have talked is lost: the other end may be another one by now. */
  public void lost() {
    plain = false; // it may speak TLS by now
    version = newest;
    exhausted = false;
  }

  /** The other end has agreed to talk in a version of the protocol. */
  public void welcomed(int spoken) {
    version = spoken;
    exhausted = false;
    backOff.reset();
    lastFailure = "";
    duplicates = 0;
  }

  /** It is no use to dial again soon. */
  public void slowDown() {
    backOff.slowDown();
  }

  /**
   * The other end has refused; whether the process must hear of it. It need not while an older
   * version of the protocol is left to be tried, nor while what is in the way may be a connection
   * of this datacenter's own former life.
   *
   * <p>This alone lowers the version that is spoken. A connection that is closed without a word
   * says nothing about it: there may be something between the two that takes connections.
   *
   * @param oldest the oldest version that may be spoken now
   */
  public boolean refused(PeerMessage.Refused refusal, int oldest) {
    if (refusal.code() == ErrorCode.VERSION_MISMATCH && version > oldest) {
      version--;
      if (!exhausted) {
        backOff.reset(); // it is there, and the next greeting is another one
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
