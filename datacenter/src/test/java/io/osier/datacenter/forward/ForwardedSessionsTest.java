package io.osier.datacenter.forward;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which holder a connection asks, and what for, so that it sees what it was shown. */
final class ForwardedSessionsTest extends ForwarderFixture {
  @Test
  void connectionThatWasAnsweredByOne_asksAnotherForWhatIsBehindIt() {
    up(EU);
    forward(read(VersionVector.of(new ReplicaId("as", 1), 3)));
    answer(EU, next(), seen(EU, 5));
    forward(update());
    answer(EU, next(), new Reply.Done(new Dot(EU, 7)));
    forward(read(VersionVector.EMPTY));
    assertThat(next().request().after())
        .as("it has shown all of it")
        .isEqualTo(VersionVector.EMPTY);
    up(US);
    down(EU);
    forward(read(VersionVector.EMPTY));
    Request behind = next().request();
    assertThat(behind.after())
        .isEqualTo(VersionVector.of(Map.of(new ReplicaId("as", 1), 3L, EU, 7L)));
    assertThat(behind.waitMillis()).isEqualTo(HolderChoice.MOVE_MILLIS);
    forwarder.forward(read(VersionVector.EMPTY), new Object(), "ann", replies::add);
    assertThat(next().request().after())
        .as("of a connection that has seen nothing")
        .isEqualTo(VersionVector.EMPTY);
  }

  /** A client asks for it to learn what it lacks; a token names all that was shown besides. */
  @Test
  void whatTheNextHolderHas_isToldAsItIs() {
    up(EU);
    forward(update());
    answer(EU, next(), new Reply.Done(new Dot(EU, 7)));
    replies.clear();
    down(EU);
    up(US);
    forward(new ProgressRequest.Through("shop", 0));
    answer(US, next(), new Reply.Through(VersionVector.of(US, 3)));
    assertThat(replies).containsExactly(new Reply.Through(VersionVector.of(US, 3)));
    assertThat(forwarder.shownHere().of("shop", 0)).isEqualTo(VersionVector.of(EU, 7));
  }

  /** Whatever is read for it, its user may ask for it, which was looked at here. */
  @Test
  void connectionThatWaitsForWhatWasSeenElsewhere_isBehindItThen_whoeverIsAsked() {
    up(EU);
    VersionVector seen = VersionVector.of(US, 7);
    forward(new ProgressRequest.Reach("shop", 0, seen, 500));
    Sent first = next();
    assertThat(first.request().after()).isEqualTo(seen);
    assertThat(first.request().waitMillis()).isEqualTo(500);
    assertThat(first.head().user()).isEmpty();
    answer(EU, first, new Reply.Failure(ErrorCode.SESSION_BEHIND, "not yet"));
    assertThat(failure()).isEqualTo(ErrorCode.SESSION_BEHIND);
    forward(read(VersionVector.EMPTY));
    answer(EU, next(), seen(EU, 1));
    forward(new ProgressRequest.Reach("shop", 0, seen, 500));
    answer(EU, next(), seen(EU, 1));
    down(EU);
    up(US);
    forward(read(VersionVector.EMPTY));
    assertThat(next().request().after()).isEqualTo(seen.raised(EU, 1));
    forward(new ProgressRequest.Reach("shop", 1, seen, 500));
    assertThat(world.sent).as("of a keyspace with as many partitions as it had").isEmpty();
  }

  /** What it is asked for besides was shown to others here, of any key of the partition. */
  @Test
  void witness_hearsWhatClientsAsk_andNotWhatTheirConnectionsWereShown() {
    List<Request> heard = new ArrayList<>();
    forwarder.tell((dc, request, partition, reply, size) -> heard.add(request));
    up(EU);
    forward(read(VersionVector.EMPTY));
    answer(EU, next(), seen(EU, 5));
    down(EU);
    up(US);
    forward(read(VersionVector.of(EU, 3)));
    Sent moved = next();
    assertThat(moved.request().after()).isEqualTo(VersionVector.of(EU, 5));
    answer(US, moved, seen(US, 1));
    assertThat(heard).containsExactly(read(VersionVector.EMPTY), read(VersionVector.of(EU, 3)));
  }

  /** Its connections were answered here, which nobody has noted. */
  @Test
  void keyspaceThatIsGivenUpHere_isAskedFor_withAllThatWasShownHere() {
    up(EU);
    world.before = VersionVector.of(US, 7);
    forward(read(VersionVector.of(EU, 3)));
    Request.Read asked = (Request.Read) next().request();
    assertThat(asked.after()).isEqualTo(VersionVector.of(EU, 3).raised(US, 7));
    assertThat(asked.waitMillis()).isEqualTo(HolderChoice.MOVE_MILLIS);
  }

  @Test
  void otherLifeOfAHolder_isAnotherOne() {
    up(EU);
    forward(read(VersionVector.EMPTY));
    answer(EU, next(), seen(EU, 5));
    down(EU);
    ReplicaId anew = new ReplicaId("eu", 2);
    up(anew);
    forward(read(VersionVector.EMPTY));
    assertThat(next().request().after()).isEqualTo(VersionVector.of(EU, 5));
  }

  @Test
  void requestsOfAConnection_stayWhereOneIsUnderWay() {
    up(US);
    forward(update());
    Sent update = next();
    assertThat(update.dc()).isEqualTo("us");
    up(EU);
    measure(1, 100);
    forward(read(VersionVector.EMPTY));
    Sent read = next();
    assertThat(read.dc()).as("behind the update").isEqualTo("us");
    assertThat(read.head().lane()).as("a connection of its own").isEqualTo(1);
    answer(US, update, new Reply.Done(new Dot(US, 1)));
    answer(US, read, seen(US, 1));
    forward(watch());
    assertThat(next().dc()).isEqualTo("eu");
    measure(10_000, 1);
    forward(read(VersionVector.EMPTY));
    assertThat(next().dc()).as("a watcher does not hold it").isEqualTo("us");
  }

  private static Request watch() {
    return new WatchRequest("shop", Optional.of(KEY), false, List.of(), false, 60_000);
  }

  /** It was added to the holders while a connection was served by another one. */
  @Test
  void connectionThatWasServedElsewhere_comesHere_withWhatItHasSeen_andNotBeforeItsAnswers() {
    up(EU);
    assertThat(forwarder.here(update(), "shop", Partitioning.byKey(1), lane))
        .as("new")
        .isEqualTo(update());
    forward(read(VersionVector.EMPTY));
    Sent underWay = next();
    assertThat(forwarder.here(update(), "shop", Partitioning.byKey(1), lane))
        .as("else it came first")
        .isNull();
    answer(EU, underWay, seen(EU, 7));
    Request.Write write =
        (Request.Write)
            requireNonNull(forwarder.here(update(), "shop", Partitioning.byKey(1), lane));
    assertThat(write.after()).isEqualTo(VersionVector.of(EU, 7));
    assertThat(write.waitMillis()).isEqualTo(HolderChoice.MOVE_MILLIS);
    Request.Write others =
        (Request.Write)
            requireNonNull(forwarder.here(update(), "shop", Partitioning.byKey(1), new Object()));
    assertThat(others.after()).isEqualTo(VersionVector.EMPTY);
  }

  // ---------------------------------------------------------------- which holder

  @Test
  void nearerHolder_isAsked_onceTheWaysAreMeasured() {
    up(EU);
    up(US);
    forward(read(VersionVector.EMPTY));
    answer(EU, next(), seen(EU, 1));
    measure(100, 20);
    forward(read(VersionVector.EMPTY));
    assertThat(next().dc()).isEqualTo("us");
  }

  @Test
  void holderThatGoes_isAvoided_andItsRefusalEndsNoConnection() {
    up(EU);
    up(US);
    forward(update());
    answer(EU, next(), new Reply.Failure(ErrorCode.SHUTTING_DOWN, "it goes"));
    assertThat(failure()).as("nothing was done").isEqualTo(ErrorCode.UNAVAILABLE);
    forward(update());
    assertThat(next().dc()).isEqualTo("us");
  }
}
