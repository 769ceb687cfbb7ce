package io.osier.datacenter.redis.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.frontend.Turn;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections of one loop take turns, whatever they send: in front of who answers at once. */
final class TurnTest {
  private static final String MUCH = "much";
  private static final int OTHERS = 4;
  private static final int GREEDY = 24;
  private static final int COMMANDS = 6_000;

  /** Then others send something: what is read at once of who sends much has grown by then. */
  private static final int BEGUN = 30_000;

  /** How many commands each loop has taken of those who send much. */
  private final Map<Thread, AtomicInteger> taken = new ConcurrentHashMap<>();

  /** The loop that has taken enough. */
  private final AtomicReference<@Nullable Thread> full = new AtomicReference<>();

  /** How many it had taken before it came to the others that it serves. */
  private final Map<String, Integer> takenBefore = new ConcurrentHashMap<>();

  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch othersHaveSent = new CountDownLatch(1);

  private final ClientService handler =
      new ServedClients.Handler() {
        @Override
        public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
          String key = ((Request.Read) request).key().toString();
          Thread loop = Thread.currentThread();
          AtomicInteger count = taken.computeIfAbsent(loop, l -> new AtomicInteger());
          if (key.equals(MUCH)) {
            if (count.incrementAndGet() == BEGUN && full.compareAndSet(null, loop)) {
              begun.countDown();
              await(othersHaveSent);
            }
          } else if (loop == full.get()) {
            takenBefore.put(key, count.get());
          }
          reply.accept(
              new Reply.Answer(
                  Optional.of(CrdtType.STRING),
                  Optional.of(new Reading.Single(Optional.of(Value.of("v")))),
                  true,
                  VersionVector.EMPTY));
        }
      };

  private final ClientServer server =
      ServedClients.start(PortLimits.DEFAULT, UserLimits.NONE, () -> Users.OPEN, handler);

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void command_ofOneConnection_comesBetweenTheTurnsOfOthersThatSendMuch() throws Exception {
    RedisPort redis =
        new RedisPort(Map.of(), handler, ServedClients.around(ServedClients.pushes()));
    int port = server.listen(ServedClients.anyPort(), redis).address().getPort();
    List<AutoCloseable> all = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    try {
      List<RawRedis> others = new ArrayList<>();
      for (int i = 0; i < OTHERS; i++) { // some at each loop
        others.add(new RawRedis(port));
        assertThat(others.get(i).ask("GET other")).isEqualTo("v");
      }
      all.addAll(others);
      for (int i = 0; i < GREEDY; i++) {
        Socket much = new Socket(InetAddress.getLoopbackAddress(), port);
        all.add(much);
        threads.add(Thread.startVirtualThread(() -> send(much)));
        threads.add(Thread.startVirtualThread(() -> drop(much)));
      }
      await(begun);
      for (int i = 0; i < OTHERS; i++) {
        others.get(i).commands("GET other" + i);
      }
      othersHaveSent.countDown();
      for (RawRedis other : others) {
        assertThat(other.read()).isEqualTo("v");
      }
      // Two turns of each at its loop, and those that one task of the loop has.
      int most = BEGUN + (GREEDY + 5) * Turn.REQUESTS_MAX;
      assertThat(takenBefore).isNotEmpty();
      assertThat(takenBefore.values()).allSatisfy(n -> assertThat(n).isLessThanOrEqualTo(most));
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(taken.values().stream().mapToInt(AtomicInteger::get).sum())
          .isEqualTo(GREEDY * COMMANDS);
    } finally {
      for (AutoCloseable each : all) {
        each.close();
      }
    }
  }

  private static void send(Socket to) {
    try {
      to.getOutputStream()
          .write("*2\r\n$3\r\nGET\r\n$4\r\nmuch\r\n".repeat(COMMANDS).getBytes(ISO_8859_1));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void drop(Socket from) {
    try {
      from.setSoTimeout((int) Patience.LIMIT.toMillis());
      from.getInputStream().skipNBytes(7L * COMMANDS);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
