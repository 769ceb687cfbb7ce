package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.cluster.Zipf;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Draws the key and the operation of each call. Operations and Zipfian ranks are drawn beforehand,
 * so that the cost of drawing is not measured. Thread-safe.
 */
final class Draw {
  private static final int KEYS_DRAWN = 1 << 18;

  /** A prime: with a divisor of the number of keys a key might always get one operation. */
  private static final int OPERATIONS_DRAWN = 65_537;

  private final int keys;
  private final String how;
  private final int[] ring;
  private final List<String> operations;

  /** The homes of the keys: key k belongs to home k modulo their number; may be empty. */
  private final List<String> homes;

  /** The share of a client's calls, 0 to 1, that use keys of its own home. */
  private final double own;

  private final byte[] drawn = new byte[OPERATIONS_DRAWN];
  private volatile int shift;

  Draw(Config load) {
    keys = load.getInt("keys");
    how = load.getString("draw");
    homes = load.getStringList("homes");
    own = load.getDouble("own");
    SplittableRandom random = new SplittableRandom(7);
    ring = new int[how.equals("zipfian") ? KEYS_DRAWN : 0];
    Zipf zipf = new Zipf(how.equals("zipfian") ? keys : 1);
    for (int i = 0; i < ring.length; i++) {
      ring[i] = zipf.next(random);
    }
    Config mix = load.getConfig("mix");
    operations = mix.root().keySet().stream().sorted().toList();
    int[] weight = operations.stream().mapToInt(mix::getInt).toArray();
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

  /** Returns the operations of the mix, sorted by name. */
  List<String> operations() {
    return operations;
  }

  /** Returns the index in {@link #operations} of a call's operation. */
  int operation(long number) {
    return drawn[(int) (number % OPERATIONS_DRAWN)];
  }

  /**
   * Returns the key of a call.
   *
   * @param dc the datacenter beside which the client is
   */
  int key(long number, String dc) {
    int key = key(number);
    if (homes.isEmpty()) {
      return key;
    }
    int count = homes.size();
    int home = Math.floorMod(homes.indexOf(dc) + shift, count);
    if (ThreadLocalRandom.current().nextDouble() >= own) {
      home = (home + 1 + ThreadLocalRandom.current().nextInt(count - 1)) % count;
    }
    return key - key % count + home;
  }

  /** Returns the datacenter whose clients use a home as their own at present. */
  String user(String home) {
    return homes.get(Math.floorMod(homes.indexOf(home) - shift, homes.size()));
  }

  private int key(long number) {
    return switch (how) {
      case "turns" -> (int) (number % keys);
      case "uniform" -> ThreadLocalRandom.current().nextInt(keys);
      default -> ofRank(ring[(int) (number & (KEYS_DRAWN - 1))]);
    };
  }

  /** Returns the key that has a rank at present; rank 0 is the hottest. */
  int ofRank(int rank) {
    return (rank + (homes.isEmpty() ? shift : 0)) % keys;
  }

  /** Moves the ranks of all keys at once, or, if the keys have homes, the clients' own homes. */
  void shift(int by) {
    shift = (shift + by) % keys;
  }
}
