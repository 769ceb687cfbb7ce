package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.receive.CutQueue.Cut;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class CutAdmissionTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final List<ReplicaId> ALL = List.of(EU, US, AP);

  private static Cut cut(ReplicaId origin, long through, VersionVector deps) {
    return new Cut(
        CausalDelivery.Source.stream(origin),
        Optional.of(origin),
        through,
        deps,
        List.of(),
        Optional.empty(),
        0);
  }

  private static CutQueue queue(Cut... cuts) {
    CutQueue queue = new CutQueue();
    List.of(cuts).forEach(queue::add);
    return queue;
  }

  private static VersionVector deps(ReplicaId origin, long through) {
    return VersionVector.EMPTY.with(origin, through);
  }

  @Test
  void cutThatDependsOnAnother_comesAfterIt() {
    Cut first = cut(US, 1, VersionVector.EMPTY);
    Cut second = cut(EU, 1, deps(US, 1));
    List<CutQueue> queues = List.of(queue(second), queue(first));
    assertThat(CutAdmission.admissible(queues, VersionVector.EMPTY)).containsExactly(first, second);
  }

  @Test
  void cutWhoseDependencyIsNotHere_waits_andWhatFollowsIt() {
    List<CutQueue> queues =
        List.of(queue(cut(EU, 1, deps(AP, 2)), cut(EU, 2, deps(AP, 2))), queue());
    assertThat(CutAdmission.admissible(queues, deps(AP, 1))).isEmpty();
    assertThat(CutAdmission.admissible(queues, deps(AP, 2))).hasSize(2);
  }

  @Test
  void cutsThatDependOnEachOther_areAdmittedTogether_andThenWhatNeedsThem() {
    Cut eu = cut(EU, 1, deps(US, 1));
    Cut us = cut(US, 1, deps(EU, 1));
    Cut more = cut(US, 2, deps(EU, 1));
    Cut lacking = cut(EU, 2, deps(US, 3));
    List<CutQueue> queues = List.of(queue(eu, lacking), queue(us, more));
    assertThat(CutAdmission.admissible(queues, VersionVector.EMPTY)).containsExactly(eu, us, more);
  }

  /** Whatever waits: all cuts that can be admitted are, in an allowed order, and no others. */
  @Test
  void admitted_isTheLargestSetThatDependsOnNothingElse() {
    for (int seed = 0; seed < 3_000; seed++) {
      Random random = new Random(seed);
      List<List<Cut>> cuts = new ArrayList<>();
      for (ReplicaId origin : ALL) {
        List<Cut> own = new ArrayList<>();
        VersionVector deps = VersionVector.EMPTY;
        for (int through = 1; through <= random.nextInt(4); through++) {
          ReplicaId other = ALL.get(random.nextInt(ALL.size()));
          if (!other.equals(origin)) {
            deps = deps.raised(other, random.nextInt(5));
          }
          own.add(cut(origin, through, deps));
        }
        cuts.add(own);
      }
      VersionVector here = deps(ALL.get(random.nextInt(ALL.size())), random.nextInt(2));
      List<CutQueue> queues = cuts.stream().map(own -> queue(own.toArray(Cut[]::new))).toList();
      List<Cut> admitted = CutAdmission.admissible(queues, here);
      assertThat(admitted)
          .as("seed %d", seed)
          .containsExactlyInAnyOrderElementsOf(largest(cuts, here));
      Map<ReplicaId, Long> last = new HashMap<>();
      for (Cut cut : admitted) {
        assertThat(last.merge(cut.origin().orElseThrow(), 1L, Long::sum))
            .as("seed %d", seed)
            .isEqualTo(cut.through());
      }
      assertThat(queues.stream().mapToInt(queue -> queue.cuts.size()).sum())
          .isEqualTo(cuts.stream().mapToInt(List::size).sum());
    }
  }

  /** Finds them by trying all sets of first cuts of each queue. */
  private static List<Cut> largest(List<List<Cut>> cuts, VersionVector here) {
    List<Cut> largest = List.of();
    for (int a = 0; a <= cuts.get(0).size(); a++) {
      for (int b = 0; b <= cuts.get(1).size(); b++) {
        for (int c = 0; c <= cuts.get(2).size(); c++) {
          List<Cut> some = new ArrayList<>(cuts.get(0).subList(0, a));
          some.addAll(cuts.get(1).subList(0, b));
          some.addAll(cuts.get(2).subList(0, c));
          VersionVector with = here;
          for (Cut cut : some) {
            with = cut.raise(with);
          }
          VersionVector all = with;
          if (some.size() > largest.size()
              && some.stream().allMatch(cut -> cut.deps().isAtMost(all))) {
            largest = some;
          }
        }
      }
    }
    return largest;
  }
}
