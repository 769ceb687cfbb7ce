package io.osier.datacenter.redis.server;

import io.osier.datacenter.redis.RespValue;
import org.jspecify.annotations.Nullable;

/** What the parts of a connection have it do. Used by the channel's loop, but for the figures. */
interface Connection {
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

  /** There is something to go on with; by any thread. */
  void wakeLater();

  /** What {@link Steps#hold} held is begun. */
  void goOn();

  /** Nothing behind a command is done; the connection ends behind its answer. */
  void endBehind(Place place);

  /** Nothing behind a command is done; the connection ends instead of its answer. */
  void endAt(Place place);

  /** The connection ends at once. */
  void cut();

  /** Says whether its user is known; until then commands must be short. */
  void setKnown(boolean known);

  /** What tells the changes that it asks for from others'; 0 if it hears of those as well. */
  long author();

  /** Whether what is read of a keyspace must not be a copy of what others hold. */
  boolean readsWhereItIsHeld(String keyspace);

  /** What it has of answers that wait, in bytes; for any thread. */
  long waitingBytes();
}
