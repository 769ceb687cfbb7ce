package io.osier.datacenter.redis.server;

import io.osier.datacenter.redis.RespValue;
import org.jspecify.annotations.Nullable;

/**
 * What the parts of a connection need of the connection itself. Used by the channel's loop, except
 * where a method is for any thread.
 */
interface Connection {
  /** The place of a command's answer among the answers of its connection. Used by the loop only. */
  final class Place {
    /** Whether the answer is encoded in RESP3. */
    boolean resp3;

    /** Whether the answer is not sent. */
    boolean silent;

    /** Whether the connection ends after the answer. */
    boolean ends;

    /** Whether the connection ends instead of an answer. */
    boolean cut;

    @Nullable RespValue value;

    /** The bytes of heap that the value takes, about. */
    long bytes;

    /** The bytes of heap of the replies that the answer is made of, until it is there. */
    long replyBytes;

    Place(boolean resp3, boolean silent) {
      this.resp3 = resp3;
      this.silent = silent;
    }
  }

  /** Has the loop call the connection back, as there is work; for any thread. */
  void wakeLater();

  /** Begins the commands that {@link Steps#hold} held. */
  void goOn();

  /** Does no command behind this one; the connection ends after its answer. */
  void endBehind(Place place);

  /** Does no command behind this one; the connection ends instead of its answer. */
  void endAt(Place place);

  /** Ends the connection at once. */
  void cut();

  /** Sets whether the user is known; until then commands must be short. */
  void setKnown(boolean known);

  /** Returns the number that marks the connection's own changes; 0 if it hears of those as well. */
  long author();

  /** Returns whether reads of a keyspace must not be answered from a copy of what others hold. */
  boolean readsWhereItIsHeld(String keyspace);

  /** Returns the bytes of answers and messages that wait for the client; for any thread. */
  long waitingBytes();
}
