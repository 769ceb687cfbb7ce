package io.osier.datacenter.shard;

import static io.osier.datacenter.shard.KeyspacesTest.CONFIG;
import static io.osier.datacenter.shard.KeyspacesTest.keyspaces;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Partitioning;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.control.ControlHost.Holding;
import io.osier.datacenter.control.ControlHost.Part;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keyspaces whose holders change, and what is left of those that are held no more. */
final class KeyspaceHoldersTest {
  /** Who starts while another one leaves, or has dropped its data already. */
  @Test
  void keyspaceThatIsOpened_whenItsHoldersAreKnown_goesByNoneThatLeaves() {
    Keyspaces keyspaces = keyspaces();
    List<String> all = List.of("eu", "us");
    keyspaces.setHolders(
        "shop", new Holding(all, all, Part.SERVES, Set.of("us"), Set.of(), new TreeMap<>()));
    keyspaces.open(CONFIG.keyspaces());
    UpdateGate gate = requireNonNull(keyspaces.find("shop")).gate();
    gate.compared("us", Optional.of("it is not there"));
    assertThat(gate.isRefusedByAll()).isFalse();
    keyspaces.endWatching();
  }

  /** Its word that it does not have the keyspace any more is old then. */
  @Test
  void holderThatHasGone_isNoReasonToTakeNoUpdates_atAnyMoment() throws InterruptedException {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    keyspaces.setMembers(new Keyspaces.Members(Set.of("us"), Set.of("us"), false, 0));
    UpdateGate gate = requireNonNull(keyspaces.find("shop")).gate();
    List<String> all = List.of("eu", "us");
    AtomicBoolean refused = new AtomicBoolean();
    AtomicBoolean ends = new AtomicBoolean();
    AtomicLong looks = new AtomicLong();
    Thread reader =
        Thread.ofPlatform()
            .daemon(true)
            .start(
                () -> {
                  while (!ends.get()) {
                    refused.compareAndSet(false, gate.isRefusedByAll());
                    looks.incrementAndGet();
                  }
                });
    for (int i = 0; i < 500 || looks.get() < 10_000; i++) { // while it is looked at
      keyspaces.setHolders(
          "shop", new Holding(all, all, Part.SERVES, Set.of("us"), Set.of(), new TreeMap<>()));
      gate.compared("us", Optional.of("it is not there"));
      keyspaces.setHolders(
          "shop",
          new Holding(List.of("eu"), all, Part.SERVES, Set.of(), Set.of(), new TreeMap<>()));
    }
    ends.set(true);
    reader.join();
    assertThat(refused).isFalse();
    keyspaces.endWatching();
  }

  private static Keyspaces ownInTerm(int term, StoreService store) {
    return ownInTerm(term, keyspaces(Optional.of(store)));
  }

  private static Keyspaces ownInTerm(int term, Keyspaces keyspaces) {
    List<String> eu = List.of("eu");
    keyspaces.setHolders(
        "own",
        new Holding(eu, eu, Part.SERVES, Set.of(), Set.of(), new TreeMap<>(Map.of("eu", term))));
    keyspaces.open(CONFIG.keyspaces());
    return keyspaces;
  }

  private static void write(KeyspaceShard own) {
    own.partitions().forEach(PartitionRunner::start);
    CompletableFuture<Reply> done = new CompletableFuture<>();
    own.write(
        Requests.write("own", Key.of("c"), CrdtType.PN_COUNTER, new Operation.Increment(1)),
        new OrderedQueue(),
        done::complete);
    assertThat(done.join()).isNotInstanceOf(Reply.Failure.class);
    PartitionRunner.stopAll(own.partitions());
  }

  /** Its {@code _osier} was damaged: what comes of it again would have the earlier term dropped. */
  @Test
  void whatALaterTermHas_isNotOpenedInAnEarlierOne_unlessThisOneIsAlone(@TempDir Path dir) {
    KeyspacePolicy policy = KeyspacePolicy.session("own", Duration.ofMillis(500));
    try (StoreService store = TestShards.store(dir)) {
      Keyspaces before = ownInTerm(1, store);
      write(requireNonNull(before.find("own")));
      before.endWatching();
      Keyspaces after = keyspaces(Optional.of(store));
      assertThat(after.mayOpen(policy)).isFalse();
      assertThatThrownBy(() -> after.open(policy, Optional.empty(), false, List.of()))
          .hasMessageStartingWith("CONFIGURATION: keyspace 'own' is stored with a later term");
      assertThat(after.find("own")).isNull();
      after.setMembers(new Keyspaces.Members(Set.of(), Set.of(), false, 0));
      assertThat(after.mayOpen(policy)).as("nobody else knows more").isTrue();
      after.setMembers(new Keyspaces.Members(Set.of("us"), Set.of(), false, 0));
      ownInTerm(1, after);
      assertThat(requireNonNull(after.find("own")).partitions())
          .anyMatch(p -> p.store().pageDurable(none(), none(), 1, 1).entries().size() == 1);
      after.endWatching();
    }
  }

  private static <T> Optional<T> none() {
    return Optional.empty();
  }

  /** It was added again, and killed before it had dropped what it had before. */
  @Test
  void whatAnEarlierTermHad_isNotOpened_andThatOfTheSameTermIs(@TempDir Path dir) {
    try (StoreService store = TestShards.store(dir)) {
      Supplier<Boolean> isStored =
          () ->
              IntStream.range(0, 2)
                  .anyMatch(
                      i ->
                          store
                              .database()
                              .partition("own", i, Partitioning.byKey(2))
                              .state()
                              .isPresent());
      for (int term : List.of(0, 1)) {
        Keyspaces keyspaces = ownInTerm(term, store);
        assertThat(isStored.get()).isFalse();
        write(requireNonNull(keyspaces.find("own")));
        keyspaces.endWatching();
        assertThat(isStored.get()).isTrue();
        ownInTerm(term, store).endWatching();
        assertThat(isStored.get()).as("the same term").isTrue();
      }
    }
  }

  /** As one has it that ended between saying that it holds nothing any more and dropping it. */
  @Test
  void whatIsLeftOfAKeyspaceThatWasGivenUp_isDeleted(@TempDir Path dir) {
    try (StoreService store = TestShards.store(dir)) {
      RocksDatabase database = store.database();
      Keyspaces before = keyspaces(Optional.of(store));
      KeyspacePolicy far =
          KeyspacePolicy.session("far", Duration.ofMillis(500)).withReplicas(List.of("us"));
      before.open(far, Optional.empty(), false, List.of());
      KeyspacePolicy late = KeyspacePolicy.session("late", Duration.ofMillis(500));
      before.open(late, Optional.of("c1"), false, List.of());
      before.endWatching();
      assertThat(database.keyspaces()).containsExactlyInAnyOrder("far", "late@c1");
      Keyspaces after = keyspaces(Optional.of(store));
      after.drop("late", "c2", () -> {});
      after.drop("far", "file", () -> {});
      assertThat(database.keyspaces()).containsExactly("late@c1");
      after.drop("late", "c1", () -> {});
      assertThat(database.keyspaces()).isEmpty();
      after.endWatching();
    }
  }
}
