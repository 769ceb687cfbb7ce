package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Starts, stops and misuse of whole datacenters. */
final class DatacenterLifecycleTest {
  private static final String HELD = "held { sla = 1h, propagation = state }";

  @Test
  void gracefulShutdown_shipsWhatIsHeldForALongTime() {
    try (TestCluster cluster = new TestCluster(HELD, new String[] {"eu", "us"});
        OsierClient client = cluster.client("eu")) {
      Keyspace held = client.session().keyspace("held");
      for (int i = 0; i < 100; i++) {
        held.counter("c" + i).increment(i + 1);
      }
      cluster.stop("eu");
      Keyspace there = client.session().keyspace("held"); // a new session, at what is left
      for (int i = 0; i < 100; i++) {
        assertThat(there.counter("c" + i).get()).isEqualTo(i + 1);
      }
    }
  }

  @Test
  void keyOfTwoTypes_isScannedOnce_andDoesNotHoldUpTheScan() {
    try (TestCluster cluster = new TestCluster(HELD, new String[] {"eu", "us"});
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us")) {
      // Held for an hour, so the two know nothing of each other until one of them stops.
      eu.session().keyspace("held").counter("k").increment(1);
      us.session().keyspace("held").set("k").add("x");
      us.session().keyspace("held").counter("l").increment(2);
      cluster.stop("us");
      List<String> rows = new ArrayList<>();
      Optional<Key> from = Optional.empty();
      do {
        Keyspace.Page page =
            eu.session().keyspace("held").scan(from, Optional.empty(), new Query.Whole(), 1);
        page.rows().forEach(r -> rows.add(r.key() + " " + r.type().label()));
        from = page.next();
      } while (from.isPresent() && rows.size() < 10);
      assertThat(rows).containsExactly("k counter", "k set", "l counter");
    }
  }

  // ---------------------------------------------------------------- one datacenter alone

  /** A page may look at 5,000 objects: the connections of others must not wait for that. */
  @Test
  void scanInMemory_isNotDoneByWhoeverBringsIt() {
    try (TestCluster cluster = new TestCluster("solo")) {
      CompletableFuture<Thread> answering = new CompletableFuture<>();
      cluster
          .datacenter("solo")
          .inProcess()
          .send(
              new ScanRequest("shop", Optional.empty(), Optional.empty(), new Query.Whole(), 1),
              reply -> answering.complete(Thread.currentThread()));
      assertThat(answering.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join())
          .isNotSameAs(Thread.currentThread());
    }
  }

  private static CompletableFuture<Reply> sent(Datacenter to, Request request) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    to.inProcess().send(request, reply::complete);
    return reply.orTimeout(Patience.SECONDS, TimeUnit.SECONDS);
  }

  /** A stop must not take as long as what waits to be read would. */
  @Test
  void longReadsThatHaveNotBegun_areRefusedAtAStop_andHaveThreadsOfTheirOwn() {
    try (TestCluster cluster = new TestCluster("shop {}", new String[] {"solo"})) {
      Datacenter solo = cluster.datacenter("solo");
      Key key = Key.of("large");
      List<Value> elements =
          IntStream.range(0, 10_000).mapToObj(i -> Value.of("element " + i)).toList();
      Request write = Requests.write("shop", key, CrdtType.AW_SET, new Operation.Add(elements));
      assertThat(sent(solo, write).join()).isInstanceOf(Reply.Done.class);
      CountDownLatch open = new CountDownLatch(1);
      Queue<Reply> replies = new ConcurrentLinkedQueue<>();
      Set<String> threads = ConcurrentHashMap.newKeySet();
      int many = 20;
      for (int i = 0; i < many; i++) { // directly, and by the partition
        boolean ordered = i % 2 == 0;
        Request read =
            new Request.Read(
                "shop", key, Optional.empty(), new Query.Whole(), VersionVector.EMPTY, ordered, 0);
        solo.inProcess()
            .send(
                read,
                reply -> {
                  replies.add(reply);
                  if (reply instanceof Reply.Answer) {
                    threads.add(Thread.currentThread().getName());
                    awaitOpen(open);
                  }
                });
      }
      await().until(() -> !replies.isEmpty());
      // Others are not kept waiting by those who make them.
      Request scan =
          new ScanRequest("shop", Optional.empty(), Optional.empty(), new Query.Whole(), 1);
      assertThat(sent(solo, scan).join()).isInstanceOf(Reply.Page.class);
      CompletableFuture<Void> closing = CompletableFuture.runAsync(solo::close);
      await()
          .until(
              () ->
                  replies.stream()
                      .anyMatch(
                          r ->
                              r instanceof Reply.Failure f && f.code() == ErrorCode.SHUTTING_DOWN));
      open.countDown();
      closing.join();
      await().until(() -> replies.size() == many);
      assertThat(threads).isNotEmpty().allMatch(name -> name.startsWith("osier-long-answers"));
    }
  }

  private static void awaitOpen(CountDownLatch latch) {
    try {
      assertThat(latch.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
