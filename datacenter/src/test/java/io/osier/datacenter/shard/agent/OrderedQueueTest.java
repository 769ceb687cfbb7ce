package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.testing.Patience;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class OrderedQueueTest {
  private final OrderedQueue lane = new OrderedQueue();
  private final List<String> done = new ArrayList<>();
  private final ArrayDeque<Runnable> reads = new ArrayDeque<>();

  private OrderedQueue.Turn turn(String name) {
    return () -> {
      done.add(name);
      return () -> {};
    };
  }

  @Test
  void turnsKeepTheirOrder_howeverTheReadsEnd() {
    lane.submit(() -> {}, reads::add, turn("a"));
    lane.submit(() -> {}, reads::add, turn("b"));
    lane.submit(turn("c"));
    reads.pollLast().run();
    assertThat(done).isEmpty();
    reads.poll().run();
    assertThat(done).containsExactly("a", "b", "c");
  }

  @Test
  void whatFollowsATurn_isDoneWithoutTheLock() throws InterruptedException {
    AtomicBoolean couldUseIt = new AtomicBoolean();
    OrderedQueue.Turn refused =
        () ->
            () -> { // a caller that is refused, and waits for another one
              Thread other =
                  Thread.ofPlatform().daemon(true).start(() -> lane.submit(() -> () -> {}));
              try {
                couldUseIt.set(other.join(Patience.LIMIT));
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            };
    lane.submit(refused);
    assertThat(couldUseIt).isTrue();
    couldUseIt.set(false);
    lane.submit(() -> {}, reads::add, refused);
    reads.poll().run();
    assertThat(couldUseIt).isTrue();
  }

  @Test
  void lanesThatAreReleasedTogether_areAllReleased_ifWhatFollowsInOneFails() {
    OrderedQueue second = new OrderedQueue();
    for (OrderedQueue each : List.of(lane, second)) {
      each.hold();
    }
    lane.submit(
        () ->
            () -> {
              throw new IllegalStateException("meant");
            });
    second.submit(() -> () -> done.add("second"));
    ArrayDeque<OrderedQueue> both = new ArrayDeque<>(List.of(lane, second));
    assertThatThrownBy(() -> OrderedQueue.releaseAll(both)).hasMessage("meant");
    assertThat(done).containsExactly("second");
    assertThat(both).isEmpty();
    assertThat(second.hold()).as("it is not held any more").isTrue();
  }

  @Test
  void whatIsHeldBack_isDoneOnce_andOneThatFailsStopsNoOther() {
    Runnable partition = () -> done.add("partition");
    assertThat(lane.hold()).isTrue();
    assertThat(lane.hold()).isFalse();
    lane.submit(() -> partition);
    lane.submit(
        () ->
            () -> {
              throw new IllegalStateException("meant");
            });
    lane.submit(() -> partition);
    lane.follow(() -> done.add("other"));
    assertThat(done).isEmpty();
    assertThatThrownBy(
            () ->
                lane.release(
                    all -> {
                      done.add("begin");
                      all.run();
                    }))
        .hasMessage("meant");
    assertThat(done).containsExactly("begin", "partition", "other");
    lane.release(all -> done.add("nothing to do"));
    lane.submit(() -> partition);
    assertThat(done).containsExactly("begin", "partition", "other", "partition");
  }

  @Test
  void readersThatHaveEnded_leaveNobodyWaiting() {
    Executor ended =
        r -> {
          throw new RejectedExecutionException("ended");
        };
    lane.submit(() -> {}, reads::add, turn("a"));
    lane.submit(() -> {}, ended, turn("b"));
    lane.submit(turn("c"));
    reads.poll().run();
    assertThat(done).containsExactly("a", "b", "c");
  }

  @Test
  void turnsBehindARead_areAllFollowed_ifWhatFollowsOneFails() {
    lane.submit(() -> {}, reads::add, failing("first"));
    lane.submit(() -> () -> done.add("b"));
    lane.submit(failing("second"));
    assertThatThrownBy(() -> reads.poll().run())
        .hasMessage("first")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    assertThat(done).containsExactly("b");
  }

  @Test
  void turnsBehindOneThatFails_areTaken_andTheLaneIsFreeAgain() {
    lane.submit(
        () -> {},
        reads::add,
        () -> {
          throw new IllegalStateException("meant");
        });
    lane.submit(turn("b"));
    assertThatThrownBy(() -> reads.poll().run()).hasMessage("meant");
    lane.submit(turn("c"));
    assertThat(done).containsExactly("b", "c");
  }

  private static OrderedQueue.Turn failing(String message) {
    return () ->
        () -> {
          throw new IllegalStateException(message);
        };
  }
}
