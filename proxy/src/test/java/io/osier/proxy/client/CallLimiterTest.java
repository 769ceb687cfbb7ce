package io.osier.proxy.client;

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
  private final CallLimiter limiter = new CallLimiter(2);

  private static long in(Duration time) {
    return time.toNanos();
  }

  @Test
  void whoeverFindsNoRoom_waitsUntilACallHasEnded() throws InterruptedException {
    assertThat(limiter.enterAtOnce()).isTrue();
    assertThat(limiter.enterAtOnce()).isTrue();
    assertThat(limiter.enterAtOnce()).isFalse();
    AtomicReference<Object> outcome = new AtomicReference<>("waits");
    Thread third =
        Thread.ofPlatform().start(() -> outcome.set(limiter.enter(in(Duration.ofMinutes(1)))));
    await().until(() -> third.getState() == Thread.State.TIMED_WAITING);
    assertThat(outcome).hasValue("waits");
    limiter.leave();
    third.join();
    assertThat(outcome).hasValue(null);
  }

  @Test
  void waitingEndsWithTheCallsTimeLimit() {
    assertThat(limiter.enterAtOnce()).isTrue();
    assertThat(limiter.enterAtOnce()).isTrue();
    OsierException why = limiter.enter(in(Duration.ofMillis(5)));
    assertThat(why.code()).isEqualTo(ErrorCode.OVERLOADED);
    assertThat(why).hasMessageContaining("nothing was sent").hasMessageContaining("2 calls");
  }

  @Test
  void eventLoopsOfTheApplication_neverWait() throws InterruptedException {
    assertThat(limiter.enterAtOnce()).isTrue();
    assertThat(limiter.enterAtOnce()).isTrue();
    AtomicReference<Object> outcome = new AtomicReference<>("waits");
    Thread loop =
        new FastThreadLocalThread(() -> outcome.set(limiter.enter(in(Duration.ofMinutes(1)))));
    loop.start();
    assertThat(loop.join(Patience.LIMIT)).isTrue();
    assertThat(outcome).hasValue(null);
  }

  @Test
  void callbacksNeverWait_andGoBeyondTheLimit_upToTwiceAsFar() {
    assertThat(limiter.enterAtOnce()).isTrue();
    assertThat(limiter.enterAtOnce()).isTrue();
    CallbackThread.bring(
        false,
        () -> {
          assertThat(limiter.enter(in(Duration.ofMinutes(1)))).isNull();
          assertThat(limiter.enter(in(Duration.ofMinutes(1)))).isNull();
          assertThat(limiter.enter(in(Duration.ofMinutes(1))).code())
              .isEqualTo(ErrorCode.OVERLOADED);
        });
    limiter.leave();
    limiter.leave();
    assertThat(limiter.enterAtOnce()).as("two are still under way").isFalse();
    limiter.leave();
    assertThat(limiter.enterAtOnce()).isTrue();
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
