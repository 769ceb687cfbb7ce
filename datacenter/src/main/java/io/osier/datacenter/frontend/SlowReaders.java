package io.osier.datacenter.frontend;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.group.ChannelGroup;
import java.util.Comparator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Disconnects clients that send and do not read, where the answers that wait for all of them
 * together take too much memory: first the one for which most waits.
 */
final class SlowReaders {
  private static final Logger LOG = LoggerFactory.getLogger(SlowReaders.class);

  private final ChannelGroup channels;
  private final long bytesMax;

  /**
   * Of some channels.
   *
   * @param bytesMax may wait for all of them together
   */
  SlowReaders(ChannelGroup channels, long bytesMax) {
    this.channels = channels;
    this.bytesMax = bytesMax;
  }

  /** Looks once, and disconnects at most one client. */
  void look() {
    long all = channels.stream().mapToLong(SlowReaders::unsent).sum();
    if (all > bytesMax) {
      channels.stream().max(Comparator.comparingLong(SlowReaders::unsent)).ifPresent(this::close);
    }
  }

  private void close(Channel channel) {
    LOG.warn(
        "client {} does not read its answers ({} bytes wait); connection closed",
        channel.remoteAddress(),
        unsent(channel));
    channel.close();
  }

  private static long unsent(Channel channel) {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer(); // null once it is closed
    if (buffer == null) {
      return 0;
    }
    ClientServer.Visitor visitor = channel.pipeline().get(ClientServer.Visitor.class);
    return buffer.totalPendingWriteBytes() + (visitor == null ? 0 : visitor.waitingBytes());
  }
}
