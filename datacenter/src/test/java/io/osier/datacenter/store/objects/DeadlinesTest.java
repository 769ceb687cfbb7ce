package io.osier.datacenter.store.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.memory.MemoryVersions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The index of deadlines over a disk that is slow and readers that take their time, with room for a
 * few: everything is told once its time has come, whatever was changed meanwhile.
 */
final class DeadlinesTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final CrdtType TYPE = CrdtType.LWW_REGISTER;

  /** What is noted, and how far it is durable. */
  private static final class Disk implements Deadlines.Notes {
    final MemoryVersions written = new MemoryVersions();
    final ArrayDeque<List<Change>> underWay = new ArrayDeque<>();
    List<Change> changes = new ArrayList<>();
    long group = 1;
    long durable;
    int wakes;

    @Override
    public List<Deadline> deadlines(Optional<Deadline> after, int limit) {
      return written.deadlines(after, limit);
    }

    @Override
    public long group() {
      return changes.isEmpty() ? group - 1 : group;
    }

    @Override
    public long durableGroup() {
      return durable;
    }

    @Override
    public void wake() {
      wakes++;
    }

    void commit() {
      underWay.add(changes);
      changes = new ArrayList<>();
      group++;
    }

    void write() {
      if (!underWay.isEmpty()) {
        written.write(underWay.poll());
        durable++;
      }
    }
  }

  private static CrdtState until(long millis) {
    CrdtState state = CrdtState.bottom(TYPE);
    state = state.join(state.prepare(new Operation.Assign(Value.of(1)), EU, 1, 0, 1, 0));
    return millis == CrdtState.NEVER
        ? state
        : state.join(state.prepare(new Operation.Expire(millis, false), EU, 2, 1, 1, 0));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void everythingIsTold_whenItsTimeHasCome(long seed) {
    Random random = new Random(seed);
    Disk disk = new Disk();
    ArrayDeque<Runnable> readers = new ArrayDeque<>();
    Executor executor = readers::add;
    long room = 2_000L + random.nextInt(6_000); // ten or fifty
    Deadlines deadlines = new Deadlines(disk, executor, room);
    deadlines.recover();
    Map<ObjectId, CrdtState> states = new HashMap<>();
    Set<ObjectId> due = new TreeSet<>();
    long now = 0;
    int most = 0;
    for (int step = 0; step < 30_000; step++) {
      switch (random.nextInt(10)) {
        case 0, 1, 2, 3 -> {
          ObjectId object = new ObjectId(Key.of("k" + random.nextInt(2_000)), TYPE);
          long to = random.nextInt(5) == 0 ? CrdtState.NEVER : now + 1 + random.nextInt(20_000);
          CrdtState next = until(to);
          deadlines.changed(object, states.get(object), next, disk.changes::add);
          states.put(object, next);
          due.remove(object);
        }
        case 4 -> disk.commit();
        case 5 -> disk.write();
        case 6 -> {
          if (!readers.isEmpty()) {
            readers.poll().run();
          }
        }
        default -> {
          now += random.nextInt(20);
          take(deadlines, states, due, now);
        }
      }
      most = Math.max(most, deadlines.size());
    }
    for (int i = 0; i < 10_000; i++) { // and after a while nothing that is over is left
      disk.commit();
      disk.write();
      if (!readers.isEmpty()) {
        readers.poll().run();
      }
      take(deadlines, states, due, now);
    }
    long until = now;
    Set<ObjectId> over = new TreeSet<>();
    states.forEach(
        (object, state) -> {
          if (state.isOver(until)) {
            over.add(object);
          }
        });
    assertThat(due).as("seed %d", seed).isEqualTo(over);
    assertThat(states.size()).isGreaterThan(1_500);
    assertThat(disk.wakes).as("some were read").isPositive();
    assertThat(most).as("few were here").isLessThan(states.size());
  }

  /** What is told and is not over was changed since, and is told again at its time. */
  private static void take(
      Deadlines deadlines, Map<ObjectId, CrdtState> states, Set<ObjectId> due, long now) {
    for (Deadline d : deadlines.take(now, 7)) {
      assertThat(d.millis()).isLessThanOrEqualTo(now);
      CrdtState state = states.get(d.object());
      if (state != null && state.isOver(now)) {
        due.add(d.object());
      }
    }
  }
}
