package io.osier.datacenter.frontend;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.group.ChannelGroup;
import java.util.Comparator;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Disconnects clients that send and do not read, where the answers that wait for all of them
 * together take too much memory: first the one for which most waits.
 */
final class SlowReaders {
  private static final Logger LOG = LoggerFactory.getLogger(SlowReaders.class);

  private final ChannelGroup channels;
  private final ToLongFunction<Channel> waiting;
  private final long bytesMax;

  /**
   * @param waiting the bytes of answers that do not wait in the channel yet
   * @param bytesMax may wait for all of them together
   */
  SlowReaders(ChannelGroup channels, ToLongFunction<Channel> waiting, long bytesMax) {
    this.channels = channels;
    this.waiting = waiting;
    this.bytesMax = bytesMax;
  }

  /** Looks once, and disconnects at most one client. */
  void look() {
    long all = channels.stream().mapToLong(this::unsent).sum();
    if (all > bytesMax) {
      channels.stream().max(Comparator.comparingLong(this::unsent)).ifPresent(this::close);
    }
  }

  private void close(Channel channel) {
    LOG.warn(
        "client {} does not read its answers ({} bytes wait); connection closed",
        channel.remoteAddress(),
        unsent(channel));
    channel.close();
  }

  private long unsent(Channel channel) {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer(); // null once it is closed
    if (buffer == null) {
      return 0;
    }
    return buffer.totalPendingWriteBytes() + waiting.applyAsLong(channel);
  }
}
