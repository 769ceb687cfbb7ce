package io.osier.propagation.net.link;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Gives the frames that leave on a connection the numbers of their keyspaces in the list that was
 * told on it last. That is done in the connection's loop, as the list is told: so no frame bears
 * the number of another list, and a number may be another keyspace's in the next one.
 */
public final class FrameNumbering extends ChannelOutboundHandlerAdapter {
  /** A partition's frame, encoded, on its way to this handler. */
  public record Unnumbered(String keyspace, int partition, byte[] frame) {}

  private Map<String, Integer> numbers = Map.of();

  /** These are told now. In the loop. */
  public void told(List<String> fingerprints) {
    Map<String, Integer> now = new HashMap<>();
    for (String fingerprint : fingerprints) {
      now.put(KeyspaceAgreement.name(fingerprint), now.size());
    }
    numbers = now;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (!(message instanceof Unnumbered frame)) {
      ctx.write(message, promise);
      return;
    }
    Integer number = numbers.get(frame.keyspace);
    if (number == null) {
      promise.setSuccess(); // it was dropped meanwhile
      return;
    }
    PeerMessage data = new PeerMessage.Data(number, frame.partition, frame.frame);
    ctx.write(PeerMessage.frame(data), promise);
  }
}
