package io.osier.propagation.send;

import io.osier.crdt.ObjectId;
import io.osier.propagation.host.OfferedVersion;
import io.osier.propagation.wire.Frame;
import org.jspecify.annotations.Nullable;

/** A version of a large object that a peer is pulling. Not thread-safe. */
final class OpenOffer {
  final long number;
  final ObjectId object;
  final OfferedVersion version;

  /** All that was shipped up to this tick is in it. */
  final long tick;

  long saidNanos;

  /** How often it was made again since the peer said something. */
  int repeats;

  /** How many of those times the peer should have said something. */
  int attempts;

  /** The last frame of updates that was sent before it. */
  final long behind;

  /** The number under which it was made last. */
  long saidNumber;

  /** The request that was answered last; null before. */
  Frame.@Nullable Pull answered;

  long answeredNanos;

  /** The number under which it had been made then. */
  long answeredNumber;

  /** The entries of that answer, of which it is not known that they have come. */
  long underWayBytes;

  OpenOffer(long number, OfferedVersion version, long tick, long behind, long nowNanos) {
    this.behind = behind;
    this.number = number;
    this.saidNumber = number << Frame.Offer.TIMES_BITS;
    this.object = version.object();
    this.version = version;
    this.tick = tick;
    this.saidNanos = nowNanos;
  }

  /** The number under which it is made next. */
  long nextNumber() {
    int bits = Frame.Offer.TIMES_BITS;
    return number << bits | (saidNumber + 1 & (1 << bits) - 1);
  }
}
