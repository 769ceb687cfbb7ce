package io.osier.bench.sim.transport;

import io.osier.bench.sim.world.Violation;
import io.osier.propagation.wire.Frame;
import java.util.ArrayDeque;

/**
 * Checks the frames that the transport has taken from one datacenter for another: they come in this
 * order, and once; only frames that were under way on a broken connection may not come.
 */
final class SentFrames {
  private static final class Sent {
    private final Frame frame;

    /** Whether the connection has ended since. */
    private boolean mayBeLost;

    /** Whether its compressed block holds the frame before it, too. */
    private boolean sharesABlock;

    private Sent(Frame frame) {
      this.frame = frame;
    }
  }

  private final String link;
  private final ArrayDeque<Sent> coming = new ArrayDeque<>();
  private long came;
  private long cameTogether;

  SentFrames(String link) {
    this.link = link;
  }

  void sent(Frame frame) {
    coming.add(new Sent(frame));
  }

  /** The transport has not taken the last frame. */
  void isNotSent() {
    coming.removeLast();
  }

  /** The last frame shares a compressed block with the frame before it. */
  void sharesABlock() {
    coming.getLast().sharesABlock = true;
  }

  /** An end of the connection is closed: the frames under way may be lost. */
  void mayBeLost() {
    coming.forEach(sent -> sent.mayBeLost = true);
  }

  /** A frame has come. */
  void came(Frame frame) {
    for (Sent next = coming.poll(); next != null; next = coming.poll()) {
      if (next.frame.equals(frame)) {
        came++;
        cameTogether += next.sharesABlock ? 1 : 0;
        return;
      }
      if (!next.mayBeLost) {
        throw new Violation(
            "", "on %s comes %s, and before it was sent %s", link, frame, next.frame);
      }
    }
    throw new Violation("", "on %s comes what is not sent, or has come: %s", link, frame);
  }

  /** How many have come. */
  long came() {
    return came;
  }

  /** How many have come in one compressed block with the frame before them. */
  long cameTogether() {
    return cameTogether;
  }

  /** Nothing is under way any more. */
  void check() {
    for (Sent sent : coming) {
      if (!sent.mayBeLost) {
        throw new Violation("", "on %s was sent, and has never come: %s", link, sent.frame);
      }
    }
  }
}
