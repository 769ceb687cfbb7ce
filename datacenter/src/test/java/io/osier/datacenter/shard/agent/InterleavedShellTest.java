package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.server.Interleaving;
import io.osier.datacenter.shard.agent.PartitionRunner.Callers;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.InProcess;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.RegisterHandle;
import io.osier.proxy.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The shell of a datacenter under the client library, its threads interleaved by seeds: sessions
 * that threads share, asynchronous calls, callbacks that call again. Whatever the order: everybody
 * is answered, every increment counts once, and a session sees what it has written.
 */
final class InterleavedShellTest {
  private static final int SEEDS = 12;

  /** One in a few dozen orders ends in the deadlock; near the first of these seeds one does. */
  private static final int SABOTAGED_FROM = 50;

  private static final int SABOTAGED_THROUGH = 350;
  private static final int THREADS = 10;
  private static final int SESSIONS = 4;
  private static final int ROUNDS = 3;
  private static final int WINDOW = 6;

  /** What a thread has in hand: the session for which it calls. */
  private static final ThreadLocal<Session> CALLING = new ThreadLocal<>();

  /** Threads that share sessions do all sorts of things; afterwards the counters are right. */
  private static void run(long seed, Callers callers, boolean sabotaged) {
    Interleaving turns = new Interleaving(seed);
    InterleavedShell shell = new InterleavedShell(turns, callers, seed);
    OsierClient client =
        PatientClients.inProcess(
            sabotaged ? new SendingInTheMonitor(shell) : shell,
            PatientClients.builder().timeout(Duration.ofDays(1))); // who hangs is found otherwise
    List<Session> sessions = Stream.generate(client::session).limit(SESSIONS).toList();
    AtomicLong sum = new AtomicLong();
    AtomicLong counted = new AtomicLong(-1);
    AtomicInteger done = new AtomicInteger();
    for (int t = 0; t < THREADS; t++) {
      int number = t;
      Random random = new Random(seed * 31 + t);
      turns.add(
          "caller " + t,
          () -> {
            Session session = sessions.get(number % SESSIONS);
            CALLING.set(session);
            turns.handOverUntil(shell::isReady);
            for (int i = 0; i < ROUNDS; i++) {
              round(turns, session.keyspace("shop"), number + "-" + i, random, sum);
            }
            done.incrementAndGet();
          });
    }
    turns.add(
        "auditor",
        () -> {
          turns.handOverUntil(() -> done.get() == THREADS);
          counted.set(count(turns, client.session().keyspace("shop")));
        });
    turns.run();
    assertThat(counted).as("all increments, seed %d", seed).hasValue(sum.get());
    client.close();
  }

  private static long count(Interleaving turns, Keyspace shop) {
    List<CompletableFuture<Long>> counters = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      counters.add(shop.counter("c" + i).getAsync());
    }
    all(turns, counters);
    return counters.stream().mapToLong(CompletableFuture::join).sum();
  }

  private static void round(
      Interleaving turns, Keyspace shop, String name, Random random, AtomicLong sum) {
    List<CompletableFuture<?>> open = new ArrayList<>();
    for (int i = 0; i < WINDOW; i++) {
      switch (random.nextInt(5)) {
        case 0 -> {
          int amount = 1 + random.nextInt(9);
          open.add(shop.counter("c" + random.nextInt(THREADS)).incrementAsync(amount));
          sum.addAndGet(amount);
        }
        case 1 -> open.add(shop.register("r" + random.nextInt(4)).assignAsync(Value.of(name)));
        case 2, 3 -> {
          // A callback that calls again, in whatever thread has the answer.
          RegisterHandle next = shop.register("r" + random.nextInt(4));
          open.add(
              shop.register("r" + random.nextInt(4))
                  .assignAsync(Value.of(name))
                  .thenCompose(v -> next.assignAsync(Value.of(name))));
        }
        default -> open.add(shop.set("e").addAsync(List.of(Value.of(name))));
      }
    }
    all(turns, open);
    CompletableFuture<Void> added = shop.set("own").addAsync(List.of(Value.of(name)));
    all(turns, List.of(added));
    CompletableFuture<Boolean> seen = shop.set("own").containsAsync(Value.of(name));
    all(turns, List.of(seen));
    assertThat(seen.join()).as("%s reads what it wrote", name).isTrue();
  }

  private static void all(Interleaving turns, List<? extends CompletableFuture<?>> open) {
    CompletableFuture<Void> all = CompletableFuture.allOf(open.toArray(CompletableFuture[]::new));
    turns.handOverUntil(all::isDone);
    all.join();
  }

  @ParameterizedTest
  @EnumSource(Callers.class)
  void anyOrder_answersEverybody(Callers callers) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      run(seed, callers, false);
    }
  }

  /**
   * The fault that hung embedded datacenters: a call was sent while the session's monitor was held,
   * which the session's answers take, too, in whatever thread brings them.
   */
  private record SendingInTheMonitor(InProcess inner) implements InProcess {
    @Override
    public void send(Request request, Consumer<Reply> reply) {
      Session session = CALLING.get();
      if (session == null) {
        inner.send(request, reply);
        return;
      }
      synchronized (session) {
        inner.send(
            request,
            answer -> {
              Session former = CALLING.get();
              synchronized (session) {
                CALLING.set(session); // for what a callback calls
                reply.accept(answer);
              }
              CALLING.set(former);
            });
      }
    }

    @Override
    public boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
      return inner.update(keyspace, key, type, operation);
    }

    @Override
    public ReplicaId replica() {
      return inner.replica();
    }

    @Override
    public List<Reply.KeyspaceInfo> keyspaces() {
      return inner.keyspaces();
    }

    @Override
    public boolean isOpen() {
      return inner.isOpen();
    }
  }

  @Test
  void sendingInTheSessionsMonitor_isFound() {
    assertThatThrownBy(
            () -> {
              for (long seed = SABOTAGED_FROM; seed <= SABOTAGED_THROUGH; seed++) {
                run(seed, Callers.RUN, true);
              }
            })
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("a deadlock");
  }
}
