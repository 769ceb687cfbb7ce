package io.osier.datacenter.frontend;

import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.osier.core.ErrorCode;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.Outgoing;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the answers of one client's connection. They count in its {@link AnswerShare} until the
 * network has taken them, and are encoded only as the client reads them. Answers come from any
 * thread; all other methods are for the channel's loop.
 */
final class ClientAnswers extends Outgoing<ClientAnswers.Answer> {
  private static final Logger LOG = LoggerFactory.getLogger(ClientAnswers.class);

  /**
   * One answer that waits to be sent.
   *
   * @param bytes that it takes of the share
   */
  record Answer(long id, Reply reply, long bytes) {}

  private final Channel channel;
  private final AnswerShare share;
  private final BooleanSupplier flushesSoon;
  private final Runnable roomAgain;
  private final Consumer<ErrorCode> failures;

  /** The bytes of the share that encoded answers take which are not handed to the channel yet. */
  private long encodedBytes;

  /**
   * @param flushesSoon returns whether {@link #flush} is called soon anyway
   * @param roomAgain is run by the channel's loop when answers have left, so that the next request
   *     may find room
   * @param failures takes the reason of each answer that is a failure, by any thread
   */
  ClientAnswers(
      Channel channel,
      AnswerShare share,
      BooleanSupplier flushesSoon,
      Runnable roomAgain,
      Consumer<ErrorCode> failures) {
    super(channel);
    this.channel = channel;
    this.share = share;
    this.flushesSoon = flushesSoon;
    this.roomAgain = roomAgain;
    this.failures = failures;
  }

  /** Returns whether one more request may be begun. */
  boolean haveRoom() {
    return channel.isWritable() && share.hasRoom(0);
  }

  /**
   * Returns the bytes of answers that wait and were not handed to the channel, about. For any
   * thread.
   */
  long waitingBytes() {
    return Math.max(0, share.presentBytes() - unsentBytes());
  }

  /**
   * Answers a request of a client that has logged in: the answer counts in the share. For any
   * thread.
   */
  void answerRequest(long id, Reply reply) {
    long bytes;
    try {
      bytes = share.keep(reply);
    } catch (RuntimeException e) { // the answering thread has other answers to give
      failed(new Answer(id, reply, 0), e);
      return;
    }
    if (bytes >= 0) {
      add(id, reply, bytes);
    } else {
      add(id, UnsentReply.noRoom(reply), 0);
    }
  }

  /** Answers anything else, outside the share. For any thread. */
  void answer(long id, Reply reply) {
    add(id, reply, 0);
  }

  private void add(long id, Reply reply, long bytes) {
    if (reply instanceof Reply.Failure f) {
      failures.accept(f.code());
    }
    add(new Answer(id, reply, bytes));
  }

  @Override
  protected boolean mayWrite() {
    return channel.isWritable() || !channel.isActive();
  }

  @Override
  protected boolean write(WireOutput to, Answer answer) {
    ProtocolCodec.write(to, answer.id, answer.reply);
    encodedBytes += answer.bytes;
    return true;
  }

  @Override
  protected boolean beforeFlush() {
    return channel.unsafe().outboundBuffer() != null; // null once it is closed
  }

  @Override
  protected void handedOn() {
    long bytes = encodedBytes;
    encodedBytes = 0;
    if (bytes == 0 || unsentBytes() == 0) {
      left(bytes);
    } else {
      // An empty buffer has left once all buffers before it have.
      channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(sent -> left(bytes));
    }
  }

  private void left(long bytes) {
    share.give(bytes);
    roomAgain.run();
  }

  private long unsentBytes() {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer(); // null once it is closed
    return buffer == null ? 0 : buffer.totalPendingWriteBytes();
  }

  @Override
  protected void failed(Answer answer, RuntimeException cause) {
    share.give(answer.bytes);
    if (cause instanceof KryoBufferOverflowException) {
      add(answer.id, UnsentReply.oversized(answer.reply), 0);
      return;
    }
    LOG.error("an answer to client {} cannot be sent", channel.remoteAddress(), cause);
    if (cause instanceof RejectedExecutionException || answer.reply instanceof Reply.Failure) {
      channel.close(); // else its client would wait for ever
    } else {
      add(answer.id, UnsentReply.unencodable(answer.reply, cause), 0);
    }
  }

  @Override
  protected boolean flushesSoon() {
    return flushesSoon.getAsBoolean();
  }
}
