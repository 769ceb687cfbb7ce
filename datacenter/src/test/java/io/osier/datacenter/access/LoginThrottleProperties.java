package io.osier.datacenter.access;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

final class LoginThrottleProperties {
  private static final long START = Long.MAX_VALUE - 5; // the clock may run over

  private static void fail(LoginThrottle throttle, String user, String address, int times) {
    for (int i = 0; i < times; i++) {
      throttle.failed(user, address, START);
    }
  }

  @Property
  void pauses_growToTheLongest_andEnd(
      @ForAll @IntRange(max = 200) int failures, @ForAll @LongRange(max = 100_000) long millis) {
    LoginThrottle throttle = new LoginThrottle();
    fail(throttle, "cart", "10.0.0.1", failures);
    long pause = throttle.pauseNanos("cart", "10.0.0.1", START);
    if (failures < LoginThrottle.FREE) {
      assertThat(pause).isZero();
    } else {
      assertThat(pause).isBetween(LoginThrottle.PAUSE_NANOS_MIN, LoginThrottle.PAUSE_NANOS_MAX);
    }
    long later = throttle.pauseNanos("cart", "10.0.0.1", START + millis * 1_000_000);
    assertThat(later).isEqualTo(Math.max(0, pause - millis * 1_000_000));
  }

  @Example
  void badPasswords_slowDownTheUserFromAnywhere_andTheAddressForAnybody() {
    LoginThrottle throttle = new LoginThrottle();
    fail(throttle, "cart", "10.0.0.1", 20);
    assertThat(throttle.pauseNanos("cart", "10.0.0.2", START)).isPositive();
    assertThat(throttle.pauseNanos("bank", "10.0.0.1", START)).isPositive();
    assertThat(throttle.pauseNanos("bank", "10.0.0.2", START)).isZero();
  }

  @Example
  void whoHasLoggedInFromAnAddressBefore_isNotLockedOutByOthers() {
    LoginThrottle throttle = new LoginThrottle();
    throttle.succeeded("cart", "10.0.0.1");
    fail(throttle, "cart", "10.6.6.6", 100); // guesses cart's password
    fail(throttle, "bank", "10.0.0.1", 100); // a neighbour behind the same router
    assertThat(throttle.pauseNanos("cart", "10.0.0.1", START)).isZero();
    // But it may not guess without end either.
    fail(throttle, "cart", "10.0.0.1", 20);
    assertThat(throttle.pauseNanos("cart", "10.0.0.1", START)).isPositive();
    throttle.succeeded("cart", "10.0.0.1");
    assertThat(throttle.pauseNanos("cart", "10.0.0.1", START)).isZero();
  }

  @Example
  void itIsForgotten() {
    LoginThrottle throttle = new LoginThrottle();
    fail(throttle, "cart", "10.0.0.1", 100);
    long later = START;
    later += LoginThrottle.FORGET_NANOS + 1; // System.nanoTime may overflow
    throttle.failed("cart", "10.0.0.1", later);
    assertThat(throttle.pauseNanos("cart", "10.0.0.1", later)).isZero();
  }

  @Property(tries = 20)
  void tables_areBounded_andKeepWhoFailsMost(@ForAll @IntRange(min = 1, max = 50) int places) {
    LoginThrottle throttle = new LoginThrottle(places);
    for (int i = 0; i < 1_000; i++) {
      throttle.failed("nobody" + i, "10.0." + (i >> 8) + "." + (i & 255), START);
      throttle.failed("cart", "10.6.6.6", START);
      throttle.succeeded("user" + i, "10.1.1.1");
    }
    assertThat(throttle.size()).isLessThanOrEqualTo(3 * places);
    if (places > 1) {
      assertThat(throttle.pauseNanos("cart", "10.6.6.6", START)).isPositive();
    }
  }

  @Example
  void longNames_takeNoMoreRoomThanOthers() {
    LoginThrottle throttle = new LoginThrottle();
    fail(throttle, "x".repeat(1_000), "10.0.0.1", 20);
    assertThat(throttle.pauseNanos("x".repeat(64), "10.0.0.2", START)).isPositive();
  }
}
