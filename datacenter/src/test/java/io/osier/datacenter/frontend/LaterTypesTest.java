package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Reading;
import io.osier.datacenter.testing.Failed;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class LaterTypesTest {
  private static final Dot DOT = new Dot(new ReplicaId("eu", 1), 3);
  private static final Reading VALUE = new Reading.Single(Optional.of(Value.of(1)));

  private static Reply.Answer answer(CrdtType type, Reading reading) {
    return new Reply.Answer(type, reading, VersionVector.EMPTY);
  }

  private static Reading map(CrdtType type, Reading reading) {
    return new Reading.Fields(new TreeMap<>(Map.of(new FieldId("f", type), reading)));
  }

  private static void isToldInstead(Reply reply, String... words) {
    assertThat(LaterTypes.legible(reply, 8)).isSameAs(reply);
    assertThat(LaterTypes.legible(reply, 7))
        .is(Failed.with(ErrorCode.VERSION_MISMATCH, words))
        .is(Failed.with(ErrorCode.VERSION_MISMATCH, "version 8"));
  }

  @Test
  void formerClient_takesWhatOthersHold_forThisOnes() {
    ReplicaId eu = new ReplicaId("eu", 1);
    Reply.KeyspaceInfo shop = new Reply.KeyspaceInfo("shop", 500, 1, false);
    Reply.KeyspaceInfo carts = new Reply.KeyspaceInfo("carts", 500, 1, false);
    Reply.Elsewhere elsewhere =
        new Reply.Elsewhere(
            List.of(new Reply.HeldElsewhere(carts, List.of("us"))), Map.of("us", "h:1"));
    Reply welcome = new Reply.Welcome(10, eu, List.of(shop), elsewhere);
    Reply keyspaces = new Reply.Keyspaces(List.of(shop), elsewhere);
    assertThat(LaterTypes.legible(welcome, 10)).isEqualTo(welcome);
    assertThat(LaterTypes.legible(keyspaces, 10)).isEqualTo(keyspaces);
    for (int version : new int[] {2, 9}) {
      assertThat(LaterTypes.legible(welcome, version))
          .isEqualTo(new Reply.Welcome(10, eu, List.of(shop, carts)));
      assertThat(LaterTypes.legible(keyspaces, version))
          .isEqualTo(new Reply.Keyspaces(List.of(shop, carts)));
    }
  }

  @Test
  void formerClient_seesWhatIsHashedByTag_andMayNotUseIt() {
    Partitioning byTag = new Partitioning(4, Partitioning.Hash.TAG);
    Reply.KeyspaceInfo shop = new Reply.KeyspaceInfo("shop", 500, 4, false);
    Reply.KeyspaceInfo tags = new Reply.KeyspaceInfo("tags", 500, byTag, false);
    Reply.KeyspaceInfo tagsPlain = new Reply.KeyspaceInfo("tags", 500, 4, false);
    Reply.KeyspaceInfo far = new Reply.KeyspaceInfo("far", 500, byTag, false);
    Reply.KeyspaceInfo farPlain = new Reply.KeyspaceInfo("far", 500, 4, false);
    Reply.Elsewhere elsewhere =
        new Reply.Elsewhere(List.of(new Reply.HeldElsewhere(far, List.of("us"))), Map.of());
    Reply told = new Reply.Keyspaces(List.of(shop, tags), elsewhere);
    assertThat(LaterTypes.legible(told, 11)).isEqualTo(told);
    assertThat(LaterTypes.legible(told, 10))
        .isEqualTo(
            new Reply.Keyspaces(
                List.of(shop, tagsPlain),
                new Reply.Elsewhere(
                    List.of(new Reply.HeldElsewhere(farPlain, List.of("us"))), Map.of())));
    assertThat(LaterTypes.legible(told, 9))
        .isEqualTo(new Reply.Keyspaces(List.of(shop, tagsPlain, farPlain)));
  }

  @Test
  void formerClient_seesKeyspacesWithHomes_asIfTheyHadNone() {
    Homes homes = new Homes(List.of("us", "eu"));
    Partitioning all = new Partitioning(4, Partitioning.Hash.TAG, homes);
    Reply told = new Reply.Keyspaces(List.of(new Reply.KeyspaceInfo("carts@eu", 500, all, false)));
    assertThat(LaterTypes.legible(told, Request.HOMES_VERSION)).isSameAs(told);
    Partitioning without = new Partitioning(4, Partitioning.Hash.TAG);
    assertThat(LaterTypes.legible(told, Request.HOMES_VERSION - 1))
        .isEqualTo(
            new Reply.Keyspaces(List.of(new Reply.KeyspaceInfo("carts@eu", 500, without, false))));
    assertThat(ProtocolCodec.decodeReply(ProtocolCodec.encode(1, told)).message()).isEqualTo(told);
  }

  /** It would take what is old for what is current. */
  @Test
  void formerClient_isGivenNoAnswerThatMayBeOld() {
    Reply.Answer current =
        new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(7), VersionVector.EMPTY);
    Reply.Answer aged = current.aged(Duration.ofSeconds(12));
    assertThat(LaterTypes.legible(aged, Request.AGES_VERSION)).isSameAs(aged);
    assertThat(LaterTypes.legible(current, Request.AGES_VERSION - 1)).isSameAs(current);
    for (int version : new int[] {2, Request.AGES_VERSION - 1}) {
      assertThat(LaterTypes.legible(aged, version))
          .isInstanceOfSatisfying(
              Reply.Failure.class,
              f -> {
                assertThat(f.code()).isEqualTo(ErrorCode.UNAVAILABLE);
                assertThat(f.message()).contains("12000 ms old", "version 13", "upgrade");
              });
    }
  }

  /** A client finds a key's partition as the datacenter does, whatever the policy. */
  @Test
  void clientsPartition_isTheDatacenters() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 200; i++) {
      Partitioning.Hash hash = Partitioning.Hash.values()[random.nextInt(2)];
      KeyspacePolicy policy =
          KeyspacePolicy.session("k", Duration.ZERO)
              .with(new Partitioning(1 + random.nextInt(256), hash));
      byte[] wire =
          ProtocolCodec.encode(1, new Reply.Keyspaces(List.of(Reply.KeyspaceInfo.of(policy))));
      Partitioning client =
          ((Reply.Keyspaces) ProtocolCodec.decodeReply(wire).message())
              .keyspaces()
              .getFirst()
              .partitioning();
      for (int k = 0; k < 20; k++) {
        Key key = Key.of("{" + random.nextInt(4) + "}" + random.nextInt());
        assertThat(client.of(key)).as("seed %d", seed).isEqualTo(policy.partitioning().of(key));
      }
    }
  }

  @Test
  void formerClient_isToldWhatItCannotRead_andGetsAllElse() {
    Reply.Answer later = answer(CrdtType.MAX_REGISTER, VALUE);
    Reply.Answer former = answer(CrdtType.LWW_REGISTER, VALUE);
    isToldInstead(later, "the answer has", "of type max");
    Reading nested = map(CrdtType.OR_MAP, map(CrdtType.STRING, VALUE));
    isToldInstead(answer(CrdtType.OR_MAP, nested), "of type string");
    isToldInstead(new Reply.Done(DOT, Optional.of(later)), "the update was done");
    isToldInstead(
        new Reply.Transacted(VersionVector.EMPTY, Optional.of(DOT), List.of(later)),
        "the update was done");
    isToldInstead(
        new Reply.Page(
            List.of(new Reply.Row(Key.of("k"), CrdtType.MIN_REGISTER, VALUE)),
            Optional.empty(),
            List.of()),
        "of type min");
    isToldInstead(
        new Reply.Changes(
            List.of(new Reply.Change(Key.of("k"), Optional.of(CrdtType.STRING), Optional.empty())),
            List.of(),
            true),
        "of type string");
    assertThat(LaterTypes.legible(former, 7)).isSameAs(former);
    Reply.All parts = (Reply.All) LaterTypes.legible(new Reply.All(List.of(former, later)), 7);
    assertThat(parts.parts().getFirst()).isEqualTo(former);
    assertThat(parts.parts().getLast()).isInstanceOf(Reply.Failure.class);
  }
}
