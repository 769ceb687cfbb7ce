package io.osier.propagation.net;

import io.osier.core.net.Network;

/**
 * Tracks whether one peer still has a connection of a former incarnation of this datacenter. If the
 * peer does not repeat that in time, it counts as gone; a copy of this store counts until the peer
 * welcomes this process. For the loop.
 */
final class FormerLife {
  /** Who names a former incarnation that is in the way says so again within this, if in reach. */
  static final long NAMED_AGAIN_MILLIS = PeerIdentities.RIVAL_MILLIS;

  private final String dc;
  private final PeerListener listener;
  private final Network network;

  /** Counts what the other end says of another process of this one's name. */
  private long seconds;

  /** Whether the listener was told last that a former incarnation is in the way. */
  private boolean inTheWay;

  /** Whether there was a copy of this one's store, too, since the last welcome. */
  private boolean copied;

  FormerLife(String dc, PeerListener listener, Network network) {
    this.dc = dc;
    this.listener = listener;
    this.network = network;
  }

  /**
   * The other end takes another process for this one.
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

  /** It is not in the way any more, if it was. */
  void end() {
    if (inTheWay) {
      inTheWay = false;
      listener.secondEnds(dc);
    }
  }

  /** The other end takes this process for the one that it is; the listener hears that it is up. */
  void welcomed() {
    seconds++;
    inTheWay = false;
    copied = false;
  }
}
