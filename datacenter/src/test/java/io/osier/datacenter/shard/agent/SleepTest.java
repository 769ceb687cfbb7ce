package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.partition.machine.Now;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * All ways in which others can come in between while a thread goes to sleep: every step of theirs
 * is done at every point at which the sleeper touches what they share.
 */
final class SleepTest {
  /** Where others come in: before, at the due time, at the look, at the clock, in the sleep. */
  private static final int POINTS = 5;

  private static final long FAR = 1_000_000;
  private static final long SOON = 1_000;

  /** One schedule: at which point each step of the others is done. */
  private static final class Scene {
    final Sleep sleep;
    final boolean lockTakesWakeUps;
    final List<Runnable> steps = new ArrayList<>();
    final int[] at;
    int done;
    int point;
    boolean permit;
    boolean sleeps;
    long sleepsUntil;

    boolean busy;
    long due = FAR;

    Scene(int[] at, boolean lockTakesWakeUps) {
      this.at = at;
      this.lockTakesWakeUps = lockTakesWakeUps;
      this.sleep =
          new Sleep(
              new Sleep.Sleeper() {
                @Override
                public void park(long nanos) {
                  sleeps = !permit;
                  sleepsUntil = nanos;
                  permit = false;
                  others(); // while it sleeps
                }

                @Override
                public void unpark() {
                  permit = true;
                  sleeps = false;
                }
              });
    }

    void others() {
      while (done < steps.size() && at[done] == point) {
        steps.get(done++).run();
      }
      point++;
    }

    void run() {
      others();
      sleep.unlessBusy(
          () -> {
            long seen = due;
            others();
            if (lockTakesWakeUps) {
              permit = false;
              seen = due; // it is read under the lock
            }
            return seen;
          },
          () -> {
            boolean seen = busy;
            others();
            return seen;
          },
          new Time() {
            @Override
            public long nanos() {
              others();
              return 0;
            }

            @Override
            public long millis() {
              return now().millis();
            }

            @Override
            public Now now() {
              throw new AssertionError("nobody asks");
            }
          });
    }
  }

  private interface Others {
    List<Runnable> of(Scene scene);
  }

  /** Runs all schedules of some steps in their order; returns how many ended asleep. */
  private static int asleep(Others others, boolean lockTakesWakeUps, boolean[] lost) {
    int asleep = 0;
    for (int first = 0; first < POINTS; first++) {
      for (int second = first; second < POINTS; second++) {
        for (int third = second; third < POINTS; third++) {
          for (int fourth = third; fourth < POINTS; fourth++) {
            Scene scene = new Scene(new int[] {first, second, third, fourth}, lockTakesWakeUps);
            scene.steps.addAll(others.of(scene));
            scene.run();
            asleep += scene.sleeps ? 1 : 0;
            boolean something = scene.busy || scene.due < scene.sleepsUntil;
            lost[0] |= scene.sleeps && something;
          }
        }
      }
    }
    return asleep;
  }

  private static void neverLost(Others others) {
    for (boolean lockTakesWakeUps : new boolean[] {false, true}) {
      boolean[] lost = new boolean[1];
      asleep(others, lockTakesWakeUps, lost);
      assertThat(lost[0]).as("lock takes wake-ups: %s", lockTakesWakeUps).isFalse();
    }
  }

  @Test
  void whatIsBrought_isNeverSleptOver() {
    neverLost(s -> List.of(() -> s.busy = true, s.sleep::wake));
  }

  @Test
  void whatTwoBring_isNeverSleptOver() {
    neverLost(s -> List.of(() -> {}, () -> s.busy = true, s.sleep::wake, s.sleep::wake));
  }

  @Test
  void whatIsDueSooner_isNeverSleptOver() {
    neverLost(s -> List.of(() -> s.due = SOON, () -> s.sleep.wakeBefore(SOON)));
  }

  @Test
  void whatIsDueSooner_andBroughtByAnother_isNeverSleptOver() {
    neverLost(
        s ->
            List.of(
                () -> s.due = SOON,
                () -> s.sleep.wakeBefore(SOON),
                () -> s.busy = true,
                s.sleep::wake));
  }

  /** A scheduler that never lets it sleep would prove nothing. */
  @Test
  void whereNothingIsBrought_itSleeps() {
    boolean[] lost = new boolean[1];
    assertThat(asleep(s -> List.of(), false, lost)).isPositive();
    assertThat(lost[0]).isFalse();
  }
}
