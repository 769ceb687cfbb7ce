package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A snapshot of the past says nothing about whether a datacenter has what a session has seen. */
final class SessionContextSnapshotTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);

  private static Reply answer(Request request) {
    return switch (request) {
      case Greeting.Hello h ->
          new Reply.Welcome(1, EU, List.of(new Reply.KeyspaceInfo("bank", 2_000, 1, true)));
      case Request.Ping p -> new Reply.Pong();
      case Request.Transact t ->
          new Reply.Transacted(VersionVector.of(EU, 3), Optional.empty(), List.of());
      default ->
          new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(1), VersionVector.of(EU, 3));
    };
  }

  @Test
  void requestAfterIt_stillCarriesWhatTheSessionHasSeen() throws IOException {
    try (FakeServer eu = new FakeServer(SessionContextSnapshotTest::answer);
        OsierClient client = FakeServer.patient().endpoint("eu", eu.address()).build()) {
      client.awaitConnected(Duration.ofMinutes(2));
      VersionVector elsewhere = VersionVector.of(US, 9);
      SessionToken token = new SessionToken(Map.of("bank", List.of(elsewhere)));
      Session session = client.session(SessionOptions.DEFAULT.after(token));
      Keyspace bank = session.keyspace("bank");
      try (Transaction past = bank.begin(TransactionOptions.DEFAULT.at(VersionVector.of(EU, 3)))) {
        past.abort();
      }
      assertThat(bank.counter("c").get()).isEqualTo(1);
      assertThat(((Request.Read) eu.requests.getLast()).after().get(US)).isEqualTo(9);
      assertThat(bank.counter("c").get()).isEqualTo(1);
      assertThat(((Request.Read) eu.requests.getLast()).after().isEmpty()).isTrue();
    }
  }
}
