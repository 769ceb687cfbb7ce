package io.osier.datacenter.shard.agent;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.datacenter.shard.TestShards;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.testing.Faked;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What a request gets that comes when a graceful stop has closed the store already. */
final class StoppingTest {
  private static final OrderedQueue LANE = new OrderedQueue();

  /** A store with nothing in memory. */
  private static ObjectStore cold() {
    MemoryStore empty = new MemoryStore();
    return Faked.of(
        ObjectStore.class,
        (self, method, arguments) ->
            switch (method.getName()) {
              case "isCached" -> false;
              case "durablyStored" -> Optional.empty();
              default -> method.invoke(empty, arguments);
            });
  }

  private static RequestHandler stopping() {
    KeyspacePolicy policy = KeyspacePolicy.session("shop", Duration.ofSeconds(2));
    PartitionRunner runner =
        TestShards.runner(
            new PartitionPorts(
                "shop-0",
                new PartitionRunnerFixture.Script(),
                cold(),
                Journal.NONE,
                (to, frame) -> {}),
            10,
            new SlewedClock(Time.wallMillis(), System.nanoTime()),
            failure -> {});
    runner.start();
    runner.refuse();
    runner.stop();
    ExecutorService readers = Executors.newSingleThreadExecutor();
    readers.shutdown();
    return TestShards.handler(
        Map.of("shop", TestShards.alone(policy, List.of(runner), readers)),
        open -> new Reply.Keyspaces(List.of()),
        Optional.empty());
  }

  private static ErrorCode answer(RequestHandler to, Request request) {
    AtomicReference<Reply> reply = new AtomicReference<>();
    to.handle(request, LANE, reply::set);
    return ((Reply.Failure) requireNonNull(reply.get())).code();
  }

  @Test
  void readsAndScans_areTold_thatItShutsDown() {
    RequestHandler handler = stopping();
    Request read = Requests.read("shop", Key.of("k"), CrdtType.PN_COUNTER, new Query.Whole());
    Request scan =
        new ScanRequest("shop", Optional.empty(), Optional.empty(), new Query.Whole(), 10);
    assertThat(answer(handler, read)).isEqualTo(ErrorCode.SHUTTING_DOWN);
    assertThat(answer(handler, read)).as("nobody is stuck").isEqualTo(ErrorCode.SHUTTING_DOWN);
    assertThat(answer(handler, scan)).isEqualTo(ErrorCode.SHUTTING_DOWN);
  }
}
