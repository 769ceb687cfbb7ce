package io.osier.datacenter.frontend;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.Framing;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.testing.Failed;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ForwardedRequestsTest extends ForwardedFixture {
  private Users users =
      new Users(
          List.of(
              new User(
                  "ann",
                  Optional.empty(),
                  List.of(Grant.parse("write shop a"), Grant.parse("read shop a")))));

  private final List<OrderedQueue> lanes = new ArrayList<>();

  private final ForwardedRequests requests =
      new ForwardedRequests(
          "eu", new Home(), access(() -> users), Scripts.NONE, bytes, Runnable::run);

  private final class Home extends Here {
    @Override
    public List<Reply.KeyspaceInfo> keyspaces() {
      Partitioning byTag = new Partitioning(4, Partitioning.Hash.TAG);
      Partitioning homes =
          new Partitioning(4, Partitioning.Hash.KEY, new Homes(List.of("eu", "us")));
      return List.of(
          new Reply.KeyspaceInfo("tags", 500, byTag, false),
          new Reply.KeyspaceInfo("carts@eu", 500, homes, false));
    }

    @Override
    public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
      super.handle(request, lane, reply);
      lanes.add(lane);
    }
  }

  private static byte[] encoded(long lane, String user, long id, Request request) {
    return WireOutput.bytesOf(
        out -> {
          out.writeNumber(lane);
          out.writeText(user);
          ProtocolCodec.write(out, id, request);
        });
  }

  private void asked(long lane, String user, long id, Request request) {
    requests.asked(AP, PeerVersions.NEWEST, encoded(lane, user, id, request), this::answered);
  }

  /** It would take a key for one of another partition, and so would its clients. */
  @Test
  void datacenterThatKnowsNoTagsOrHomes_isRefusedByName_whereKeysHaveThem() {
    refusedBefore(PeerVersions.BY_TAG, "tags", "'tags' has hash = tag", "shop");
    refusedBefore(PeerVersions.HOMES, "carts@eu", "'carts@eu' has homes", "tags");
  }

  private void refusedBefore(int version, String keyspace, String said, String other) {
    done.clear();
    answers.clear();
    ProgressRequest.Through asked = new ProgressRequest.Through(keyspace, 0);
    ProgressRequest.Through others = new ProgressRequest.Through(other, 0);
    requests.asked(AP, version - 1, encoded(0, "", 1, asked), this::answered);
    requests.asked(AP, version - 1, encoded(0, "", 2, others), this::answered);
    requests.asked(AP, version, encoded(0, "", 3, asked), this::answered);
    assertThat(requireNonNull(answers.get(1L)))
        .is(Failed.with(ErrorCode.VERSION_MISMATCH, said, "datacenter ap"));
    assertThat(done.keySet()).containsExactly(others, asked);
  }

  private void answer(Request request, Reply reply) {
    requireNonNull(done.remove(request)).accept(reply);
  }

  @Test
  void request_isDoneHere_andAnsweredUnderItsNumber() {
    asked(1, "ann", 5, write("a1"));
    assertThat(bytes.taken()).isPositive();
    answer(write("a1"), new Reply.Done(DOT));
    assertThat(answers).containsExactly(Map.entry(5L, new Reply.Done(DOT)));
    asked(0, "", 6, new Request.Ping());
    assertThat(answers.get(6L)).isEqualTo(new Reply.Pong());
    isIdle();
  }

  @Test
  void rightsCount_asTheyAreHere() {
    asked(1, "ann", 1, write("b"));
    assertThat(failure(1)).isEqualTo(ErrorCode.FORBIDDEN);
    asked(1, "bob", 2, write("a1"));
    assertThat(failure(2)).as("it has logged in, elsewhere").isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(message(2)).contains("eu").contains("bob").contains("ap");
    asked(1, "default", 3, write("a1"));
    assertThat(failure(3)).as("of one who is nobody here").isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(done).isEmpty();
    asked(1, "", 4, write("b"));
    answer(write("b"), new Reply.Done(DOT));
    assertThat(answers.get(4L)).as("of the process itself").isEqualTo(new Reply.Done(DOT));
    users = Users.OPEN;
    asked(1, "bob", 5, write("b"));
    assertThat(done).as("where everybody may do everything").hasSize(1);
    answer(write("b"), new Reply.Done(DOT));
    isIdle();
  }

  @Test
  void partsOfABatch_withoutARight_failByThemselves() {
    asked(1, "ann", 1, batch("a1", "b", "a2"));
    answer(batch("a1", "a2"), new Reply.All(List.of(new Reply.Done(DOT), new Reply.Done(DOT))));
    Reply.All all = (Reply.All) requireNonNull(answers.get(1L));
    assertThat(all.parts()).hasSize(3);
    assertThat(((Reply.Failure) all.parts().get(1)).code()).isEqualTo(ErrorCode.FORBIDDEN);
    isIdle();
  }

  private static List<Request.Update> updates(String... keys) {
    return List.of(keys).stream()
        .map(
            key -> new Request.Update(Key.of(key), CrdtType.PN_COUNTER, new Operation.Increment(1)))
        .toList();
  }

  private static Request batch(String... keys) {
    return new Request.WriteAll("shop", updates(keys), VersionVector.EMPTY, 0);
  }

  private static Request.Transact step(int number, Request.End end, String... keys) {
    return new Request.Transact(
        "shop",
        new TransactionId(1, 2),
        number,
        number == 1
            ? Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 1_000))
            : Optional.empty(),
        updates(keys),
        List.of(),
        end);
  }

  private static Reply transacted() {
    return new Reply.Transacted(VersionVector.EMPTY, Optional.empty(), List.of());
  }

  /** What was updated by a right that was taken away since is not committed, and does not wait. */
  @Test
  void commitBehindALostRight_endsTheTransaction_andIsRefused() {
    Request begin = step(1, Request.End.OPEN, "a1");
    asked(1, "ann", 1, begin);
    answer(begin, transacted());
    Request commit = step(2, Request.End.COMMIT);
    asked(1, "bob", 2, commit);
    assertThat(failure(2)).as("it is ann's").isEqualTo(ErrorCode.FORBIDDEN);
    users = new Users(List.of(new User("ann", Optional.empty(), List.of())));
    asked(1, "ann", 3, commit);
    assertThat(answers).as("until it has ended").doesNotContainKey(3L);
    answer(step(2, Request.End.ABORT), transacted());
    assertThat(failure(3)).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(done).isEmpty();
    isIdle();
  }

  @Test
  void whatIsNotHeldHere_goesNoFurther_andTheWayIsNamed() {
    asked(1, "ann", 1, write("a1"));
    answer(write("a1"), new Reply.Failure(ErrorCode.UNKNOWN_KEYSPACE, "there is no 'shop'"));
    assertThat(failure(1)).as("it may be tried elsewhere").isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(message(1)).contains("eu").contains("ap").contains("'shop'");
    isIdle();
  }

  @Test
  void whatMayNotBeForwarded_andWhatCannotBeRead_isRefused() {
    asked(1, "ann", 1, new AdminRequest.Inspect(Request.Topic.STAT, Optional.empty(), 1));
    assertThat(failure(1)).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    byte[] unknown = encoded(1, "ann", 3, new Request.Ping());
    unknown[unknown.length - 1] = 120;
    requests.asked(AP, PeerVersions.NEWEST, unknown, this::answered);
    assertThat(failure(3)).as("of a newer one").isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThatThrownBy(
            () -> requests.asked(AP, PeerVersions.NEWEST, new byte[] {1, 90}, this::answered))
        .isInstanceOf(MalformedException.class);
    isIdle();
  }

  @Test
  void spentBudget_isOverloaded_alsoForAnswers_andWhatWasDoneIsSaidSo() {
    asked(1, "ann", 1, write("a1"));
    bytes.take(BYTES - bytes.taken());
    asked(1, "ann", 2, write("a2"));
    assertThat(failure(2)).isEqualTo(ErrorCode.OVERLOADED);
    answer(write("a1"), large(1 << 20));
    assertThat(failure(1)).as("what was read").isEqualTo(ErrorCode.OVERLOADED);
    answers.clear();
    bytes.give(bytes.taken());
    left.clear();
    asked(1, "ann", 1, write("a1"));
    bytes.take(BYTES - bytes.taken());
    answer(write("a1"), new Reply.Done(DOT, Optional.of(large(1 << 20))));
    assertThat(failure(1)).as("it was done").isEqualTo(ErrorCode.TIMEOUT);
    answers.clear();
    asked(1, "ann", 1, write("a1"));
    assertThat(failure(1)).isEqualTo(ErrorCode.OVERLOADED);
  }

  @Test
  void smallAnswer_findsRoom_whateverWaits() {
    asked(1, "ann", 1, write("a1"));
    bytes.take(BYTES);
    answer(write("a1"), new Reply.Done(DOT));
    assertThat(answers.get(1L)).isEqualTo(new Reply.Done(DOT));
  }

  /** 65 MiB is the most that a frame of a client may have. */
  @Test
  void answerOverALimitOfAFrame_isRefused_andTheNextOneComes() {
    asked(1, "ann", 1, read());
    answer(read(), large(Framing.CLIENT_FRAME_BYTES_MAX));
    assertThat(failure(1)).isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    asked(1, "ann", 2, read());
    answer(read(), large(Framing.CLIENT_FRAME_BYTES_MAX - 1000));
    assertThat(answers.get(2L)).isInstanceOf(Reply.Answer.class);
    isIdle();
  }

  private static Request read() {
    return new Request.Read(
        "shop", Key.of("a"), Optional.empty(), new Query.Whole(), VersionVector.EMPTY, false, 0);
  }

  private static Reply.Answer large(int size) {
    List<Value> values =
        IntStream.range(0, size / (1 << 20) + 1)
            .mapToObj(i -> Value.of(new byte[Math.min(1 << 20, size - (i << 20))]))
            .toList();
    return new Reply.Answer(
        Optional.of(CrdtType.MV_REGISTER),
        Optional.of(new Reading.Many(values)),
        true,
        VersionVector.EMPTY);
  }

  @Test
  void requestsOfOneConnection_takeOneLane_untilAllAreAnswered() {
    asked(1, "ann", 1, write("a1"));
    asked(1, "ann", 2, write("a2"));
    asked(2, "ann", 3, write("a3"));
    assertThat(lanes.get(1)).isSameAs(lanes.get(0)).isNotSameAs(lanes.get(2));
    assertThat(lanes.get(0).hold()).as("until all that has come is taken").isFalse();
    requests.receivedAll(AP);
    assertThat(lanes.get(0).hold()).isTrue();
    answer(write("a1"), new Reply.Done(DOT));
    asked(1, "ann", 4, write("a4"));
    assertThat(lanes.get(3)).isSameAs(lanes.get(0));
    List.of("a2", "a3", "a4").forEach(key -> answer(write(key), new Reply.Done(DOT)));
    asked(1, "ann", 5, write("a5"));
    assertThat(lanes.get(4)).as("nothing is kept of it").isNotSameAs(lanes.get(0));
  }
}
