package io.osier.proxy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Holders that are no endpoints, and what they and others told long ago. */
final class LearnedHoldersTest extends HolderRoutesFixture {
  @Test
  void holdersThatAreNoEndpoints_areDialled_whenTheyAreNeeded_andServeNothingElse() {
    OsierClient client = client(ap);
    Session session = client.session();
    eu.up = false;
    us.up = false;
    increment(session, "k");
    ap.isDone();
    assertThat(dialled).isEmpty();
    CompletableFuture<Void> call = increment(session, "carts");
    steps.pass(100);
    assertThat(dialled).containsExactlyInAnyOrder("eu at eu.example:7400", "us at us.example:7400");
    comes(us);
    steps.pass(20);
    us.isDone();
    assertThat(call).isCompleted();
    assertThat(client.status()).extracting(OsierClient.Status::dc).contains("ap", "eu", "us");
    goes(ap);
    CompletableFuture<Void> elsewhere = increment(session, "k");
    steps.pass(1_000);
    assertThat(errorOf(elsewhere).code()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(us.open).isEmpty();
    client.close();
    assertThat(us.up).isFalse();
  }

  @Test
  void endpointThatHoldsIt_isEnough_untilItIsDown() {
    Session session = client(ap, eu).session();
    increment(session, "carts");
    eu.isDone();
    assertThat(dialled).isEmpty();
    goes(eu);
    CompletableFuture<Void> call = increment(session, "carts");
    steps.pass(20);
    assertThat(dialled).containsExactly("us at us.example:7400");
    us.isDone();
    assertThat(call).isCompleted();
  }

  @Test
  void addressThatIsNew_isDialledInstead_andOneThatIsNoneNever() {
    Session session = client(ap).session();
    us.up = false;
    ap.elsewhere = elsewhere(Map.of("us", "nowhere"), "us");
    increment(session, "carts");
    steps.pass(1_000);
    assertThat(dialled).isEmpty();
    ap.elsewhere = elsewhere(Map.of("us", "old.example:1"), "us");
    increment(session, "carts");
    steps.pass(1_000);
    ap.whenAsked = () -> ap.elsewhere = elsewhere(Map.of("us", "new.example:1"), "us");
    CompletableFuture<Void> call = increment(session, "carts");
    steps.pass(1_000);
    assertThat(dialled).containsExactly("us at old.example:1", "us at new.example:1");
    assertThat(errorOf(call)).hasMessageContaining("us at new.example:1: no answer yet");
  }

  /** It was dropped and created anew by tag: what a connection was told first does not stay. */
  @Test
  void holderThatIsNoEndpoint_isAskedAgain_whatItHolds() {
    OsierClient client = client(ap);
    goes(eu);
    increment(client.session(), "carts");
    steps.pass(20);
    us.isDone();
    us.whenAsked = () -> us.keyspaces = List.of(K, BY_TAG);
    for (int i = 0; i < 30; i++) {
      measure.run();
    }
    assertThat(us.asked).isEqualTo(1);
    assertThat(us.keyspace("carts")).isEqualTo(BY_TAG);
  }

  /** One that was not asked since is asked; who has used the former one is told, as before. */
  @Test
  void holderThatTellsOfAFormerKeyspace_isAskedOnce() {
    OsierClient client = client(ap, eu, us);
    Session former = client.session();
    increment(former, "carts");
    eu.isDone();
    eu.keyspaces = List.of(K, BY_TAG);
    Session session = client.session();
    increment(session, "carts");
    eu.isDone();
    goes(eu);
    us.whenAsked = () -> us.keyspaces = List.of(K, BY_TAG);
    CompletableFuture<Void> call = increment(session, "carts");
    us.isDone();
    assertThat(call).isCompleted();
    assertThat(us.asked).isEqualTo(1);
    OsierException error = errorOf(increment(former, "carts"));
    assertThat(error.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(us.asked).as("once for each call").isEqualTo(2);
  }

  /**
   * What it forwarded for the former connection it need not have by the time that it holds the
   * keyspace again, and of the new one it knows nothing.
   */
  @Test
  void connectionThatIsMadeAgain_isToldWhatTheSessionHasSeen() {
    Session session = client(ap, eu).session();
    increment(session, "carts");
    eu.isDone();
    get(session, "carts");
    assertThat(after(eu)).isEqualTo(VersionVector.EMPTY);
    eu.answers(3, VersionVector.of(us.replica(), 7)); // it has asked us
    goes(eu);
    eu.replica = new ReplicaId("eu", 1);
    comes(eu);
    get(session, "carts");
    assertThat(after(eu)).isEqualTo(VersionVector.of(eu.replica(), 1).with(us.replica(), 7));
  }

  /** Where the keys are follows from what those have told that hold the others. */
  @Test
  void keyOfAHome_isReached_whileAllEndpointsAreDown_whichHoldTheDefaultHome() {
    OsierClient client = client(eu, us);
    for (Far endpoint : List.of(eu, us)) {
      endpoint.keyspaces = List.of(K, WITH_HOME);
      endpoint.elsewhere =
          new Reply.Elsewhere(
              List.of(new Reply.HeldElsewhere(HOME, List.of("ap"))),
              Map.of("ap", "ap.example:7400"));
      goes(endpoint);
    }
    ap.keyspaces = List.of(K, HOME);
    ap.elsewhere =
        new Reply.Elsewhere(
            List.of(new Reply.HeldElsewhere(WITH_HOME, List.of("eu", "us"))), Map.of());
    CompletableFuture<Void> call =
        client.session().keyspace("carts").counter("ap:c").incrementAsync(1);
    steps.pass(100);
    assertThat(dialled).containsExactly("ap at ap.example:7400");
    Request.Write write = (Request.Write) requireNonNull(ap.open.peek()).request();
    assertThat(write.keyspace()).isEqualTo("carts@ap");
    ap.isDone();
    assertThat(call).isCompleted();
  }

  /** It shows what another holder has told over the former connection. */
  @Test
  void answerOverAFormerConnection_makesTheVectorGoAgain() {
    Session session = client(ap, eu).session();
    get(session, "carts");
    Far.Sent late = eu.open.remove();
    goes(eu);
    eu.replica = new ReplicaId("eu", 1);
    comes(eu);
    get(session, "carts");
    eu.answers(3, VersionVector.of(eu.replica(), 1));
    VersionVector seen = VersionVector.of(us.replica(), 7);
    late.answered().answered(new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(3), seen));
    get(session, "carts");
    assertThat(after(eu)).isEqualTo(VersionVector.of(eu.replica(), 1).with(us.replica(), 7));
  }
}
