package io.osier.propagation.transport;

import io.osier.core.BackOff;
import io.osier.core.ErrorCode;
import java.util.random.RandomGenerator;

/**
 * What follows from one attempt after the other to reach a datacenter: how long to wait, what is
 * worth a line in the log, and when the process must hear that it is not wanted. Pure; not
 * thread-safe.
 */
final class Dialling {
  static final long PAUSE_MILLIS_MIN = 50;
  static final long PAUSE_MILLIS_MAX = 1_000;

  /** The connection of a process that was killed may linger for the dead interval. */
  private static final long LINGERING_MAX = 3 * Heartbeat.DEAD_MILLIS / PAUSE_MILLIS_MAX;

  private final long incarnation;
  private final BackOff backOff = new BackOff(PAUSE_MILLIS_MIN, PAUSE_MILLIS_MAX);
  private String lastFailure = "";
  private int duplicates;
  private int version = PeerMessage.PROTOCOL_VERSION;

  /** Whether the other end is believed to be an old one, should the oldest version be welcome. */
  private boolean believed;

  /** Whether the next attempt is one without TLS, where the other end may speak either. */
  private boolean plain;

  /** By a datacenter of this incarnation. */
  Dialling(long incarnation) {
    this.incarnation = incarnation;
  }

  /** How long to wait before the next attempt. */
  long pauseMillis(RandomGenerator random) {
    return backOff.nextMillis(random);
  }

  /** Nobody was reached; whether that is for another reason than the last time. */
  boolean failed(String why) {
    believed = false;
    boolean isNews = !why.equals(lastFailure);
    lastFailure = why;
    return isNews;
  }

  /** Which version of the protocol the next greeting speaks. */
  int version() {
    return version;
  }

  /** Whether to dial without TLS now, if that is allowed. */
  boolean isPlain() {
    return plain;
  }

  /** With TLS nothing came of it, or without it: the next attempt is the other way. */
  void otherWay() {
    plain = !plain;
  }

  /**
   * The other end has ended a connection without a word on its greeting, as one that cannot read it
   * does: the next one speaks the oldest version, and the one after it the newest again.
   */
  void unanswered() {
    if (version == PeerMessage.PROTOCOL_VERSION) {
      version = PeerMessage.PROTOCOL_VERSION_MIN;
    } else {
      version = PeerMessage.PROTOCOL_VERSION;
      believed = false; // whoever closes then cannot read either of them, or is not there
    }
  }

  /**
   * The other end has agreed to talk: whether it is to be greeted once more instead, in the newest
   * version. It may have been away when it was greeted so first, behind something that took the
   * connection, and would be talked to for long as if it were an old one.
   */
  boolean doubtsVersion() {
    if (version == PeerMessage.PROTOCOL_VERSION || believed) {
      return false;
    }
    believed = true; // if it comes to that again
    version = PeerMessage.PROTOCOL_VERSION;
    backOff.reset();
    return true;
  }

  /** A connection on which both have talked is lost: the other end may be another one by now. */
  void lost() {
    believed = false;
    plain = false; // it may speak TLS by now
    version = PeerMessage.PROTOCOL_VERSION;
  }

  /** The other end has agreed to talk. */
  void welcomed() {
    backOff.reset();
    lastFailure = "";
    duplicates = 0;
  }

  /** It is no use to dial again soon. */
  void slowDown() {
    backOff.slowDown();
  }

  /**
   * The other end has refused; whether the process must hear of it. It need not while what is in
   * the way may be a connection of this datacenter's own former life.
   */
  boolean refused(PeerMessage.Refused refusal) {
    backOff.slowDown();
    if (refusal.code() == ErrorCode.VERSION_MISMATCH) {
      // The next one speaks the version before, as most do that are not of this one.
      version =
          version == PeerMessage.PROTOCOL_VERSION_MIN ? PeerMessage.PROTOCOL_VERSION : version - 1;
      believed = version != PeerMessage.PROTOCOL_VERSION; // it has said so
    }
    boolean lingers =
        refusal.code() == ErrorCode.DUPLICATE_DC
            && refusal.newest() < incarnation
            && ++duplicates <= LINGERING_MAX;
    return !lingers;
  }
}
