package io.osier.propagation.transport;

import io.netty.channel.Channel;
import java.util.function.BooleanSupplier;

/**
 * A connection over which one has said who it is: what is decided about it is done in the
 * connection's loop, unless the handler there has ended meanwhile. For any thread.
 */
abstract class BearerLine implements Bearers.Line {
  private final Channel channel;
  private final BooleanSupplier hasEnded;

  BearerLine(Channel channel, BooleanSupplier hasEnded) {
    this.channel = channel;
    this.hasEnded = hasEnded;
  }

  final void does(Runnable what) {
    Wire.inLoopNow(
        channel,
        () -> {
          if (!hasEnded.getAsBoolean()) {
            what.run();
          }
        });
  }

  @Override
  public final void probe(long number) {
    does(() -> Wire.write(channel, new PeerMessage.Probe(number)));
  }
}
