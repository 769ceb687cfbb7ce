package io.osier.datacenter.shard.agent;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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

    Inbox.Command first = requireNonNull(inbox.pollCommand());
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
    requireNonNull(inbox.pollCommand()).accept(DONE);
    assertThat(offer(2 << 20)).isEqualTo(Inbox.Offer.TAKEN);
  }

  /** However many threads bring commands, no more wait than may, and each place is given again. */
  @Test
  void asManyAsMayWait_areTaken() throws InterruptedException {
    Inbox small = new Inbox(100);
    Request write =
        Requests.write("shop", Key.of("k"), CrdtType.PN_COUNTER, new Operation.Increment(1));
    AtomicInteger taken = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int n = 0; n < 1_000; n++) {
                      if (small.offer(write, reply -> {}) == Inbox.Offer.TAKEN) {
                        taken.incrementAndGet();
                      }
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(taken).hasValue(100);
    assertThat(small.commands()).isEqualTo(100);
    assertThat(small.overloads()).isEqualTo(3_900);
    assertThat(small.offer(write, reply -> {})).isEqualTo(Inbox.Offer.FULL);
    requireNonNull(small.pollCommand()).accept(DONE);
    assertThat(small.offer(write, reply -> {})).isEqualTo(Inbox.Offer.TAKEN);
    assertThat(small.offer(write, reply -> {})).isEqualTo(Inbox.Offer.FULL);
    assertThat(small.memory().used()).isEqualTo(100 * (160 + MessageHeap.bytes(write)));
  }
}
