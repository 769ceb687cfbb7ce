package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.protocol.Request;
import io.osier.testing.Faked;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Objects that only remember removals are looked at when their time has come, and not before. */
final class RemovalCollectorLooksTest {
  private static final int OBJECTS = 3_000;
  private static final long MILLI = 1_000_000;
  private static final int FORGET_MILLIS = 10_000;

  private final MemoryStore store = new MemoryStore();

  /** How often the partition asked for an object. */
  private int looks;

  /** The most that one input took. */
  private int looksAtOnceMax;

  private long millis = 10_000;
  private Partition partition = partition(List.of());

  private ObjectStore counted() {
    return Faked.of(
        ObjectStore.class,
        (proxy, method, arguments) -> {
          if (List.of("get", "getUndamaged").contains(method.getName())
              && method.getParameterTypes()[0] == ObjectId.class) {
            looks++;
          }
          try {
            return method.invoke(store, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  private Partition partition(List<String> peers) {
    return new Partition(
        new PartitionConfig(
            new ReplicaId("eu", 1),
            peers,
            KeyspacePolicy.session("k", Duration.ofMillis(100)),
            0,
            new StreamSettings(1 << 20, 1 << 16, 1_000, 200, 1_000, FORGET_MILLIS),
            AdaptationSettings.DEFAULT),
        counted(),
        RecoveredState.NOTHING,
        now());
  }

  private void start(String... peers) {
    partition = partition(List.of(peers));
    pass(Partition.JOIN_NANOS / MILLI + 1);
    for (int i = 0; i < OBJECTS; i++) {
      write(i, new Operation.Increment(1));
    }
    for (int i = 0; i < OBJECTS; i++) {
      write(i, new Operation.Clear());
    }
    looks = 0;
    looksAtOnceMax = 0;
  }

  private Now now() {
    return new Now(millis * MILLI, millis);
  }

  private void write(int number, Operation operation) {
    Key key = Key.of("key" + number);
    Request write = Requests.write("k", key, CrdtType.PN_COUNTER, operation);
    partition.step(new Input.Command(number, write), now());
  }

  private void pass(long spanMillis) {
    long end = millis + spanMillis;
    for (; millis < end; millis++) {
      while (partition.nextTickNanos() <= millis * MILLI) {
        int before = looks;
        partition.step(new Input.Tick(), now());
        looksAtOnceMax = Math.max(looksAtOnceMax, looks - before);
      }
    }
  }

  @Test
  void removed_isLookedAtOnce_inSlices_whenItIsForgotten() {
    start();
    pass(FORGET_MILLIS);
    assertThat(looks).as("nothing can be forgotten yet").isZero();
    pass(3_000);
    assertThat(store.size()).isZero();
    assertThat(partition.step(new Input.Inspect(0, 1), now()).atOnce().getFirst().report())
        .satisfies(report -> assertThat(report.content().removedObjects()).isZero());
    assertThat(looks).isEqualTo(OBJECTS);
    assertThat(looksAtOnceMax).isEqualTo(RemovalCollector.LOOKS_MAX);
  }

  @Test
  void removed_isNotLookedAt_whileADatacenterIsAway() {
    start("us");
    pass(FORGET_MILLIS);
    looks = 0; // those of who would ship them
    pass(10L * FORGET_MILLIS);
    assertThat(store.size()).isEqualTo(OBJECTS);
    assertThat(looks).isZero();
  }

  /** What is removed, written and removed again waits at one place, and its time begins anew. */
  @Test
  void removedAnew_isForgottenOnce() {
    start();
    pass(FORGET_MILLIS / 2);
    for (int i = 0; i < OBJECTS; i++) {
      write(i, new Operation.Increment(1));
    }
    for (int i = 0; i < OBJECTS; i++) {
      write(i, new Operation.Clear());
    }
    pass(FORGET_MILLIS - 1);
    assertThat(store.size()).as("not before everybody has had it for long").isEqualTo(OBJECTS);
    pass(2 * FORGET_MILLIS);
    assertThat(store.size()).isZero();
  }

  @Test
  void alive_isForgottenNeither() {
    start();
    write(0, new Operation.Increment(1));
    pass(2 * FORGET_MILLIS);
    assertThat(store.size()).isEqualTo(1);
  }
}
