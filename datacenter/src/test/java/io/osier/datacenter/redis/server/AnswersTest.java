package io.osier.datacenter.redis.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.osier.datacenter.redis.RespValue;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AnswersTest {
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final Answers answers = new Answers(channel);

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
    assertThat(answers.waitingBytes()).isLessThan(1_000);
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
    assertThat(answers.waitingBytes()).isGreaterThan(1_000);
    answers.close();
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    answer(new RespValue.Bulk(new byte[1 << 20])); // is the first
    assertThat(answers.waitingBytes()).isGreaterThan(1 << 20);
  }
}
