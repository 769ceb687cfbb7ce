package io.osier.propagation.net;

import io.osier.core.net.Network;

/**
 * Tracks whether one peer still has a connection of a former incarnation of this datacenter. If the
 * peer does not repeat that in time, it counts as gone; a copy of this store counts until the peer
 * welcomes this process. For the loop.
 */
final class FormerLife {
  /** A peer that is in reach repeats within this time that a former incarnation is in the way. */
  static final long NAMED_AGAIN_MILLIS = PeerIdentities.RIVAL_MILLIS;

  private final String dc;
  private final PeerListener listener;
  private final Network network;

  /** Counts the peer's reports of another process with this one's name. */
  private long seconds;

  /** Whether the last report to the listener was that a former incarnation is in the way. */
  private boolean inTheWay;

  /** Whether a copy of this process's store was reported, too, since the last welcome. */
  private boolean copied;

  FormerLife(String dc, PeerListener listener, Network network) {
    this.dc = dc;
    this.listener = listener;
    this.network = network;
  }

  /**
   * Takes the peer's report that it talks to another process of this one's name.
   *
   * @param isFormer whether the other process is of a former incarnation
   */
  void second(String why, boolean isFormer) {
    long number = ++seconds;
    copied |= !isFormer;
    inTheWay = !copied;
    listener.second(dc, why);
    if (inTheWay) {
      network.later(() -> endUnlessNamedAgain(number), NAMED_AGAIN_MILLIS);
    }
  }

  private void endUnlessNamedAgain(long number) {
    if (number == seconds) {
      end();
    }
  }

  /** Tells the listener that the former incarnation is no longer in the way, if it was. */
  void end() {
    if (inTheWay) {
      inTheWay = false;
      listener.secondEnds(dc);
    }
  }

  /** Notes that the peer has accepted this process; the listener hears separately that it is up. */
  void welcomed() {
    seconds++;
    inTheWay = false;
    copied = false;
  }
}
