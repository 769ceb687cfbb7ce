package io.osier.propagation.send;

import io.osier.crdt.ObjectId;
import io.osier.propagation.host.OfferedVersion;
import io.osier.propagation.wire.Frame;
import org.jspecify.annotations.Nullable;

/** A version of a large object that has been offered to a peer, which pulls it. Not thread-safe. */
final class OpenOffer {
  final long number;
  final ObjectId object;
  final OfferedVersion version;

  /** The version contains all that was shipped up to this tick. */
  final long tick;

  long saidNanos;

  /** How often the offer was repeated since the peer last sent a request. */
  int repeats;

  /** How many of those repetitions the peer should have answered. */
  int attempts;

  /** The sequence of the last frame of updates that was sent before the offer. */
  final long behind;

  /** The number under which the offer was last sent. */
  long sentNumber;

  /** The request that was answered last; null before the first. */
  Frame.@Nullable Pull answered;

  long answeredNanos;

  /** The offer's number when that request was answered. */
  long answeredNumber;

  /** The bytes of entries in that answer while it is not known that they have arrived. */
  long inFlightBytes;

  OpenOffer(long number, OfferedVersion version, long tick, long behind, long nowNanos) {
    this.behind = behind;
    this.number = number;
    this.sentNumber = number << Frame.Offer.TIMES_BITS;
    this.object = version.object();
    this.version = version;
    this.tick = tick;
    this.saidNanos = nowNanos;
  }

  /** Returns the number under which the offer is sent next. */
  long nextNumber() {
    int bits = Frame.Offer.TIMES_BITS;
    return number << bits | (sentNumber + 1 & (1 << bits) - 1);
  }
}
