package io.osier.proxy;

import static io.osier.proxy.Steps.codeOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Watchers of a client without a network, a thread or a clock: the test makes every step. */
final class SteppedWatchTest {
  private final Steps steps = new Steps();
  private final Far eu = new Far("eu", 1);
  private final Far us = new Far("us", 80);
  private int observed;
  private final OsierClient client =
      steps.client(
          OsierClient.builder()
              .observer(
                  (keyspace, update) -> {
                    observed++;
                    return ClientObserver.IGNORED;
                  }),
          eu,
          us);
  private final Keyspace k = client.session().keyspace("k");

  private Watch.Watching watching(String key) {
    return k.watch(key).on(Runnable::run).listen(told -> {});
  }

  /** Whoever is overloaded is not helped by being asked five times a second by each watcher. */
  @Test
  void watcherThatIsRefused_asksMoreAndMoreSeldom_andGoesOnWhenItIsAnswered() {
    Watch.Watching waits = watching("a");
    int asked = 0;
    for (int i = 0; i < 60_000; i++) {
      if (!eu.open.isEmpty()) {
        eu.fails(ErrorCode.OVERLOADED);
        asked++;
      }
      steps.pass(1);
    }
    assertThat(asked).isBetween(12, 20);
    steps.pass(5_000);
    assertThat(eu.open).hasSize(1);
    assertThat(waits.ended()).isNotDone();
    waits.close();
  }

  /** They would keep all others from being sent: each waits as long as there is no news. */
  @Test
  void watchers_takeNoRoomFromCalls_andAreNotObserved() {
    for (int i = 0; i < 20; i++) { // of 10 calls at once
      assertThat(watching("w" + i).ended()).isNotDone();
    }
    assertThat(eu.open).hasSize(20);
    eu.open.clear();
    assertThat(observed).isZero();
    for (int i = 0; i < 10; i++) {
      k.counter("c").incrementAsync(1);
    }
    assertThat(eu.open).hasSize(10);
    assertThat(observed).isEqualTo(10);
  }

  @Test
  void closing_doesNotWaitForWatchers_andEndsThem() {
    Watch.Watching waits = watching("a");
    Watch.Watching pauses = watching("b");
    Far.Sent first = eu.open.remove();
    eu.fails(ErrorCode.OVERLOADED);
    assertThat(pauses.ended()).isNotDone();
    assertThat(client.close(Duration.ofSeconds(1))).isTrue();
    first.answered().lost(new LostException(ErrorCode.UNAVAILABLE, true, "closed"));
    assertThat(codeOf(waits.ended())).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(codeOf(pauses.ended())).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  /** Another session was told of it, perhaps elsewhere, and here it may not have come yet. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void readsWait_forWhatAWatcherHadBeenTold_thatGoesOnFromThere(boolean prefix) {
    VersionVector here = VersionVector.of(eu.replica, 1);
    VersionVector told = VersionVector.of(us.replica, 9);
    CompletableFuture<Long> first = k.counter("c").getAsync();
    eu.answers(1, here);
    WatchRequest.Place place = new WatchRequest.Place(7, 1, told, Optional.empty());
    Watch watch = prefix ? k.changes() : k.watch("c");
    Watch.Watching watching =
        watch.from(new WatchPosition(List.of(place))).on(Runnable::run).listen(changes -> {});
    Far.Sent asked = eu.open.remove();
    CompletableFuture<Long> underWay = k.counter("c").getAsync();
    WatchRequest.Place now = new WatchRequest.Place(8, 3, told.join(here), Optional.empty());
    asked.answered().answered(new Reply.Changes(List.of(), List.of(now), true));
    assertThat(eu.answers(1, here).after()).as("sent before").isEqualTo(VersionVector.EMPTY);
    Far.Sent askedOn = eu.open.remove();
    CompletableFuture<Long> waits = k.counter("c").getAsync();
    assertThat(eu.answers(1, here).after()).isEqualTo(told.join(here));
    askedOn.answered().answered(new Reply.Changes(List.of(), List.of(now), true));
    eu.open.remove();
    CompletableFuture<Long> later = k.counter("c").getAsync();
    assertThat(eu.answers(1, here).after()).as("eu has it").isEqualTo(VersionVector.EMPTY);
    assertThat(List.of(first, underWay, waits, later)).allSatisfy(c -> assertThat(c).isCompleted());
    assertThat(watching.ended()).isNotDone();
  }

  /** As when an application ends its threads before its client. */
  @Test
  void watcherWhoseExecutorRefuses_ends() {
    Queue<Runnable> signals = new ArrayDeque<>();
    boolean[] open = {true};
    Executor executor =
        signal -> {
          if (!open[0]) {
            throw new RejectedExecutionException("shut down");
          }
          signals.add(signal);
        };
    Watch.Watching later = k.watch("a").on(executor).listen(told -> {});
    signals.remove().run();
    assertThat(later.ended()).isNotDone();
    open[0] = false;
    eu.fails(ErrorCode.FORBIDDEN);
    assertThat(later.ended()).isCompletedExceptionally();
    assertThat(catchThrowable(() -> later.ended().join()))
        .hasCauseInstanceOf(RejectedExecutionException.class);
    Watch.Watching atOnce = k.watch("a").on(executor).listen(told -> {});
    assertThat(atOnce.begun()).isCompletedExceptionally();
    assertThat(atOnce.ended()).isCompletedExceptionally();
    assertThat(eu.open).isEmpty();
  }

  /** It would ask for ever: the session's past does not change. */
  @Test
  void watcherOfAll_whereTheSessionKnowsTheKeyspaceWithoutHomes_isToldSo() {
    CompletableFuture<Long> read = k.counter("c").getAsync();
    eu.answers(1, VersionVector.of(eu.replica, 1));
    assertThat(read).isCompleted();
    eu.keyspaces = List.of(HolderRoutesFixture.homed("k", "ap"));
    Watch.Watching waits = k.changes().on(Runnable::run).listen(told -> {});
    assertThat(codeOf(waits.ended())).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(catchThrowable(waits.ended()::join)).hasMessageContaining("homes");
  }
}
