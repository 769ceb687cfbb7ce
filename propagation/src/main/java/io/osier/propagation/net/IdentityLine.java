package io.osier.propagation.net;

import io.netty.channel.Channel;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerWire;
import java.util.function.BooleanSupplier;

/**
 * A connection over which one has said who it is: what is decided about it is done in the
 * connection's loop, unless the handler there has ended meanwhile. For any thread.
 */
abstract class IdentityLine implements PeerIdentities.Line {
  private final Channel channel;
  private final BooleanSupplier hasEnded;

  IdentityLine(Channel channel, BooleanSupplier hasEnded) {
    this.channel = channel;
    this.hasEnded = hasEnded;
  }

  final void does(Runnable what) {
    PeerWire.inLoopNow(
        channel,
        () -> {
          if (!hasEnded.getAsBoolean()) {
            what.run();
          }
        });
  }

  @Override
  public final void probe(long number) {
    does(() -> PeerWire.write(channel, new PeerMessage.Probe(number)));
  }
}
