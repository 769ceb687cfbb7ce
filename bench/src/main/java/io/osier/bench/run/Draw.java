package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.cluster.Zipf;
import io.osier.bench.systems.ScenarioException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Which key and which operation a call has. What is costly to draw is drawn beforehand, so that
 * drawing is not what is measured. Thread-safe.
 */
final class Draw {
  private static final double EXPONENT = 0.99;
  private static final int KEYS_DRAWN = 1 << 18;

  /** No divisor of a number of keys: else a key might always get the same operation. */
  private static final int OPERATIONS_DRAWN = 65_537;

  private static final int WEIGHT_MAX = 1_000_000;

  private final int keys;
  private final String how;
  private final int[] ring;
  private final List<String> operations;
  private final byte[] drawn = new byte[OPERATIONS_DRAWN];
  private volatile int shift;

  /** As a load says. */
  Draw(Config load) {
    keys = load.getInt("keys");
    how = load.getString("draw");
    SplittableRandom random = new SplittableRandom(7);
    ring = new int[how.equals("zipfian") ? KEYS_DRAWN : 0];
    Zipf zipf = new Zipf(how.equals("zipfian") ? keys : 1, EXPONENT);
    for (int i = 0; i < ring.length; i++) {
      ring[i] = zipf.next(random);
    }
    Map<String, Integer> weights = weights(load);
    operations = List.copyOf(weights.keySet());
    int[] weight = weights.values().stream().mapToInt(w -> w).toArray();
    int sum = Arrays.stream(weight).sum();
    for (int i = 0; i < drawn.length && sum > 0; i++) {
      int left = random.nextInt(sum);
      byte at = 0;
      while (left >= weight[at]) {
        left -= weight[at++];
      }
      drawn[i] = at;
    }
  }

  /**
   * What a load calls, each with its weight, by name.
   *
   * @throws ScenarioException if a weight is none, or all are 0
   */
  static SortedMap<String, Integer> weights(Config load) {
    Config mix = load.getConfig("mix");
    SortedMap<String, Integer> weights = new TreeMap<>();
    for (String operation : mix.root().keySet()) {
      int weight = mix.getInt(operation);
      if (weight < 0 || weight > WEIGHT_MAX) {
        throw new ScenarioException(
            "load.mix." + operation + " must be from 0 to " + WEIGHT_MAX + ", not " + weight);
      }
      weights.put(operation, weight);
    }
    if (!weights.isEmpty() && weights.values().stream().allMatch(weight -> weight == 0)) {
      throw new ScenarioException("load.mix must have a weight above 0 for one operation");
    }
    return weights;
  }

  /** What is called, each once. */
  List<String> operations() {
    return operations;
  }

  /** Which of them a call is. */
  int operation(long number) {
    return drawn[(int) (number % OPERATIONS_DRAWN)];
  }

  /** The key of a call. */
  int key(long number) {
    return switch (how) {
      case "turns" -> (int) (number % keys);
      case "uniform" -> ThreadLocalRandom.current().nextInt(keys);
      default -> ofRank(ring[(int) (number & (KEYS_DRAWN - 1))]);
    };
  }

  /** The key with a rank at present, 0 the hottest. */
  int ofRank(int rank) {
    return (rank + shift) % keys;
  }

  /** Makes other keys hot, at once. */
  void shift(int by) {
    shift = (shift + by) % keys;
  }
}
