package io.osier.datacenter.copies;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.VersionVector;
import io.osier.datacenter.config.CopySettings;
import io.osier.protocol.Reply;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** How old what a copy answers may be, in virtual time. */
final class CopyAgeTest {
  /** How long a change is held at most, its way, and what it takes to read and take it. */
  private static final long AGE_MAX_MILLIS = CopyWorld.HOLD_MILLIS + CopyWorld.WAY_MILLIS + 5;

  /** By key, what it was from when on. */
  private final Map<String, TreeMap<Long, Long>> history = new HashMap<>();

  private long hits;
  private long oldest;

  /** While the link is up, whatever else happens. */
  @Test
  void randomly_copyIsNoOlderThanItsBound() {
    for (long seed = 1; seed <= 40; seed++) {
      randomly(seed, new CopyWorld());
    }
    assertThat(hits).isGreaterThan(10_000);
    assertThat(oldest).as("changes are held back").isGreaterThan(CopyWorld.HOLD_MILLIS);
  }

  /** The runs above find a holder that holds changes back for longer. */
  @Test
  void randomly_holderThatHoldsChangesBack_isFound() {
    CopyWorld late = new CopyWorld();
    late.holdMillis = 2 * CopyWorld.HOLD_MILLIS;
    assertThatThrownBy(() -> randomly(1, late)).hasMessageContaining("seed 1");
  }

  private void randomly(long seed, CopyWorld world) {
    Random random = new Random(seed);
    CopyWorld.Reader reader = world.new Reader("ap", new CopySettings(1 << 20, 4, 1_000));
    history.clear();
    int keys = 1 + random.nextInt(6);
    int updates = 1 + random.nextInt(40);
    for (int i = 0; i < 4_000; i++) {
      String key = "k" + random.nextInt(keys);
      int draw = random.nextInt(100);
      if (draw < updates) {
        if (random.nextInt(8) == 0) {
          reader.incremented(key);
        } else {
          world.increment(key);
        }
        history.computeIfAbsent(key, k -> new TreeMap<>()).put(world.millis(), world.count(key));
      } else if (draw == 50) {
        reader.cut();
      } else if (draw < 60) {
        reader.cut = false;
      } else if (draw == 60) {
        world.pass(random.nextInt(12_000)); // questions end that have waited for nothing
      } else {
        Reply copied = reader.copied(key, VersionVector.EMPTY);
        if (copied == null) {
          reader.forwarded(key, VersionVector.EMPTY);
        } else {
          hits++;
          boolean isThere = ((Reply.Answer) copied).reading().isPresent();
          check(seed, i, key, isThere ? CopyWorld.count(copied) : 0, world.millis());
        }
      }
      world.pass(random.nextInt(10));
    }
  }

  private void check(long seed, int step, String key, long read, long now) {
    Map.Entry<Long, Long> missed = null; // the first change that is not in it
    for (Map.Entry<Long, Long> change : history.getOrDefault(key, new TreeMap<>()).entrySet()) {
      if (change.getValue() > read) {
        missed = change;
        break;
      }
    }
    long age = missed == null ? 0 : now - missed.getKey();
    oldest = Math.max(oldest, age);
    assertThat(age).as("seed %s, step %s, %s", seed, step, key).isLessThanOrEqualTo(AGE_MAX_MILLIS);
  }
}
