package io.osier.datacenter.redis.pubsub;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class ChangeWatchesTest {
  private static final byte[] WORD = "cart:*".getBytes(US_ASCII);

  private final List<WatchRequest> asked = new ArrayList<>();
  private final List<Consumer<Reply>> waiting = new ArrayList<>();
  private final List<Reply> taken = new ArrayList<>();
  private final ChangeWatches watches =
      new ChangeWatches(
          (request, reply) -> {
            asked.add(request);
            waiting.add(reply);
          });

  private static Reply.Changes changes(long tick, String... keys) {
    return new Reply.Changes(
        List.of(keys).stream()
            .map(k -> new Reply.Change(Key.of(k), Optional.empty(), Optional.empty()))
            .toList(),
        List.of(new WatchRequest.Place(1, tick, VersionVector.EMPTY, Optional.empty())),
        true);
  }

  private void tell(Reply reply) {
    waiting.removeFirst().accept(reply);
  }

  private RespValue.Push poll() {
    return requireNonNull(watches.poll(taken::add));
  }

  private static String text(RespValue.Push push, int part) {
    return new String(((RespValue.Bulk) push.values().get(part)).bytes(), US_ASCII);
  }

  @Test
  void watcher_asksOnFromWhereItWasTold_onceThatIsTaken() {
    watches.watch("shop", WORD, List.of(), false);
    watches.ask();
    watches.ask();
    assertThat(asked).hasSize(1);
    assertThat(asked.getFirst().waitMillis()).isZero();
    tell(changes(7));
    assertThat(watches.mayAsk()).as("before it was sent").isFalse();
    poll();
    watches.ask();
    assertThat(asked.getLast().places()).extracting(WatchRequest.Place::tick).containsExactly(7L);
    assertThat(asked.getLast().waitMillis()).isPositive();
    tell(changes(7)); // nothing has come
    assertThat(watches.poll(taken::add)).isNull();
    watches.ask();
    tell(changes(9, "cart:1"));
    assertThat(text(poll(), 0)).isEqualTo("osier.changes");
    assertThat(taken).hasSize(3);
  }

  @Test
  void watcherThatIsCutOff_saysFromWhereAnotherOneMayGoOn_andHasEnded() {
    watches.watch("shop", WORD, List.of(), false);
    watches.ask();
    tell(changes(7));
    String position = text(poll(), 2);
    watches.ask();
    tell(new Reply.Failure(ErrorCode.WATCHER_TOO_SLOW, "it was cut off"));
    RespValue.Push ended = poll();
    assertThat(text(ended, 0)).isEqualTo("osier.ended");
    assertThat(text(ended, 3)).isEqualTo(position);
    assertThat(watches.takeBehind()).isTrue();
    assertThat(watches.takeBehind()).isFalse();
    assertThat(watches.isEmpty()).isTrue();
    assertThat(watches.mayAsk()).isFalse();
  }

  @Test
  void whatIsToldToOneThatIsWatchedNoMore_isTaken_andNotSent() {
    watches.watch("shop", WORD, List.of(), false);
    watches.ask();
    watches.unwatch(word -> "shop", List.of(WORD));
    watches.watch("shop", WORD, List.of(), false); // another one of its name
    tell(changes(7, "cart:1"));
    assertThat(watches.poll(taken::add)).isNull();
    assertThat(taken).hasSize(1);
    assertThat(watches.mayAsk()).isTrue();
  }
}
