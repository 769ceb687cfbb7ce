package io.osier.proxy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients whose cache follows changes, step by step: which questions they ask, whom and when. */
final class ChangeFollowerTest {
  /** Reads are answered at once; those who ask for changes when the test says so. */
  private final class Dc extends SteppedConnection {
    private final Queue<Answered> watchers = new ArrayDeque<>();
    private @Nullable WatchRequest last;
    private int reads;
    private int lifetimes;
    private long tick;
    private long life = 1;

    Dc(String name, double roundTrip) {
      super(name, roundTrip);
      keyspaces =
          List.of(
              new Reply.KeyspaceInfo("k", 1_000, 1, false),
              new Reply.KeyspaceInfo("c", 1_000, 1, true));
    }

    @Override
    public void send(Request request, long nowNanos, long deadlineNanos, Answered answered) {
      switch (request) {
        case WatchRequest w -> {
          last = w;
          watchers.add(answered);
        }
        case Request.Read r -> {
          boolean lifetime = r.query() instanceof Query.UntilExpiry;
          reads += lifetime ? 0 : 1;
          lifetimes += lifetime ? 1 : 0;
          answered.answered(
              new Reply.Answer(
                  CrdtType.PN_COUNTER,
                  new Reading.Count(lifetime ? -1 : value),
                  VersionVector.of(new ReplicaId("eu", 1), value)));
        }
        default -> throw new UnsupportedOperationException(request.toString());
      }
    }

    void tells(String... changed) {
      tick += changed.length;
      watchers
          .remove()
          .answered(
              new Reply.Changes(
                  List.of(changed).stream()
                      .map(k -> new Reply.Change(Key.of(k), Optional.empty(), Optional.empty()))
                      .toList(),
                  List.of(
                      new WatchRequest.Place(life, tick, VersionVector.EMPTY, Optional.empty())),
                  true));
    }

    void refuses(ErrorCode code) {
      watchers.remove().answered(new Reply.Failure(code, "as the test wants"));
    }

    void isLost() {
      watchers.remove().lost(new LostException(ErrorCode.UNAVAILABLE, true, "lost"));
    }

    @Override
    public void close() {
      up = false;
      List.copyOf(watchers).forEach(w -> isLost());
    }
  }

  private final Steps steps = new Steps();
  private final Dc eu = new Dc("eu", 1);
  private final Dc us = new Dc("us", 80);
  private long value = 1;
  private @Nullable Runnable changed;
  private final OsierClient client =
      SteppedClient.of(
          OsierClient.builder()
              .endpoint("eu", "nowhere")
              .endpoint("us", "nowhere")
              .pingInterval(Duration.ofMillis(500))
              .cache(Duration.ofMillis(10), 100)
              .cacheFollowing("k", "a", Duration.ofHours(1))
              .cacheFollowing("c", "", Duration.ofHours(1)),
          steps,
          change -> {
            changed = change;
            return List.of(eu, us);
          });
  private final Session session = client.session();

  private long get() {
    return get(session);
  }

  private static long get(Session by) {
    return by.keyspace("k").counter("a:1").get();
  }

  /** The counter is kept on eu's word. */
  private void follow() {
    get();
    eu.tells();
    assertComesToBeKept();
  }

  /** It is asked for, used again, and then it is known that it does not expire. */
  private void assertComesToBeKept() {
    steps.pass(20);
    get();
    get();
    steps.pass(20);
    assertKept();
  }

  private void assertKept() {
    int before = eu.reads + us.reads;
    get();
    assertThat(eu.reads + us.reads).isEqualTo(before);
  }

  private void assertNotKept() {
    steps.pass(20);
    int before = eu.reads + us.reads;
    assertThat(get()).isEqualTo(value);
    assertThat(eu.reads + us.reads).isEqualTo(before + 1);
  }

  /** The nearest would refuse to watch what it does not hold. */
  @Test
  void keyspaceThatTheNearestDoesNotHold_isFollowedWhereItIsRead() {
    eu.keyspaces = List.of();
    get();
    assertThat(eu.watchers).isEmpty();
    us.tells();
    assertComesToBeKept();
    us.tells("a:1");
    assertNotKept();
  }

  @Test
  void oneWatcher_servesAllSessions_andBeginsWithTheFirstRead() {
    session.keyspace("k").counter("b").get();
    session.keyspace("c").counter("a:1").get();
    assertThat(eu.watchers).as("neither of the prefix, nor of a session keyspace").isEmpty();
    follow();
    Session other = client.session();
    get(other);
    assertThat(eu.watchers).hasSize(1);
    assertThat(requireNonNull(eu.last).key()).contains(Key.of("a"));
    assertThat(eu.lifetimes).isEqualTo(1);
    value++;
    eu.tells("a:1");
    assertThat(get()).isEqualTo(2);
    assertThat(get(other)).isEqualTo(2);
  }

  @Test
  void lostConnection_letsNothingHold_untilItGoesOn() {
    follow();
    eu.isLost();
    assertNotKept();
    steps.pass(100);
    assertThat(requireNonNull(eu.last).places()).as("it goes on where it was").isNotEmpty();
    eu.tells("a:2");
    assertComesToBeKept();
  }

  @ParameterizedTest
  @EnumSource(names = {"WATCHER_TOO_SLOW", "HISTORY_TOO_SHORT", "SESSION_LOST"})
  void cutOff_beginsAnew(ErrorCode code) {
    follow();
    eu.tells();
    eu.refuses(code);
    value++; // of which it is not told
    assertNotKept();
    steps.pass(100);
    assertThat(requireNonNull(eu.last).places()).isEmpty();
    eu.tells();
    assertNotKept();
    assertComesToBeKept();
  }

  @Test
  void cutOffAgainAndAgain_pausesForLonger() {
    get();
    for (int pause = 100; pause < 5_000; pause *= 2) {
      eu.tells();
      eu.refuses(ErrorCode.WATCHER_TOO_SLOW);
      steps.pass(pause - 1);
      assertThat(eu.watchers).isEmpty();
      steps.pass(1);
      assertThat(eu.watchers).hasSize(1);
    }
  }

  @Test
  void whoMayNotWatch_hasAPlainCache() {
    get();
    eu.refuses(ErrorCode.FORBIDDEN);
    assertKept();
    assertNotKept();
    assertThat(eu.watchers).isEmpty();
    steps.pass(30_000);
    eu.tells(); // it was given the right
    assertComesToBeKept();
  }

  @Test
  void otherDatacenter_isFollowedWhereTheClientGoes() {
    follow();
    eu.up = false;
    eu.isLost();
    requireNonNull(changed).run();
    steps.pass(100);
    assertThat(requireNonNull(us.last).places()).isEmpty();
    us.tells();
    assertNotKept();
    assertComesToBeKept();
    eu.up = true;
    requireNonNull(changed).run();
    us.tells("a:2"); // what was asked before
    assertThat(us.watchers).isEmpty();
    assertThat(eu.watchers).as("back again").hasSize(1);
    assertThat(requireNonNull(eu.last).places()).isEmpty();
  }

  /** Nothing was lost, but the process counts anew. */
  @Test
  void startedAgain_beginsAnew() {
    follow();
    eu.isLost();
    eu.life++;
    steps.pass(100);
    eu.tells("a:1");
    assertNotKept();
    steps.pass(200);
    assertThat(requireNonNull(eu.last).places()).isEmpty();
  }

  @Test
  void pinnedElsewhere_isAnsweredThere() {
    follow();
    session.pin("us");
    assertThat(get()).isEqualTo(1);
    assertThat(us.reads).isEqualTo(1);
    eu.tells();
    assertNotKept();
    assertNotKept();
  }

  @Test
  void end_endsIt() {
    follow();
    client.close();
    assertThat(eu.watchers).isEmpty();
    assertThat(us.watchers).isEmpty();
    steps.pass(60_000);
    assertThat(eu.watchers).isEmpty();
  }
}
