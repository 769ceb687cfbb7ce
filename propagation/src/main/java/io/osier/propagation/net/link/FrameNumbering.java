package io.osier.propagation.net.link;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Replaces the keyspaces of frames by their numbers in the list of fingerprints that was last sent
 * on the connection. Both are done in the connection's loop: so no frame has a number of another
 * list, although a number may mean another keyspace in the next list.
 */
public final class FrameNumbering extends ChannelOutboundHandlerAdapter {
  /** A partition's frame, encoded, on its way to this handler. */
  public record Unnumbered(String keyspace, int partition, byte[] frame) {}

  private Map<String, Integer> numbers = Map.of();

  /** Notes the fingerprints that are sent now. In the loop. */
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
      promise.setSuccess(); // the keyspace was dropped meanwhile
      return;
    }
    PeerMessage data = new PeerMessage.Data(number, frame.partition, frame.frame);
    ctx.write(PeerMessage.frame(data), promise);
  }
}
