package io.osier.propagation.net;

import io.netty.channel.Channel;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerWire;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A connection whose other end has said which process it is. Decisions about it are carried out in
 * the connection's loop, unless its handler has ended meanwhile. For any thread.
 */
final class IdentityLine implements PeerIdentities.Line {
  private final Channel channel;
  private final BooleanSupplier hasEnded;
  private final Runnable onWelcome;
  private final Consumer<String> onRefusal;
  private final Runnable onClose;

  /**
   * @param hasEnded returns whether its handler has ended
   * @param onWelcome accepts the other end
   * @param onRefusal refuses the other end; takes the reason
   */
  IdentityLine(
      Channel channel,
      BooleanSupplier hasEnded,
      Runnable onWelcome,
      Consumer<String> onRefusal,
      Runnable onClose) {
    this.channel = channel;
    this.hasEnded = hasEnded;
    this.onWelcome = onWelcome;
    this.onRefusal = onRefusal;
    this.onClose = onClose;
  }

  private void carryOut(Runnable step) {
    PeerWire.inLoopNow(
        channel,
        () -> {
          if (!hasEnded.getAsBoolean()) {
            step.run();
          }
        });
  }

  @Override
  public void probe(long number) {
    carryOut(() -> PeerWire.write(channel, new PeerMessage.Probe(number)));
  }

  @Override
  public void welcome() {
    carryOut(onWelcome);
  }

  @Override
  public void refuse(String why) {
    carryOut(() -> onRefusal.accept(why));
  }

  @Override
  public void close() {
    carryOut(onClose);
  }
}
