package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.TestShards;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.protocol.Reply;
import io.osier.protocol.ScanRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Nobody is shown what a crash can still take back (I5), the first row of a page included. */
final class ScanDurabilityTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ObjectId FIRST = new ObjectId(Key.of("a"), CrdtType.PN_COUNTER);

  private final List<Runnable> writes = new ArrayList<>();
  private final MemoryVersions versions = new MemoryVersions();
  private final PartitionStore store = Partitions.store(versions, writer(), SELF);
  private long number;

  /** Writes when the test says so. */
  private GroupWriter writer() {
    return new GroupWriter() {
      @Override
      public void write(Group group) {
        writes.add(
            () -> {
              versions.write(group.changes());
              group.written().run();
            });
      }

      @Override
      public Runnable someTime(List<Change> changes) {
        return () -> writes.add(() -> versions.write(changes));
      }
    };
  }

  private void increment() {
    CrdtState before = store.get(FIRST);
    CrdtState state = before == null ? CrdtState.bottom(FIRST.type()) : before;
    long predecessor = number;
    CrdtState delta =
        state.prepare(new Operation.Increment(1), SELF, ++number, predecessor, number, 0);
    Partitions.commit(store, FIRST, SELF, number, delta);
  }

  private List<Reply.Row> rows(Optional<Key> from) {
    PartitionRunner runner =
        TestShards.runner(
            new PartitionPorts(
                "shop-0", new PartitionRunnerFixture.Script(), store, store, (to, frame) -> {}),
            10,
            new SlewedClock(Time.wallMillis(), System.nanoTime()),
            failure -> {});
    KeyspacePolicy policy = KeyspacePolicy.session("shop", Duration.ofSeconds(2));
    KeyspaceShard shop = TestShards.alone(policy, List.of(runner), Runnable::run);
    ScanRequest scan = new ScanRequest("shop", from, Optional.empty(), new Query.Whole(), 10);
    List<Reply> page = new ArrayList<>();
    shop.scan(scan, page::add);
    return ((Reply.Page) page.getFirst()).rows();
  }

  @Test
  void rowThatAScanBeginsWith_isShownAsItIsOnTheDisk() {
    increment();
    for (Optional<Key> from : List.of(Optional.<Key>empty(), Optional.of(FIRST.key()))) {
      assertThat(rows(from)).as("nothing is durable yet, from %s", from).isEmpty();
    }
    writes.forEach(Runnable::run);
    writes.clear();
    List<Reply.Row> durable = rows(Optional.of(FIRST.key()));
    assertThat(durable).hasSize(1);
    increment();
    for (Optional<Key> from : List.of(Optional.<Key>empty(), Optional.of(FIRST.key()))) {
      assertThat(rows(from)).as("the second is not durable, from %s", from).isEqualTo(durable);
    }
  }
}
