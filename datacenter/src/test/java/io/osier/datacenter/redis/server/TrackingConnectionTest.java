package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.protocol.Reply;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Connections that have caches, in front of partitions that answer and tell when the test wants.
 */
final class TrackingConnectionTest extends PubSubConnections {
  private void changed(String keyspace, String... keys) {
    tracking
        .of(keyspace)
        .changed(Arrays.stream(keys).map(k -> new ChangeListener.Changed(Key.of(k), 0)).toList());
  }

  /** Otherwise a client would keep what it was told of before. */
  @Test
  void changeWhileAReadIsUnderWay_isToldBehindItsAnswer() throws Exception {
    RawRedis redis = connect(true);
    assertThat(redis.ask("CLIENT TRACKING ON")).isEqualTo("+OK");
    redis.commands("GET a", "GET b");
    Consumer<Reply> a = next();
    Consumer<Reply> b = next();
    changed("shop", "a");
    b.accept(answer("2"));
    a.accept(answer("1"));
    assertThat(redis.read()).isEqualTo("1");
    assertThat(redis.read()).isEqualTo("2");
    assertThat(redis.read()).isEqualTo(">[invalidate, [a]]");
    changed("shop", "a");
    changed("carts", "b");
    changed("shop", "b");
    assertThat(redis.ask("PING")).as("it was told first").isEqualTo(">[invalidate, [b]]");
    assertThat(redis.read()).isEqualTo("+PONG");
  }

  @Test
  void whatExecReads_isTold_andWhatItWritesOnlyIsNot() throws Exception {
    RawRedis redis = connect(true);
    redis.ask("CLIENT TRACKING ON");
    redis.commands("MULTI", "GET a", "SET b 1", "EXEC");
    redis.read();
    redis.read();
    redis.read();
    next().accept(new Reply.Evaluated(true, Optional.empty(), List.of()));
    redis.read();
    changed("shop", "b");
    changed("shop", "a");
    assertThat(redis.ask("PING")).isEqualTo(">[invalidate, [a]]");
    assertThat(redis.read()).isEqualTo("+PONG");
  }

  @Test
  void watcherThatFallsBehind_isToldSo_andItsConnectionEnds() throws Exception {
    RawRedis redis = connect(true);
    assertThat(redis.ask("OSIER.WATCH a*")).isEqualTo("[osier.watch, a*, :1]");
    next().accept(new Reply.Failure(ErrorCode.WATCHER_TOO_SLOW, "it was cut off"));
    assertThat(redis.read()).isEqualTo(">[osier.ended, a*, WATCHER_TOO_SLOW it was cut off, _]");
    assertThat(redis.hasEnded()).isTrue();
  }

  @Test
  void watcherOfWhatMayNotBeRead_hasEnded_andOthersGoOn() throws Exception {
    grant("read shop b");
    RawRedis redis = connect(true);
    assertThat(redis.ask("OSIER.WATCH *")).isEqualTo("[osier.watch, *, :1]");
    assertThat(redis.read()).startsWith(">[osier.ended, *, FORBIDDEN ").contains("read shop");
    assertThat(redis.ask("OSIER.WATCH b*")).isEqualTo("[osier.watch, b*, :1]");
    next().accept(new Reply.Changes(List.of(), List.of(), true));
    assertThat(redis.read()).startsWith(">[osier.changes, b*, ");
    grant("read shop c");
    next().accept(new Reply.Changes(List.of(), List.of(), true)); // as when rights change
    assertThat(redis.read()).startsWith(">[osier.ended, b*, FORBIDDEN ");
    assertThat(redis.ask("PING")).isEqualTo("+PONG");
  }

  @Test
  void tracking_beginsOnceChangesAreHeardOf() throws Exception {
    hears = false;
    try (RawRedis redis = connect(true)) {
      redis.commands("CLIENT TRACKING ON", "GET a");
      try (RawRedis other = connect(true)) {
        while (!tracking.of("shop").isWanted()) {
          other.ask("PING");
        }
        assertThat(asked).isEmpty();
        tracking.of("carts").missed();
        other.ask("PING");
        assertThat(asked).isEmpty();
      }
      hears = true;
      tracking.of("shop").missed();
      assertThat(redis.read()).isEqualTo("+OK");
      next().accept(answer("1"));
      assertThat(redis.read()).isEqualTo("1");
      changed("shop", "a");
      assertThat(redis.read()).isEqualTo(">[invalidate, [a]]");
    }
    hears = false;
    try (RawRedis redis = connect(true)) { // and goes
      redis.commands("CLIENT TRACKING ON");
    }
  }

  @Test
  void resp2_hearsByTheChannel_untilTheOtherConnectionIsGone() throws Exception {
    RawRedis redis = connect(false);
    assertThat(redis.ask("CLIENT TRACKING ON REDIRECT 12345")).contains("does not exist");
    assertThat(redis.ask("CLIENT TRACKING ON REDIRECT +5")).contains("Invalid client ID");
    try (RawRedis hearing = connect(false)) {
      String id = hearing.ask("CLIENT ID").substring(1);
      hearing.ask("SUBSCRIBE __redis__:invalidate");
      assertThat(redis.ask("CLIENT TRACKING ON OPTIN REDIRECT " + id)).isEqualTo("+OK");
      assertThat(redis.ask("CLIENT GETREDIR")).isEqualTo(":" + id);
      assertThat(redis.ask("CLIENT CACHING NO")).contains("OPTOUT");
      redis.commands("GET not", "CLIENT CACHING YES", "GET a", "GET b", "CLIENT CACHING YES");
      next().accept(answer("0"));
      next().accept(answer("1"));
      next().accept(answer("2"));
      changed("shop", "not", "a", "b");
      assertThat(hearing.read()).isEqualTo("[message, __redis__:invalidate, [a]]");
      tracking.flush("shop");
      assertThat(hearing.read()).isEqualTo("[message, __redis__:invalidate, null]");
      for (String each : List.of("0", "+OK", "1", "2", "+OK")) {
        assertThat(redis.read()).isEqualTo(each);
      }
      assertThat(redis.ask("CLIENT TRACKINGINFO"))
          .isEqualTo("[flags, [on, optin, caching-yes], redirect, :" + id + ", prefixes, []]");
    }
    while (!redis.ask("CLIENT TRACKINGINFO").contains("broken_redirect")) {
      Thread.onSpinWait();
    }
    assertThat(redis.ask("CLIENT INFO")).contains("flags=NtR");
  }

  /** Sends a command that tracks while nothing is heard of, and comes back once it waits. */
  private void startsToTrack(RawRedis redis, RawRedis other, String options) throws IOException {
    hears = false;
    redis.commands("CLIENT TRACKING ON " + options);
    while (!tracking.of("shop").isWanted()) {
      other.ask("PING");
    }
  }

  private void changesAreHeardOf() {
    hears = true;
    tracking.of("shop").missed();
  }

  /** Else its cache would be old for ever, and what nobody hears would be kept. */
  @Test
  void whoIsToHearAndGoesBeforeTrackingBegins_isMissed() throws Exception {
    RawRedis redis = connect(true);
    RawRedis other = connect(true);
    RawRedis hearing = connect(true);
    String id = hearing.ask("CLIENT ID").substring(1);
    startsToTrack(redis, other, "REDIRECT " + id);
    hearing.close();
    while (!other.ask("CLIENT LIST ID " + id).isEmpty()) {
      Thread.onSpinWait();
    }
    changesAreHeardOf();
    assertThat(redis.read()).isEqualTo("+OK");
    assertThat(redis.ask("PING")).isEqualTo(">[tracking-redir-broken, :" + id + "]");
  }

  /** Whose rights are looked at when they change, and not again. */
  @Test
  void whoMayNotHearAnyMoreWhenTrackingBegins_isDisconnected() throws Exception {
    grant("read shop");
    RawRedis redis = connect(true);
    RawRedis other = connect(true);
    other.ask("SUBSCRIBE a");
    startsToTrack(redis, other, "BCAST");
    grant("read shop other:");
    assertThat(other.hasEnded()).as("it was looked at").isTrue();
    changesAreHeardOf();
    assertThatThrownBy(() -> assertThat(redis.read() + redis.ask("PING")).isEmpty())
        .isInstanceOf(IOException.class);
  }

  /** The client would wait until a holder is there, and take nothing meanwhile. */
  @Test
  void whereNoHolderIsInReach_trackingIsAnError_andWhoTracksReadsAllTheSame() throws Exception {
    RawRedis all = connect(true);
    assertThat(all.ask("CLIENT TRACKING ON BCAST")).isEqualTo("+OK");
    inReach = false;
    RawRedis redis = connect(true);
    assertThat(redis.ask("CLIENT TRACKING ON")).isEqualTo("-LOADING nobody is in reach");
    assertThat(redis.ask("CLIENT TRACKINGINFO")).startsWith("[flags, [off]");
    all.commands("GET a");
    next().accept(answer("1")); // as of another home
    assertThat(all.read()).isEqualTo("1");
    inReach = true;
    hears = false;
    redis.commands("CLIENT TRACKING ON");
    while (!all.ask("PING").equals("+PONG")) {}
    inReach = false;
    tracking.of("shop").missed();
    assertThat(redis.read()).as("while it waits").isEqualTo("-LOADING nobody is in reach");
    assertThat(redis.ask("PING")).isEqualTo("+PONG");
  }

  @Test
  void resetAndCuts_leaveNothing() throws Exception {
    try (RawRedis redis = connect(true)) {
      redis.ask("CLIENT TRACKING ON BCAST PREFIX a");
      changed("shop", "a1");
      assertThat(redis.read()).isEqualTo(">[invalidate, [a1]]");
      assertThat(redis.ask("SELECT 1")).isEqualTo("+OK");
      changed("carts", "a2", "b");
      changed("shop", "a3");
      assertThat(redis.read()).isEqualTo(">[invalidate, [a2]]");
      assertThat(redis.read()).isEqualTo(">[invalidate, [a3]]");
      assertThat(redis.ask("RESET")).isEqualTo("+RESET");
      redis.ask("HELLO 3");
      changed("carts", "a2");
      assertThat(redis.ask("PING")).isEqualTo("+PONG");
      assertThat(redis.ask("CLIENT GETREDIR")).isEqualTo(":-1");
      redis.ask("CLIENT TRACKING ON BCAST");
      redis.ask("CLIENT TRACKING OFF");
      redis.ask("CLIENT TRACKING ON");
      redis.commands("GET a");
      next();
    }
    while (tracking.figures().clients() > 0) {
      Thread.onSpinWait();
    }
    assertThat(tracking.figures().prefixes()).isZero();
    changed("shop", "a");
    assertThat(tracking.figures().keys()).isZero();
  }

  @Test
  void rights_areThoseToTheKeys() throws Exception {
    grant("read shop news:", "write shop all");
    RawRedis redis = connect(true);
    assertThat(redis.ask("CLIENT TRACKING ON BCAST")).startsWith("-NOPERM");
    assertThat(redis.ask("CLIENT TRACKING ON BCAST PREFIX new")).startsWith("-NOPERM");
    assertThat(redis.ask("CLIENT TRACKING ON")).isEqualTo("+OK");
    assertThat(redis.ask("GET secret")).startsWith("-NOPERM");
    redis.commands("GET news:1");
    next().accept(answer("1"));
    assertThat(redis.read()).isEqualTo("1");
    changed("shop", "secret", "news:1");
    assertThat(redis.ask("PING")).isEqualTo(">[invalidate, [news:1]]");
    assertThat(redis.read()).isEqualTo("+PONG");
    redis.ask("CLIENT TRACKING OFF");
    assertThat(redis.ask("CLIENT TRACKING ON BCAST PREFIX news:")).isEqualTo("+OK");
    assertThat(redis.ask("SELECT 1")).startsWith("-NOPERM");
    assertThat(redis.ask("SUBSCRIBE __redis__:invalidate")).startsWith(">[subscribe");
    grant("read shop other:");
    assertThat(redis.hasEnded()).isTrue();
  }
}
