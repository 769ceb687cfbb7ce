package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Commands take their bytes of the heap from when they come until they are answered. */
final class InboxTest {
  private static final long BYTES_MAX = 1 << 20;
  private static final Reply DONE = new Reply.Failure(ErrorCode.TIMEOUT, "");

  private final Inbox inbox = new Inbox(16_384, BYTES_MAX);
  private final List<Reply> replies = new ArrayList<>();

  private Inbox.Offer offer(int valueBytes) {
    return inbox.offer(
        Requests.write(
            "shop",
            Key.of("k"),
            CrdtType.LWW_REGISTER,
            new Operation.Assign(Value.of(new byte[valueBytes]))),
        replies::add);
  }

  @Test
  void commandsThatTakeTooMuch_areRefused_untilOthersAreAnswered() {
    int taken = 0;
    while (offer(10_000) == Inbox.Offer.TAKEN) {
      taken++;
      assertThat(inbox.memory().used()).isLessThanOrEqualTo(BYTES_MAX);
    }
    assertThat(taken).isBetween(95, 105);
    assertThat(inbox.overloads()).isEqualTo(1);
    assertThat(inbox.memory().spent()).isEqualTo(1);

    Inbox.Command first = inbox.pollCommand();
    assertThat(offer(10_000)).as("it is not answered yet").isEqualTo(Inbox.Offer.TOO_LARGE);
    first.accept(DONE);
    assertThat(replies).containsExactly(DONE);
    assertThat(offer(10_000)).isEqualTo(Inbox.Offer.TAKEN);
  }

  @Test
  void smallCommands_areBoundedByWhatTheyReallyTake() {
    int taken = 0;
    while (offer(1) == Inbox.Offer.TAKEN) {
      taken++;
    }
    assertThat(taken).isBetween(2_500, 5_000);
    for (Inbox.Command c = inbox.pollCommand(); c != null; c = inbox.pollCommand()) {
      c.accept(DONE);
    }
    assertThat(inbox.memory().used()).isZero();
  }

  @Test
  void oneThatIsLargerThanAll_isTakenAlone() {
    assertThat(offer(2 << 20)).isEqualTo(Inbox.Offer.TAKEN);
    assertThat(offer(1)).isEqualTo(Inbox.Offer.TOO_LARGE);
    inbox.pollCommand().accept(DONE);
    assertThat(offer(2 << 20)).isEqualTo(Inbox.Offer.TAKEN);
  }
}
