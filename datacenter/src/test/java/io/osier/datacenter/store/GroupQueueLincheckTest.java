package io.osier.datacenter.store;

import io.osier.core.memory.Budget;
import io.osier.testing.Interleavings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * The store's queue between partitions and its writer, with the threads interleaved by Lincheck's
 * model checker. Nobody waits with a time-out, so a wake-up that is lost is a test that hangs,
 * which is reported.
 */
final class GroupQueueLincheckTest {

  /** A queue with room for one group, and what became of the groups. */
  private static final class Scene {
    final Budget budget = new Budget("test", 1);
    final GroupQueue<Integer> queue = new GroupQueue<>(budget);
    final List<Integer> written = new ArrayList<>();
    private final GroupCommit<Integer> writer = new GroupCommit<>(queue);
    private int confirmed;

    void put(int group) {
      queue.put(group, 1, this::confirm);
    }

    private synchronized void confirm() {
      confirmed++;
      notifyAll();
    }

    synchronized void awaitConfirmed() {
      try {
        while (confirmed == 0) {
          wait();
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    /** As the store's thread does. */
    void write() {
      while (queue.await()) {
        takeTurn();
      }
    }

    private void takeTurn() {
      writer.step(written::addAll);
      queue.endTurn();
    }

    /** As one does who has run a partition in front of its thread. */
    void putAndHelp(int group) {
      boolean helping = queue.beginHelping();
      put(group);
      if (helping) {
        while (queue.tryTurn()) {
          takeTurn();
        }
        queue.endHelping(false);
      }
    }

    /** As one does where each write waits for the disk. */
    void putAndLeave(int group) {
      boolean helping = queue.beginHelping();
      put(group);
      if (helping) {
        queue.endHelping(true);
      }
    }

    /** Helps until something was written. */
    void helpForLong() {
      boolean helping = queue.beginHelping();
      awaitConfirmed();
      if (helping) {
        queue.endHelping(true);
      }
    }

    void check(boolean holds) {
      if (!holds || confirmed != written.size() || budget.used() != 0) {
        throw new AssertionError(
            written + ", confirmed: " + confirmed + ", bytes kept: " + budget.used());
      }
    }
  }

  /** While one thread writes as the store's does, two others act; then the store is closed. */
  private static void whileOneWrites(
      Consumer<Scene> one, Consumer<Scene> other, Predicate<List<Integer>> written) {
    Interleavings.of(
        () -> {
          Scene scene = new Scene();
          Thread writer = Interleavings.start(scene::write);
          Thread first = Interleavings.start(() -> one.accept(scene));
          Thread second = Interleavings.start(() -> other.accept(scene));
          List.of(first, second).forEach(Interleavings::join);
          scene.queue.close();
          List.of(writer).forEach(Interleavings::join);
          scene.check(written.test(scene.written));
        });
  }

  private static boolean isWhole(List<Integer> written) {
    return written.size() == 3 && written.contains(3) && written.indexOf(1) < written.indexOf(2);
  }

  @Test
  void groupsThatWaitForRoom_areAllWritten_eachPartitionsInOrder() {
    whileOneWrites(
        scene -> {
          scene.put(1);
          scene.put(2);
        },
        scene -> scene.put(3),
        GroupQueueLincheckTest::isWhole);
  }

  @Test
  void whoHelps_andWhoWaitsForRoomMeanwhile_areBothWritten() {
    whileOneWrites(
        scene -> {
          scene.putAndHelp(1);
          scene.putAndHelp(2);
        },
        scene -> scene.put(3),
        GroupQueueLincheckTest::isWhole);
  }

  @Test
  void whatAHelperLeaves_isWritten_whileAnotherOneHelps() {
    whileOneWrites(scene -> scene.putAndLeave(1), Scene::helpForLong, List.of(1)::equals);
  }

  @Test
  void closing_endsEverybodysWait() {
    Interleavings.of(
        () -> {
          Scene scene = new Scene();
          Thread writer = Interleavings.start(scene::write);
          Thread one =
              Interleavings.start(
                  () -> {
                    scene.put(1);
                    scene.put(2);
                  });
          scene.queue.close();
          List.of(one, writer).forEach(Interleavings::join);
          scene.check(List.of(1, 2).subList(0, scene.written.size()).equals(scene.written));
        });
  }

  @Test
  void failing_endsEverybodysWait_andConfirmsNothing() {
    Interleavings.of(
        () -> {
          Scene scene = new Scene();
          scene.put(1); // and nobody writes it
          Thread one = Interleavings.start(() -> scene.put(2));
          Thread other = Interleavings.start(() -> scene.put(3));
          Thread failing = Interleavings.start(scene.queue::fail);
          List.of(one, other, failing).forEach(Interleavings::join);
          scene.check(scene.written.isEmpty() && !scene.queue.await());
        });
  }
}
