package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace.Found;
import io.osier.testing.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** What a batch sends, and what becomes of it. */
@NullUnmarked // null stands for no answer
final class BatchCallTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final int PARTITIONS = 4;

  /** Greets and pongs; the rest as the test wants. */
  private static FakeServer as(ReplicaId who, Function<Request, Reply> rest) throws IOException {
    return FakeServer.of(
        who, List.of(new Reply.KeyspaceInfo("shop", 2_000, PARTITIONS, false)), rest);
  }

  private static OsierClient client(FakeServer eu) {
    OsierClient client = FakeServer.patient().endpoint("eu", eu.address()).build();
    client.awaitConnected(Duration.ofMinutes(2));
    return client;
  }

  private static Reply.Answer answer(Request.Fetch read, ReplicaId who) {
    return new Reply.Answer(
        read.type(),
        Optional.of(new Reading.Count(Long.parseLong(read.key().toString()))),
        true,
        VersionVector.of(who, 9));
  }

  private static List<Keyspace.Get> reads(int size) {
    List<Keyspace.Get> reads = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      reads.add(new Keyspace.Get("" + i, CrdtType.PN_COUNTER));
    }
    return reads;
  }

  private static List<Keyspace.Change> changes(int size) {
    List<Keyspace.Change> changes = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      changes.add(new Keyspace.Change("" + i, CrdtType.PN_COUNTER, new Operation.Increment(i)));
    }
    return changes;
  }

  private static int partition(Key key) {
    return Partitioning.byKey(PARTITIONS).of(key);
  }

  @Test
  void eachPartition_isAskedOnce_andAgainForWhatDidNotFit() throws IOException {
    List<Request.ReadAll> asked = new CopyOnWriteArrayList<>();
    int most = 7;
    try (FakeServer eu =
            as(
                EU,
                request -> {
                  Request.ReadAll all = (Request.ReadAll) request;
                  asked.add(all);
                  return new Reply.All(
                      all.reads().stream().limit(most).<Reply>map(r -> answer(r, EU)).toList());
                });
        OsierClient client = client(eu)) {
      assertThat(client.session().keyspace("shop").readAll(reads(8))).hasSize(8);
      assertThat(asked).as("a request for each partition").hasSizeLessThanOrEqualTo(PARTITIONS);
      assertThat(asked)
          .allSatisfy(
              all ->
                  assertThat(all.reads().stream().map(r -> partition(r.key())))
                      .hasSameElementsAs(List.of(partition(all.reads().getFirst().key()))));
      asked.clear();
      List<Found> found = client.session().keyspace("shop").readAll(reads(100));
      for (int i = 0; i < 100; i++) {
        assertThat(found.get(i).reading()).contains(new Reading.Count(i));
      }
      assertThat(asked.stream().mapToInt(all -> Math.min(most, all.reads().size())).sum())
          .as("nothing is asked twice that was answered")
          .isEqualTo(100);
    }
  }

  @Test
  void whatTheSessionSaw_goesWithTheFirstRequestOfItsPartition() throws IOException {
    Function<Request, Reply> eus =
        request ->
            new Reply.All(
                ((Request.ReadAll) request)
                    .reads().stream().<Reply>map(r -> answer(r, EU)).toList());
    try (FakeServer eu = as(EU, eus);
        FakeServer us =
            as(
                US,
                request ->
                    new Reply.All(
                        ((Request.ReadAll) request)
                            .reads().stream().<Reply>map(r -> answer(r, US)).toList()));
        OsierClient client =
            FakeServer.patient()
                .endpoint("eu", eu.address())
                .endpoint("us", us.address())
                .build()) {
      await().until(() -> client.status().stream().allMatch(OsierClient.Status::connected));
      Session session = client.session();
      session.pin("eu");
      Keyspace shop = session.keyspace("shop");
      shop.readAll(reads(1));
      session.pin("us");
      shop.readAll(reads(100));
      shop.readAll(reads(100));
      int seen = partition(Key.of("0"));
      List<Request> sent = us.requests;
      assertThat(sent).hasSize(2 * PARTITIONS);
      for (Request request : sent.subList(0, PARTITIONS)) {
        Request.ReadAll all = (Request.ReadAll) request;
        boolean same = partition(all.reads().getFirst().key()) == seen;
        assertThat(all.after()).isEqualTo(same ? VersionVector.of(EU, 9) : VersionVector.EMPTY);
      }
      assertThat(sent.subList(PARTITIONS, 2 * PARTITIONS))
          .allSatisfy(r -> assertThat(((Request.ReadAll) r).after().isEmpty()).isTrue());
    }
  }

  /** A datacenter that refuses all parts has perhaps not looked at what the session has seen. */
  @Test
  void refusedParts_sayNothingOfWhatTheDatacenterHas() throws IOException {
    Reply forbidden = new Reply.Failure(ErrorCode.FORBIDDEN, "no");
    try (FakeServer eu = as(EU, request -> new Reply.All(List.of(forbidden)));
        OsierClient client = client(eu)) {
      SessionToken token =
          new SessionToken(
              Map.of("shop", Collections.nCopies(PARTITIONS, VersionVector.of(US, 4))));
      Keyspace shop = client.session(SessionOptions.DEFAULT.after(token.encode())).keyspace("shop");
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> shop.readAll(reads(1))).isInstanceOf(BatchException.class);
        assertThat(((Request.ReadAll) eu.requests.get(i)).after())
            .isEqualTo(VersionVector.of(US, 4));
      }
    }
  }

  /** Of one partition the answer is lost, one fails as a whole, one refuses a part. */
  @Test
  void eachPart_hasItsOwnOutcome() throws IOException {
    int lost = 0;
    int overloaded = 1;
    int wrong = 2;
    try (FakeServer eu =
            as(
                EU,
                request -> {
                  if (request instanceof Request.Read) {
                    return new Reply.Answer(
                        CrdtType.PN_COUNTER, new Reading.Count(7), VersionVector.EMPTY);
                  }
                  Request.WriteAll all = (Request.WriteAll) request;
                  int partition = partition(all.updates().getFirst().key());
                  if (partition == lost) {
                    return null;
                  }
                  if (partition == overloaded) {
                    return new Reply.Failure(ErrorCode.OVERLOADED, "full");
                  }
                  List<Reply> parts = new ArrayList<>();
                  for (Request.Update update : all.updates()) {
                    boolean refused = partition == wrong && parts.isEmpty();
                    parts.add(
                        refused
                            ? new Reply.Failure(ErrorCode.WRONG_TYPE, "no")
                            : new Reply.Done(new Dot(EU, 5)));
                  }
                  return new Reply.All(parts);
                });
        OsierClient client = client(eu)) {
      Keyspace shop = client.session().keyspace("shop");
      CompletableFuture<Void> all = shop.updateAllAsync(changes(40));
      // Answers come in their order over one connection: all others have been heard by then.
      assertThat(client.session().keyspace("shop").counter("0").get()).isEqualTo(7);
      eu.drop();
      BatchException failed = (BatchException) catchThrowable(all::join).getCause();
      boolean first = true;
      for (int i = 0; i < 40; i++) {
        int partition = partition(Key.of("" + i));
        if (partition == lost) {
          assertThat(failed.errors().get(i)).isInstanceOf(OutcomeUnknownException.class);
        } else if (partition == overloaded) {
          assertThat(failed.errors().get(i).code()).isEqualTo(ErrorCode.OVERLOADED);
          assertThat(failed.errors().get(i)).isNotInstanceOf(OutcomeUnknownException.class);
        } else if (partition == wrong && first) {
          first = false;
          assertThat(failed.errors().get(i).code()).isEqualTo(ErrorCode.WRONG_TYPE);
        } else {
          assertThat(failed.errors()).doesNotContainKey(i);
        }
      }
      assertThat(eu.requests).as("nothing is sent twice").hasSize(PARTITIONS + 1);
    }
  }

  /** What answers fewer parts than it was given updates says nothing of the others. */
  @Test
  void updatesWithoutAnAnswer_areUnknown_andNotSentAgain() throws IOException {
    try (FakeServer eu = as(EU, request -> new Reply.All(List.of(new Reply.Done(new Dot(EU, 5)))));
        OsierClient client = client(eu)) {
      Keyspace shop = client.session().keyspace("shop");
      Keyspace.Change change = changes(1).getFirst();
      BatchException failed =
          catchThrowableOfType(
              BatchException.class, () -> shop.updateAll(List.of(change, change, change)));
      assertThat(failed.errors().keySet()).containsExactly(1, 2);
      assertThat(failed.errors().values()).allMatch(OutcomeUnknownException.class::isInstance);
      assertThat(eu.requests).hasSize(1);
    }
  }

  @Test
  void unreachable_isTheErrorOfTheWholeCall() throws IOException {
    try (FakeServer eu = as(EU, request -> null);
        OsierClient client =
            OsierClient.builder()
                .endpoint("eu", eu.address())
                .timeout(Duration.ofMillis(100)) // which nobody answers
                .build()) {
      client.awaitConnected(Patience.LIMIT);
      eu.close();
      await().until(() -> client.nearest().isEmpty());
      OsierException failed =
          catchThrowableOfType(
              OsierException.class, () -> client.session().keyspace("shop").updateAll(changes(3)));
      assertThat(failed.code()).isEqualTo(ErrorCode.UNAVAILABLE);
      assertThat(failed).isNotInstanceOf(OutcomeUnknownException.class);
    }
  }
}
