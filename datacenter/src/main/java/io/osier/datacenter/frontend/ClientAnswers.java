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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answers of one client's connection on their way out, within its {@link AnswerShare} until the
 * network has taken them. They are encoded as they are read. Answers come from any thread; the rest
 * is for the channel's loop.
 */
final class ClientAnswers extends Outgoing<ClientAnswers.Answer> {
  private static final Logger LOG = LoggerFactory.getLogger(ClientAnswers.class);

  /** What the connection does. */
  interface Around {
    /** A request may be taken again that could not be before. */
    void roomAgain();

    /** An answer is a failure. For any thread. */
    void failed(ErrorCode code);
  }

  /**
   * One answer.
   *
   * @param bytes of the share
   */
  record Answer(long id, Reply reply, long bytes) {}

  private final Channel channel;
  private final AnswerShare share;
  private final BooleanSupplier flushesSoon;
  private final Around around;

  /** Of the share, by what is encoded and not handed on. */
  private long encodedBytes;

  /**
   * @param flushesSoon whether {@link #flush} is called soon anyway
   */
  ClientAnswers(Channel channel, AnswerShare share, BooleanSupplier flushesSoon, Around around) {
    super(channel);
    this.channel = channel;
    this.share = share;
    this.flushesSoon = flushesSoon;
    this.around = around;
  }

  /** Whether one more request may be begun. */
  boolean haveRoom() {
    return channel.isWritable() && share.hasRoom(0);
  }

  /** What waits and is not given to the channel, about, in bytes. For any thread. */
  long waitingBytes() {
    return Math.max(0, share.presentBytes() - unsentBytes());
  }

  /** Answers a request of somebody who is known. For any thread. */
  void answerRequest(long id, Reply reply) {
    long bytes;
    try {
      bytes = share.keep(reply);
    } catch (RuntimeException e) { // who answers has others to answer
      failed(new Answer(id, reply, 0), e);
      return;
    }
    if (bytes >= 0) {
      add(id, reply, bytes);
    } else {
      add(id, AnswerShare.instead(reply), 0);
    }
  }

  /** Answers something else. For any thread. */
  void answer(long id, Reply reply) {
    add(id, reply, 0);
  }

  private void add(long id, Reply reply, long bytes) {
    if (reply instanceof Reply.Failure f) {
      around.failed(f.code());
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
      // What is behind the others has left when they have.
      channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(sent -> left(bytes));
    }
  }

  private void left(long bytes) {
    share.give(bytes);
    around.roomAgain();
  }

  private long unsentBytes() {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer(); // null once it is closed
    return buffer == null ? 0 : buffer.totalPendingWriteBytes();
  }

  @Override
  protected void failed(Answer answer, RuntimeException cause) {
    share.give(answer.bytes);
    if (cause instanceof KryoBufferOverflowException) {
      add(answer.id, OversizedReply.failure(answer.reply), 0);
      return;
    }
    LOG.error("an answer to client {} cannot be sent", channel.remoteAddress(), cause);
    if (cause instanceof RejectedExecutionException || answer.reply instanceof Reply.Failure) {
      channel.close(); // who waits for it must not wait for ever
    } else {
      add(answer.id, unencodable(answer.reply, cause), 0);
    }
  }

  /** What is answered in place of a reply that cannot be encoded. */
  static Reply.Failure unencodable(Reply reply, RuntimeException cause) {
    boolean done =
        reply instanceof Reply.Done
            || (reply instanceof Reply.All a
                && a.parts().stream().anyMatch(Reply.Done.class::isInstance))
            || (reply instanceof Reply.Evaluated e && e.dot().isPresent())
            || (reply instanceof Reply.Transacted t && t.dot().isPresent());
    return new Reply.Failure(
        done ? ErrorCode.TIMEOUT : ErrorCode.INTERNAL,
        (done ? "it was done, but " : "") + "the answer cannot be encoded: " + cause);
  }

  @Override
  protected boolean flushesSoon() {
    return flushesSoon.getAsBoolean();
  }
}
