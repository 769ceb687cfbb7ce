package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PlansTest {
  private static final Reply.Failure REFUSED =
      new Reply.Failure(ErrorCode.OVERLOADED, "the queue is full");

  private static String answer(Reply... replies) {
    Plan.Ask ask =
        (Plan.Ask) Plans.askAll(List.of(new Request.Ping(), new Request.Ping()), all -> Plan.ok());
    Plan.Answer answer = (Plan.Answer) ask.then().apply(List.of(replies));
    return ((RespValue.Err) answer.value()).text();
  }

  @Test
  void askAll_whereOnlySomeIsRefused_doesNotSayThatNothingWasDone() {
    assertThat(answer(REFUSED, REFUSED)).isEqualTo("BUSY nothing was done: the queue is full");
    assertThat(answer(new Reply.Pong(), REFUSED))
        .isEqualTo("BUSY only a part was done: the queue is full");
  }
}
