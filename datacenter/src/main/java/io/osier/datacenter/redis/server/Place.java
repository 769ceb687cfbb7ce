package io.osier.datacenter.redis.server;

import io.osier.datacenter.redis.RespValue;
import org.jspecify.annotations.Nullable;

/** Where a command's answer goes, among those of its connection. Used by the loop only. */
final class Place {
  /** As the client understands it when it is answered. */
  boolean resp3;

  /** Whether nothing is sent. */
  boolean silent;

  /** Whether the connection ends behind it. */
  boolean ends;

  /** Whether the connection ends instead of an answer. */
  boolean cut;

  @Nullable RespValue value;

  /** What the value takes, about, in bytes. */
  long bytes;

  /** What the replies that it is being made of take, until it is there. */
  long replyBytes;

  Place(boolean resp3, boolean silent) {
    this.resp3 = resp3;
    this.silent = silent;
  }
}
