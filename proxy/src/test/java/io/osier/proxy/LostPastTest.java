package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sessions that have seen what no datacenter has that can be reached. */
final class LostPastTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final VersionVector HERE = VersionVector.of(EU, 9).with(US, 2);

  /** Another datacenter's updates 3 to 5 were seen there before it was gone. */
  private static final SessionToken TOKEN =
      new SessionToken(Map.of("shop", List.of(VersionVector.of(EU, 3).with(US, 5))));

  private static FakeServer eu(ErrorCode code) throws IOException {
    return FakeServer.of(
        EU,
        FakeServer.SHOP,
        request ->
            switch (request) {
              case ProgressRequest.Through t -> new Reply.Through(HERE);
              case Request.Read r ->
                  r.after().isAtMost(HERE)
                      ? new Reply.Answer(
                          CrdtType.PN_COUNTER, new Reading.Count(1), VersionVector.of(EU, 4))
                      : new Reply.Failure(code, "it lacks something");
              case Request.Write w ->
                  w.after().isAtMost(HERE)
                      ? new Reply.Done(new Dot(EU, 10))
                      : new Reply.Failure(code, "it lacks something");
              default -> null;
            });
  }

  @ParameterizedTest
  @EnumSource(
      value = ErrorCode.class,
      names = {"SESSION_BEHIND", "SESSION_LOST"})
  void session_goesOnWithoutWhatIsGone_andSaysWhatThatIs(ErrorCode code) throws IOException {
    try (FakeServer eu = eu(code);
        OsierClient client = FakeServer.patient().endpoint("eu", eu.address()).build()) {
      client.awaitConnected(Duration.ofMinutes(2));
      Session session =
          client.session(SessionOptions.DEFAULT.after(TOKEN).goOnAfter(Duration.ofMillis(100)));
      assertThat(session.losses()).isEmpty();
      List<CompletableFuture<Void>> both = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        both.add(session.keyspace("shop").counter("c").incrementAsync(1));
      }
      both.forEach(CompletableFuture::join);
      assertThat(session.keyspace("shop").counter("c").get()).isEqualTo(1);
      assertThat(session.losses()).containsExactly(new Session.Loss("shop", 0, US, 2, 5));
      SessionToken left = session.token();
      assertThat(left.seen().get("shop")).containsExactly(VersionVector.of(EU, 10).with(US, 2));
    }
  }
}
