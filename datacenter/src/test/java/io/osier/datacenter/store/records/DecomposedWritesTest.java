package io.osier.datacenter.store.records;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.VersionStore;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** What an update of a decomposed object writes and keeps in memory. */
final class DecomposedWritesTest extends DecomposedStores {
  /** What is in memory of an object that grows is bounded, whenever its groups are written. */
  @Property(tries = 20)
  void whatIsInMemory_isBounded(@ForAll("behind") int behind) {
    Scene scene = new Scene(inMemory(), new DecompositionLimits(120, 20));
    ObjectId object = OBJECTS.getFirst();
    int most = 0;
    for (int i = 0; i < 400; i++) {
      scene.update(object, new Operation.Add(List.of(element(i * 7 % 1_000))));
      scene.commit();
      while (scene.writes.size() > behind) {
        scene.write();
      }
      CrdtState state = requireNonNull(scene.store.get(object));
      assertThat(state).isEqualTo(scene.present.get(object));
      if (i > 50) {
        assertThat(Decomposition.isDecomposed(state)).isTrue();
        most = Math.max(most, Decomposition.inMemory(state));
      }
    }
    assertThat(most).isBetween(20, 20 + 2 * behind + 3);
  }

  @Provide
  Arbitrary<Integer> behind() {
    return Arbitraries.of(0, 1, 2, 5, 9);
  }

  /** An update of a decomposed object writes its head and what it changed. */
  @Property(tries = 1)
  void update_writesWhatItChanged() {
    List<List<Change>> groups = new ArrayList<>();
    Disk memory = inMemory();
    Disk noted =
        new Disk() {
          @Override
          public VersionStore versions() {
            return memory.versions();
          }

          @Override
          public void write(List<Change> changes) {
            groups.add(changes);
            memory.write(changes);
          }
        };
    Scene scene = new Scene(noted, new DecompositionLimits(120, 20));
    ObjectId object = OBJECTS.getFirst();
    for (int i = 0; i < 300; i++) {
      scene.update(object, new Operation.Add(List.of(element(i))));
      scene.commit();
      scene.write();
      EncodedGroup encoded = EncodedGroup.of(groups.getLast(), new RecordKeys(1), new Numbers());
      if (i > 20) {
        assertThat(encoded.bytes()).isLessThan(1_000);
      }
    }
  }

  private static final class Numbers implements RecordKeys.Dictionary {
    @Override
    public int numberOf(ReplicaId replica) {
      return 0;
    }

    @Override
    public List<ReplicaId> numbered() {
      return List.of(SELF);
    }

    @Override
    public ReplicaId replica(int number) {
      return SELF;
    }
  }
}
