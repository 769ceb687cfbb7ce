package io.osier.datacenter.redis.tracking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Key;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.feed.ChangeListener.Changed;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.RedisException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What clients are told, in scenes. */
final class TrackingTest {
  private static final long BYTES = 64 << 20;

  private final Tracking tracking = new Tracking(BYTES, 1);
  private final TrackedClient one = tracking.client(() -> {});
  private final TrackedClient two = tracking.client(() -> {});

  private static TrackingOptions options(String words) {
    List<byte[]> all = new ArrayList<>();
    for (String word : ("CLIENT TRACKING ON " + words).trim().split(" ")) {
      all.add(word.getBytes(StandardCharsets.US_ASCII));
    }
    return TrackingOptions.parse(all.toArray(byte[][]::new));
  }

  private void on(TrackedClient client, String words, @Nullable TrackedClient target) {
    tracking.on(client, options(words), "shop", target);
  }

  private void read(TrackedClient client, String key) {
    tracking.read(client, "shop", List.of(Key.of(key)));
  }

  private void changed(String... keys) {
    List<Changed> all = new ArrayList<>();
    for (String key : keys) {
      all.add(new Changed(Key.of(key), 0));
    }
    tracking.of("shop").changed(all);
  }

  private List<String> told(TrackedClient client, boolean resp3, boolean subscribed) {
    List<String> told = new ArrayList<>();
    RespValue.Push next;
    while ((next = tracking.poll(client, resp3, subscribed)) != null) {
      told.add(text(next));
    }
    return told;
  }

  private static String text(RespValue value) {
    return switch (value) {
      case RespValue.Many v -> v.values().stream().map(TrackingTest::text).toList().toString();
      case RespValue.Bulk v -> RespDecoder.text(v.bytes());
      case RespValue.Int v -> String.valueOf(v.value());
      default -> "null";
    };
  }

  private List<String> told(TrackedClient client) {
    return told(client, true, false);
  }

  /** There are caches that do not understand that all is to be forgotten. */
  @Test
  void flush_isToldAtOnce_andEachKeyAsWell() {
    on(one, "", null);
    read(one, "a");
    read(one, "absent");
    tracking.flush("shop");
    tracking.flush("carts");
    changed("a");
    tracking.forget("shop");
    assertThat(told(one))
        .containsExactly("[invalidate, null]", "[invalidate, [a]]", "[invalidate, [absent]]");
    assertThat(tracking.figures()).isEqualTo(new Tracking.Figures(1, 0, 0, 0));
  }

  @Test
  void whoDoesNotReadWhatItIsTold_isToldOfEverything_andTakesNoMore() {
    on(one, "BCAST", null);
    long before = tracking.bytes();
    for (int i = 0; i < 100_000; i++) {
      changed("key:" + i);
      assertThat(tracking.bytes() - before).isLessThan(TrackedClient.WAITING_BYTES_MAX + 1);
    }
    for (int i = 0; i < 100_000; i++) {
      tracking.flush("shop");
      assertThat(tracking.bytes() - before).isLessThan(TrackedClient.WAITING_BYTES_MAX + 1);
    }
    assertThat(told(one)).containsExactly("[invalidate, null]");
    changed("a", "b", "a");
    assertThat(told(one)).containsExactly("[invalidate, [a, b]]");
    tracking.off(one);
    assertThat(tracking.bytes()).isZero();
  }

  @Test
  void moreKeysThanThereIsRoomFor_theFirstAreTold() {
    Tracking small = new Tracking(100_000, 1);
    TrackedClient client = small.client(() -> {});
    small.on(client, options(""), "shop", null);
    List<String> told = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      small.read(client, "shop", List.of(Key.of("key:" + i)));
      assertThat(small.bytes()).isLessThanOrEqualTo(100_000);
      RespValue.Push next;
      while ((next = small.poll(client, true, false)) != null) {
        told.add(text(next));
      }
    }
    assertThat(told).hasSizeBetween(9_000, 9_900).startsWith("[invalidate, [key:0]]");
    assertThat(small.figures().keys()).isEqualTo(10_000 - told.size());
  }

  @Test
  void prefixes_thatOverlap_areRefused_andNothingOfThemIsKept() {
    assertThatThrownBy(() -> options("BCAST PREFIX FOOBAR PREFIX X PREFIX FOO"))
        .isInstanceOf(RedisException.class)
        .hasMessageStartingWith("ERR Prefix 'FOOBAR' overlaps with another provided prefix 'FOO'");
    on(one, "BCAST PREFIX FOO PREFIX BAR", null);
    for (String each : List.of("FO", "FOO", "FOOD")) {
      assertThatThrownBy(() -> on(one, "BCAST PREFIX Y PREFIX " + each, null))
          .hasMessageStartingWith("ERR Prefix '" + each + "' overlaps with an existing prefix 'F");
    }
    assertThat(tracking.prefixes(one)).hasToString("[BAR, FOO]");
    assertThatThrownBy(() -> on(one, "", null)).hasMessageContaining("switch BCAST mode");
    StringBuilder many = new StringBuilder("BCAST");
    for (int i = 0; i <= TrackingTable.PREFIXES_MAX; i++) {
      many.append(" PREFIX p").append(i).append(':');
    }
    assertThatThrownBy(() -> on(two, many.toString(), null)).hasMessageContaining("at most");
    assertThat(tracking.figures().prefixes()).isEqualTo(2);
    tracking.off(one);
    assertThat(tracking.bytes()).isZero();
  }

  @Test
  void redirect_bySubscription_orPush_untilTheOtherOneIsGone() {
    on(one, "REDIRECT 2", two);
    read(one, "a");
    changed("a");
    assertThat(told(one)).isEmpty();
    assertThat(told(two, false, true)).containsExactly("[message, __redis__:invalidate, [a]]");
    read(one, "a");
    read(one, "b");
    changed("a");
    assertThat(told(two, false, false)).as("nobody listens").isEmpty();
    tracking.leave(two);
    assertThat(one.isBroken()).isTrue();
    changed("b");
    assertThat(told(one)).containsExactly("[tracking-redir-broken, 2]");
    assertThat(one.flags()).containsExactly("on", "broken_redirect");
    on(one, "", null);
    read(one, "c");
    changed("c");
    assertThat(told(one)).containsExactly("[invalidate, [c]]");
  }

  @Test
  void tooMuch_stopsNobodyElseFromHearingByTheSameConnection() {
    on(two, "BCAST", null);
    on(one, "REDIRECT 2", two);
    read(one, "a");
    changed("a");
    for (int i = 0; i < 20_000; i++) {
      changed("key:" + i);
    }
    assertThat(told(two, false, true)).containsExactly("[message, __redis__:invalidate, null]");
  }

  @Test
  void noLoop_isNotToldOfItsOwn_butOfWhatOthersDoBeside() {
    on(one, "BCAST NOLOOP", null);
    long own = one.author();
    Key a = Key.of("a");
    Key b = Key.of("b");
    ChangeListener shop = tracking.of("shop");
    shop.changed(List.of(new Changed(a, own)));
    assertThat(told(one)).isEmpty();
    shop.changed(List.of(new Changed(a, 0), new Changed(a, own), new Changed(b, own)));
    shop.changed(List.of(new Changed(b, own), new Changed(b, own + 1)));
    assertThat(told(one)).containsExactly("[invalidate, [a]]", "[invalidate, [b]]");
  }

  /** A client of the same number must not be told what a former one has read. */
  @Test
  void off_andOnAgain_whatWasReadBeforeIsNotTold() {
    on(one, "", null);
    read(one, "a");
    changed("x");
    tracking.off(one);
    on(one, "", null);
    changed("a");
    assertThat(told(one)).isEmpty();
  }
}
