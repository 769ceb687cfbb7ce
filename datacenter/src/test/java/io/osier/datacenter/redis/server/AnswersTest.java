package io.osier.datacenter.redis.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.osier.core.Value;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.frontend.AnswerShare;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.server.Connection.Place;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AnswersTest {
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final AnswerShare share = new AnswerShare(new ByteBudget(64 << 20));
  private final Answers answers = new Answers(channel, share);

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private String sent() {
    answers.flush();
    StringBuilder all = new StringBuilder();
    for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
      all.append(next.toString(US_ASCII));
      next.release();
    }
    return all.toString();
  }

  private void answer(RespValue value) {
    answers.fill(answers.add(false, false), value);
  }

  @Test
  void answer_ofOneValueManyTimes_isAnError() {
    RespValue large = new RespValue.Bulk(new byte[1 << 20]);
    RespValue many = new RespValue.Array(Collections.nCopies(128, large));
    answer(many);
    assertThat(sent()).startsWith("-ERR the answer takes more than 128 MiB");
    answers.add(false, false); // is waited for
    answer(many);
    assertThat(share.presentBytes()).isLessThan(1_000);
  }

  @Test
  void answers_toWhoDoesNotRead_stayWhereTheyAre() {
    answer(new RespValue.Int(1));
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    answer(new RespValue.Int(2));
    assertThat(sent()).isEmpty();
    assertThat(answers.size()).isEqualTo(2);
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    assertThat(sent()).isEqualTo(":1\r\n:2\r\n");
  }

  @Test
  void push_leavesBehindTheAnswersOfCommandsBegunBefore() {
    Place command = answers.add(true, false);
    RespValue message = new RespValue.Push(List.of(new RespValue.Simple("m")));
    answers.push(message, true);
    answers.push(message, false);
    assertThat(sent()).isEmpty();
    answers.fill(command, new RespValue.Int(1));
    assertThat(sent()).isEqualTo(":1\r\n>1\r\n+m\r\n*1\r\n+m\r\n");
  }

  @Test
  void waitingBytes_ofErrorsAndOfWhoDoesNotRead_areCounted() {
    answers.add(false, false); // is waited for
    answer(new RespValue.Err("e".repeat(1_000)));
    assertThat(share.presentBytes()).isGreaterThan(1_000);
    answers.close();
    assertThat(share.presentBytes()).isZero();
    answer(new RespValue.Bulk(new byte[1 << 20])); // nobody will read it
    assertThat(share.presentBytes()).isZero();
  }

  @Test
  void waitingBytes_ofTheFirstToWhoDoesNotRead_areCounted() {
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    answer(new RespValue.Bulk(new byte[1 << 20]));
    assertThat(share.presentBytes()).isGreaterThan(1 << 20);
  }

  /** It would be there once more as bytes, and once more as what waits for the network. */
  @Test
  void largeAnswer_isWrittenPieceByPiece_asItIsRead() {
    RespValue text = new RespValue.Text(new Value.Str("x".repeat(1 << 20)));
    answer(new RespValue.Pairs(Collections.nCopies(20, text)));
    answer(new RespValue.Int(1));
    answers.flush();
    assertThat(channel.outboundMessages())
        .allSatisfy(part -> assertThat(((ByteBuf) part).readableBytes()).isLessThan(1 << 17));
    String all = sent();
    assertThat(all).startsWith("*20\r\n$1048576\r\nxx").endsWith("xx\r\n:1\r\n");
    assertThat(all).hasSize(5 + 20 * (10 + (1 << 20) + 2) + 4);
    assertThat(answers.size()).isZero();
    assertThat(share.presentBytes()).isZero();
  }
}
