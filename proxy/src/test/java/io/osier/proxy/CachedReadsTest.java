package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.protocol.WatchRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Reads of one session that are answered from its cache, while others change what it reads. */
final class CachedReadsTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);

  /** How many elements the set has: 0, 1, 2, …; others add them. */
  private volatile int version;

  private final FakeServer server =
      FakeServer.of(
          EU,
          List.of(
              new Reply.KeyspaceInfo("shop", 2_000, 1, false),
              new Reply.KeyspaceInfo("bank", 2_000, 1, true)),
          request ->
              switch (request) {
                case Request.Read r -> answer(r.query());
                case Request.Transact t ->
                    new Reply.Transacted(
                        VersionVector.of(EU, 1 + version),
                        Optional.empty(),
                        t.reads().stream().map(f -> answer(f.query())).toList());
                case ScanRequest s ->
                    new Reply.Page(List.of(), Optional.empty(), List.of(VersionVector.EMPTY));
                case WatchRequest w ->
                    w.resumes() ? new Reply.Changes(List.of(), w.places(), true) : null;
                default -> null;
              });

  private final OsierClient client =
      FakeServer.patient().endpoint("eu", server.address()).cache(Duration.ofHours(1), 100).build();

  private final Session session = client.session();

  CachedReadsTest() throws IOException {
    client.awaitConnected(Duration.ofMinutes(2));
  }

  private Reply.Answer answer(Query query) {
    int now = version;
    List<Value> elements = new ArrayList<>();
    for (int i = 1; i <= now; i++) {
      elements.add(Value.of(i));
    }
    Reading reading =
        query instanceof Query.Contains c
            ? new Reading.Flag(elements.contains(c.element()))
            : new Reading.Many(elements);
    return new Reply.Answer(CrdtType.AW_SET, reading, VersionVector.of(EU, 1 + now));
  }

  @org.junit.jupiter.api.AfterEach
  void close() throws IOException {
    client.close();
    server.close();
  }

  @Test
  void containsAndGetOfOneSet_doNotContradictEachOther() {
    SetHandle set = session.keyspace("shop").set("s");
    assertThat(set.get()).isEmpty();
    version = 1;
    assertThat(set.contains(Value.of(1))).isTrue();
    assertThat(set.get()).as("after an element was seen in it").contains(Value.of(1));
    int asked = server.requests.size();
    assertThat(set.contains(Value.of(1))).isTrue();
    assertThat(set.get()).hasSize(1);
    assertThat(server.requests).as("all of one version are kept").hasSize(asked);
  }

  @Test
  void causalKeyspace_isNotCached() {
    Keyspace bank = session.keyspace("bank");
    assertThat(bank.set("s").get()).isEmpty();
    version = 1;
    bank.readTogether(List.of(new Keyspace.Get("s", CrdtType.AW_SET)));
    assertThat(bank.set("s").get()).as("seen by readTogether before").hasSize(1);
    bank.set("other").get();
    version = 2;
    assertThat(bank.set("s").get()).hasSize(2);
    assertThat(bank.set("other").get()).as("written together with the one before").hasSize(2);
  }

  @Test
  void scan_isNotFollowedByOlderAnswers() {
    Keyspace shop = session.keyspace("shop");
    assertThat(shop.set("s").get()).isEmpty();
    version = 1;
    shop.scan(Optional.empty(), Optional.empty(), new Query.Whole(), 10);
    assertThat(shop.set("s").get()).hasSize(1);
  }

  /** Whoever was told before may have seen what is newer than what is kept. */
  @Test
  void watcherThatGoesOn_isNotFollowedByOlderAnswers() {
    Keyspace shop = session.keyspace("shop");
    assertThat(shop.set("s").get()).isEmpty();
    version = 1;
    WatchRequest.Place place =
        new WatchRequest.Place(1, 1, VersionVector.of(EU, 2), Optional.empty());
    WatchPosition position = new WatchPosition(List.of(place));
    try (Watch.Watching watching = shop.changes().from(position).listen(told -> {})) {
      watching.begun().join();
      assertThat(shop.set("s").get()).hasSize(1);
    }
  }

  @Test
  void cache_servesWithinItsBound_andShowsOwnWrites() throws IOException {
    AtomicInteger value = new AtomicInteger(1);
    try (FakeServer eu =
            FakeServer.of(
                EU,
                FakeServer.SHOP,
                r ->
                    r instanceof Request.Write
                        ? new Reply.Done(new Dot(EU, value.incrementAndGet()))
                        : new Reply.Answer(
                            CrdtType.PN_COUNTER,
                            new Reading.Count(value.get()),
                            VersionVector.EMPTY));
        OsierClient counting =
            FakeServer.patient()
                .endpoint("eu", eu.address())
                .cache(Duration.ofMinutes(5), 100)
                .build()) {
      counting.awaitConnected(Duration.ofMinutes(2));
      CounterHandle counter = counting.session().keyspace("shop").counter("c");
      assertThat(counter.get()).isEqualTo(1);
      assertThat(counter.get()).isEqualTo(1);
      assertThat(eu.requests).hasSize(1);
      counter.increment(1);
      assertThat(counter.get()).isEqualTo(2);
      assertThat(counting.session().keyspace("shop").counter("c").get()).isEqualTo(2);
      assertThat(eu.requests).as("each session has its own").hasSize(4);
    }
  }
}
