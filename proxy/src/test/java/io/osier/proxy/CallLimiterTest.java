package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.util.concurrent.FastThreadLocalThread;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.connection.CallbackThread;
import io.osier.testing.Patience;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

@NullUnmarked // what is null fails the test
final class CallLimiterTest {
  private final CallLimiter room = new CallLimiter(2);

  private static long in(Duration time) {
    return time.toNanos();
  }

  @Test
  void whoeverFindsNoRoom_waitsUntilACallHasEnded() throws InterruptedException {
    assertThat(room.enterAtOnce()).isTrue();
    assertThat(room.enterAtOnce()).isTrue();
    assertThat(room.enterAtOnce()).isFalse();
    AtomicReference<Object> outcome = new AtomicReference<>("waits");
    Thread third =
        Thread.ofPlatform().start(() -> outcome.set(room.enter(in(Duration.ofMinutes(1)))));
    await().until(() -> third.getState() == Thread.State.TIMED_WAITING);
    assertThat(outcome).hasValue("waits");
    room.leave();
    third.join();
    assertThat(outcome).hasValue(null);
  }

  @Test
  void waitingEndsWithTheCallsTimeLimit() {
    assertThat(room.enterAtOnce()).isTrue();
    assertThat(room.enterAtOnce()).isTrue();
    OsierException why = room.enter(in(Duration.ofMillis(5)));
    assertThat(why.code()).isEqualTo(ErrorCode.OVERLOADED);
    assertThat(why).hasMessageContaining("nothing was sent").hasMessageContaining("2 calls");
  }

  @Test
  void eventLoopsOfTheApplication_neverWait() throws InterruptedException {
    assertThat(room.enterAtOnce()).isTrue();
    assertThat(room.enterAtOnce()).isTrue();
    AtomicReference<Object> outcome = new AtomicReference<>("waits");
    Thread loop =
        new FastThreadLocalThread(() -> outcome.set(room.enter(in(Duration.ofMinutes(1)))));
    loop.start();
    assertThat(loop.join(Patience.LIMIT)).isTrue();
    assertThat(outcome).hasValue(null);
  }

  @Test
  void callbacksNeverWait_andGoBeyondTheLimit_upToTwiceAsFar() {
    assertThat(room.enterAtOnce()).isTrue();
    assertThat(room.enterAtOnce()).isTrue();
    CallbackThread.bring(
        false,
        () -> {
          assertThat(room.enter(in(Duration.ofMinutes(1)))).isNull();
          assertThat(room.enter(in(Duration.ofMinutes(1)))).isNull();
          assertThat(room.enter(in(Duration.ofMinutes(1))).code()).isEqualTo(ErrorCode.OVERLOADED);
        });
    room.leave();
    room.leave();
    assertThat(room.enterAtOnce()).as("two are still under way").isFalse();
    room.leave();
    assertThat(room.enterAtOnce()).isTrue();
  }

  @Test
  void howeverManyMayBeUnderWay_itCanBeClosed() {
    CallLimiter unlimited = new CallLimiter(Integer.MAX_VALUE);
    assertThat(unlimited.enterAtOnce()).isTrue();
    unlimited.close();
    unlimited.leave();
    assertThat(unlimited.enterAtOnce()).isTrue();
  }
}
