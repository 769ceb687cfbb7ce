package io.osier.datacenter.redis.pubsub;

import io.osier.datacenter.redis.RespValue;
import java.util.List;

/**
 * A message as it is sent to the subscribers of one channel, or of one pattern; they share it.
 *
 * @param by the channel or pattern to which they subscribe
 * @param push what is sent
 * @param bytes the heap that it takes while it waits, about
 */
record Message(Topic by, RespValue.Push push, long bytes) {
  /** Bytes of heap that a waiting message takes besides names and content. */
  private static final int MESSAGE_BYTES = 128;

  private static final RespValue MESSAGE = RespValue.Bulk.of("message");
  private static final RespValue PATTERN_MESSAGE = RespValue.Bulk.of("pmessage");

  static Message ofChannel(Topic channel, byte[] content) {
    return new Message(
        channel,
        new RespValue.Push(
            List.of(MESSAGE, new RespValue.Bulk(channel.name()), new RespValue.Bulk(content))),
        MESSAGE_BYTES + channel.name().length + content.length);
  }

  static Message ofPattern(Topic pattern, Topic channel, byte[] content) {
    return new Message(
        pattern,
        new RespValue.Push(
            List.of(
                PATTERN_MESSAGE,
                new RespValue.Bulk(pattern.name()),
                new RespValue.Bulk(channel.name()),
                new RespValue.Bulk(content))),
        MESSAGE_BYTES + pattern.name().length + channel.name().length + content.length);
  }
}
