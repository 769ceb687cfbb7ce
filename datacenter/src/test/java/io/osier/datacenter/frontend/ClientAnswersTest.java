package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.net.ByteBudget;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class ClientAnswersTest {
  private static final int MIB = 1 << 20;
  private static final Reply LARGE = new Reply.Report("x".repeat(MIB));
  private static final Reply SMALL =
      new Reply.Done(new Dot(new ReplicaId("eu", 1), 1), Optional.empty());

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final ByteBudget all = new ByteBudget(16L * MIB);
  private final AnswerShare share = new AnswerShare(all);
  private final List<ErrorCode> failures = new ArrayList<>();
  private int roomAgain;

  private final ClientAnswers answers =
      new ClientAnswers(channel, share, () -> false, () -> roomAgain++, failures::add);

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private void setReads(boolean reads) {
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, reads);
  }

  private List<Reply> sent() {
    channel.runPendingTasks();
    List<Reply> sent = new ArrayList<>();
    for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
      while (next.isReadable()) {
        byte[] frame = new byte[next.readInt()];
        next.readBytes(frame);
        sent.add(ProtocolCodec.decodeReply(frame).message());
      }
      next.release();
    }
    return sent;
  }

  @Test
  void answers_toWhoDoesNotRead_areNotEncoded_andGivenUpBeyondTheShare() {
    setReads(false);
    answers.answerRequest(0, SMALL);
    for (int i = 1; i <= 100; i++) {
      answers.answerRequest(i, LARGE);
    }
    answers.answerRequest(101, SMALL);
    assertThat(sent()).isEmpty();
    assertThat(answers.haveRoom()).isFalse();
    assertThat(share.presentBytes()).isBetween(4L * MIB, 8L * MIB + 1_000);
    assertThat(answers.waitingBytes()).isEqualTo(share.presentBytes());
    setReads(true);
    answers.flush();
    List<Reply> sent = sent();
    assertThat(sent).hasSize(102).startsWith(SMALL, LARGE).endsWith(SMALL);
    assertThat(sent.subList(1, 101))
        .allMatch(
            reply ->
                reply.equals(LARGE)
                    || (reply instanceof Reply.Failure f && f.code() == ErrorCode.OVERLOADED));
    assertThat(failures).hasSize(100 - (int) sent.stream().filter(LARGE::equals).count());
    assertThat(all.taken()).isZero();
    assertThat(share.presentBytes()).isZero();
  }

  @Test
  void room_isThereAgain_onceTheAnswersHaveLeft() {
    setReads(false);
    for (int i = 1; i <= 5; i++) {
      answers.answerRequest(i, LARGE);
    }
    setReads(true);
    assertThat(answers.haveRoom()).isFalse();
    assertThat(roomAgain).isZero();
    answers.flush();
    assertThat(roomAgain).isPositive();
    assertThat(answers.haveRoom()).isTrue();
    assertThat(sent()).hasSize(5);
  }

  @Test
  void answers_toWhoIsGone_takeNothing() {
    setReads(false);
    answers.answerRequest(1, LARGE);
    channel.close();
    answers.flush();
    answers.answerRequest(2, LARGE);
    channel.runPendingTasks();
    assertThat(share.presentBytes()).isZero();
    assertThat(all.taken()).isZero();
  }
}
