package io.osier.datacenter.redis.pubsub;

import io.osier.datacenter.redis.RespValue;
import java.util.List;

/**
 * A message as those are sent it who subscribe to one channel, or to one pattern: they share it.
 *
 * @param by what they subscribe to
 * @param push what is sent
 * @param bytes what it takes where it waits, about
 */
record Message(Topic by, RespValue.Push push, long bytes) {
  /** What one takes that waits, besides names and content. */
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
