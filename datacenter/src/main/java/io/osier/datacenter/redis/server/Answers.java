package io.osier.datacenter.redis.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.FastThreadLocal;
import io.osier.datacenter.frontend.AnswerShare;
import io.osier.datacenter.redis.RespEncoder;
import io.osier.datacenter.redis.RespPieces;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.server.Connection.Place;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The answers of a connection, which come in any order and leave in the order of the commands: each
 * command has a place, and the first place is encoded once its answer is there. Used by the
 * channel's loop only.
 */
final class Answers {
  /** Most commands of a connection that are under way. */
  static final int COMMANDS_MAX = 1_024;

  /** Encoded answers are handed to the network when they have so many bytes. */
  private static final int CHUNK_BYTES = 1 << 16;

  /**
   * Most bytes of an answer: twice those of the largest object that can be read as a whole, as a
   * command may ask for one value several times.
   */
  static final long ANSWER_BYTES_MAX = 128L << 20;

  private static final RespValue TOO_LARGE =
      new RespValue.Err(
          "ERR the answer takes more than "
              + (ANSWER_BYTES_MAX >> 20)
              + " MiB: ask for less, or use SCAN, SSCAN or HSCAN");

  /** The encoder of each loop; empty between two calls. */
  private static final FastThreadLocal<RespEncoder> ENCODER =
      new FastThreadLocal<>() {
        @Override
        protected RespEncoder initialValue() {
          return new RespEncoder();
        }
      };

  private final Channel channel;
  private final ArrayDeque<Place> places = new ArrayDeque<>(4);
  private final AnswerShare share;

  /** The rest of the first answer, if that is large and was sent in part; else null. */
  private @Nullable RespPieces rest;

  private boolean ended;
  private boolean closed;

  Answers(Channel channel, AnswerShare share) {
    this.channel = channel;
    this.share = share;
  }

  /**
   * Adds a place behind all others.
   *
   * @param resp3 whether the answer is encoded in RESP3
   * @param silent whether the answer is not sent
   */
  Place add(boolean resp3, boolean silent) {
    Place place = new Place(resp3, silent);
    places.add(place);
    return place;
  }

  /**
   * Sends a push behind the answers to all commands that were begun; so a push that follows from a
   * command comes behind its answer.
   */
  void push(RespValue value, boolean resp3) {
    fill(add(resp3, false), value);
  }

  /** Returns how many answers are awaited or wait to be sent. */
  int size() {
    return places.size();
  }

  /** Returns whether the connection's last answer was sent. */
  boolean isEnded() {
    return ended;
  }

  /** Puts an answer in its place; an answer that is too large is replaced by an error. */
  void fill(Place place, RespValue value) {
    if (closed) {
      return;
    }
    long bytes = RespValue.bytesOf(value);
    boolean fits = bytes <= ANSWER_BYTES_MAX;
    place.value = fits ? value : TOO_LARGE;
    boolean leavesAtOnce = places.peek() == place && channel.isWritable() && bytes <= CHUNK_BYTES;
    if (!leavesAtOnce) {
      place.bytes = fits ? bytes : RespValue.VALUE_BYTES;
    }
    share.keep(place.bytes, place.replyBytes);
    place.replyBytes = 0;
  }

  /** Sends the answers that are there, as long as the client reads them. */
  void flush() {
    RespEncoder encoder = ENCODER.get();
    try {
      Place head;
      while (!ended
          && channel.isWritable()
          && (head = places.peek()) != null
          && (head.value != null || head.cut)) {
        if (write(head, encoder)) {
          places.poll();
          share.give(head.bytes);
          ended = head.ends || head.cut;
        }
        if (encoder.size() >= CHUNK_BYTES) {
          handOn(encoder);
        }
      }
      handOn(encoder);
    } finally {
      encoder.clear(2 * CHUNK_BYTES);
    }
  }

  /** Writes the first answer, or a part of it; returns whether it is complete. */
  private boolean write(Place head, RespEncoder encoder) {
    RespValue value = head.value;
    if (value == null || head.cut || head.silent) {
      return true;
    }
    if (head.bytes <= CHUNK_BYTES) {
      encoder.write(value, head.resp3);
      return true;
    }
    RespPieces pieces = rest == null ? new RespPieces(value, head.resp3) : rest;
    boolean isAll = pieces.writeTo(encoder, CHUNK_BYTES);
    rest = isAll ? null : pieces;
    return isAll;
  }

  private void handOn(RespEncoder encoder) {
    if (encoder.size() > 0 && channel.isActive()) {
      ByteBuf buffer = channel.alloc().ioBuffer(encoder.size());
      buffer.writeBytes(encoder.bytes(), 0, encoder.size());
      encoder.clear(2 * CHUNK_BYTES);
      channel.writeAndFlush(buffer, channel.voidPromise());
    }
  }

  void close() {
    ended = true;
    closed = true;
    places.forEach(place -> share.give(place.bytes));
    places.clear();
    rest = null;
  }
}
