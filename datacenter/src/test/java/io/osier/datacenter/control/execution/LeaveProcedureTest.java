package io.osier.datacenter.control.execution;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.KeyspaceFactory;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.shard.agent.PendingAnswer;
import io.osier.datacenter.testing.Requests;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.host.LinkWindows;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One that gives a keyspace up, whose only peer says what the test has it say. */
final class LeaveProcedureTest {
  private static final DatacenterConfig CONFIG =
      ConfigReader.read(
          "test",
          "osier { dc = eu, store.dir = \"\", peers { us = \"127.0.0.1:1\" },"
              + " keyspaces { pair { partitions = 1, replicas = [eu, us] } } }",
          Map.of());

  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final Key COUNTER = Key.of("b");
  private static final List<String> HEIRS = List.of("us");
  private static final String UNSHIPPED =
      "some datacenters do not have all updates of this one yet";
  private static final String UNNOTED =
      "some datacenters have not confirmed yet that they give this one no more rights";
  private static final String UNCOMPARED =
      "some updates that the others had when the leave began have not arrived here yet";

  /** The epoch of the stream that was asked of the peer last. */
  private final AtomicLong asked = new AtomicLong();

  /** How far the updates go that were shipped to it. */
  private final AtomicLong shipped = new AtomicLong();

  private long epoch;

  private final Keyspaces keyspaces =
      new Keyspaces(
          new KeyspaceFactory.Around(
              CONFIG,
              EU,
              Optional.empty(),
              new KeyspaceFactory.Threads(Runnable::run, PendingAnswer::run, false),
              new KeyspaceFactory.Network(LinkWindows.NONE, this::sent, dc -> 0),
              Traces.OFF,
              failure -> {}));

  private void sent(ReplicaId to, String keyspace, int partition, Frame frame) {
    if (frame instanceof Frame.Resume r) {
      asked.set(r.epoch());
    } else if (frame instanceof Frame.Updates u) {
      shipped.set(u.through());
    }
  }

  private KeyspaceShard pair() {
    return requireNonNull(keyspaces.find("pair"));
  }

  private PartitionRunner partition() {
    return pair().partitions().getFirst();
  }

  private VersionVector here() {
    return await().until(() -> PeerCoverage.here(partition()), Optional::isPresent).orElseThrow();
  }

  /** What is here, once all that this one has written is shipped. */
  private VersionVector all() {
    await()
        .until(
            () -> {
              partition().submit(new Input.Flush());
              return shipped.get() >= here().get(EU);
            });
    return here();
  }

  private void up(ReplicaId peer, VersionVector has) {
    partition().submit(new Input.PeerUp(peer));
    tells(peer, has);
    Frame asks = new Frame.Resume(++epoch, has.get(EU), Optional.empty());
    partition().submit(new Input.FromPeer(peer, asks));
  }

  private void tells(ReplicaId peer, VersionVector has) {
    partition()
        .submit(
            new Input.FromPeer(
                peer,
                new Frame.Status(
                    true, 0, 0, has, 1, VersionVector.EMPTY, has.get(peer), false, 1_000)));
  }

  private Reply write(Key key, CrdtType type, Operation operation) {
    CompletableFuture<Reply> done = new CompletableFuture<>();
    Request.Write write = Requests.write("pair", key, type, operation);
    pair().write(write, new OrderedQueue(), done::complete);
    return done.join();
  }

  private Reply increment() {
    return write(Key.of("c"), CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  private String rights() {
    CompletableFuture<Reply> read = new CompletableFuture<>();
    Request.Read rights =
        Requests.read("pair", COUNTER, CrdtType.BOUNDED_COUNTER, new Query.Rights());
    pair().read(rights, new OrderedQueue(), read::complete);
    return read.join().toString();
  }

  private LeaveProcedure leaves() {
    return new LeaveProcedure(EU, new GivenUp.Running(keyspaces, keyspaces::held), new LongAdder());
  }

  private static void isAt(LeaveProcedure procedure, String words) {
    assertThat(procedure.progress()).contains(words);
  }

  /** What us has written has come here, as if it had removed all of it. */
  @BeforeEach
  void begin() {
    keyspaces.open(CONFIG.keyspaces().getFirst(), Optional.of("c1"), true, List.of());
    keyspaces.setMembers(new Keyspaces.Members(Set.of("us"), Set.of("eu", "us"), false, 0));
    keyspaces.start("pair");
    up(US, VersionVector.of(US, 5));
    await().until(() -> asked.get() > 0);
    partition()
        .submit(
            new Input.FromPeer(
                US,
                new Frame.Updates(
                    Frame.Kind.CATCH_UP,
                    asked.get(),
                    1,
                    5,
                    VersionVector.EMPTY,
                    Optional.of(new Frame.Cursor(1, 0, 5, 5, Optional.empty())),
                    false,
                    0,
                    List.of())));
    await().until(() -> here().get(US) == 5);
    assertThat(write(COUNTER, CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 10, List.of())))
        .isNotInstanceOf(Reply.Failure.class);
  }

  @AfterEach
  void end() {
    PartitionRunner.stopAll(keyspaces.partitions().toList());
    keyspaces.endWatching();
  }

  /** Until it ships the last, for which the peer's word is needed. */
  private LeaveProcedure shipsTheLast() {
    LeaveProcedure procedure = leaves();
    tells(US, all());
    await().until(procedure::isQuiet);
    await()
        .until(
            () -> {
              tells(US, here().with(EU, 1));
              boolean unused = procedure.step(HEIRS);
              return procedure.progress().filter(UNSHIPPED::equals).isPresent();
            });
    return procedure;
  }

  private void mustWait(LeaveProcedure procedure) {
    for (int i = 0; i < 5; i++) {
      assertThat(procedure.step(HEIRS)).isFalse();
      isAt(procedure, UNSHIPPED);
    }
  }

  @Test
  void eachStage_waitsForWhatItNames() {
    LeaveProcedure procedure = leaves();
    assertThat(increment()).isInstanceOf(Reply.Failure.class);
    assertThat(procedure.isQuiet()).isFalse();
    isAt(procedure, UNSHIPPED);
    tells(US, all());
    await().until(procedure::isQuiet);
    isAt(procedure, UNNOTED);
    assertThat(procedure.step(HEIRS)).isFalse();
    isAt(procedure, UNCOMPARED);
    tells(US, all().with(US, 7));
    for (int i = 0; i < 5; i++) {
      assertThat(procedure.step(HEIRS)).as("it has not what us has").isFalse();
      isAt(procedure, UNCOMPARED);
    }
  }

  @Test
  void rights_areGivenAway_andTheOthersMustHaveThat() {
    LeaveProcedure procedure = shipsTheLast();
    mustWait(procedure);
    assertThat(rights()).contains("eu=Share[down=0, up=0]", "us=Share[down=0, up=10]");
    tells(US, all());
    await().until(() -> procedure.step(HEIRS));
    assertThat(procedure.progress()).isEmpty();
  }

  /** It has agreed, and all that it wrote before is here alone. */
  @Test
  void peerThatHasLostItsMemory_isWaitedFor_untilItHasAgainWhatItWrote() {
    LeaveProcedure procedure = shipsTheLast();
    ReplicaId again = new ReplicaId("us", 2);
    up(again, VersionVector.EMPTY);
    mustWait(procedure);
    tells(again, all().with(US, 0));
    mustWait(procedure);
    tells(again, all());
    await().until(() -> procedure.step(HEIRS));
  }

  @Test
  void peerThatIsNotConnected_isWaitedFor_asItMayLoseItsMemory() {
    LeaveProcedure procedure = shipsTheLast();
    tells(US, all());
    partition().submit(new Input.PeerDown("us"));
    mustWait(procedure);
    up(US, all());
    await().until(() -> procedure.step(HEIRS));
  }

  /** What it took meanwhile is shipped, too, and compared with, before it goes. */
  @Test
  void holderThatIsResumed_takesUpdates_andBeginsFromTheFirstStageWhenItIsToGoAgain() {
    Handovers handovers = new Handovers(EU, keyspaces);
    tells(US, all());
    await().until(() -> handovers.isQuiet("pair"));
    assertThat(handovers.giveAway("pair", HEIRS)).isFalse();
    assertThat(increment()).isInstanceOf(Reply.Failure.class);
    handovers.resume("pair");
    assertThat(increment()).isNotInstanceOf(Reply.Failure.class);
    assertThat(handovers.isQuiet("pair")).isFalse();
    assertThat(increment()).isInstanceOf(Reply.Failure.class);
    tells(US, all());
    await().until(() -> handovers.isQuiet("pair"));
    await()
        .until(
            () -> {
              tells(US, all());
              return handovers.giveAway("pair", HEIRS);
            });
    assertThat(rights()).contains("eu=Share[down=0, up=0]");
  }
}
