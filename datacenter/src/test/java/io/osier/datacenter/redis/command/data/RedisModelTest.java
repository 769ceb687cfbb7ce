package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Random sequences of commands are answered as a model of Redis' single node answers them. {@code
 * -Dosier.redis.sequences=N} tries so many, {@code -Dosier.redis.seed=S} begins with that seed.
 */
class RedisModelTest {
  private static final int COMMANDS = 40;

  @Test
  void randomCommands_asASingleNodeOfRedis() {
    long first = Long.getLong("osier.redis.seed", System.nanoTime());
    for (int i = 0; i < Integer.getInteger("osier.redis.sequences", 2_000); i++) {
      long seed = first + i;
      sequence(seed);
    }
  }

  private static void sequence(long seed) {
    RedisNode node = RedisNode.alone();
    RedisModel model = new RedisModel();
    RandomCommands commands = new RandomCommands(new SplittableRandom(seed));
    List<String> done = new ArrayList<>();
    for (int i = 0; i < COMMANDS; i++) {
      List<String> words = commands.next(node.millis());
      String answer = Texted.text(words.getFirst(), node.answer(words.toArray(new String[0])));
      done.add(words + " -> " + answer);
      String expected = model.answer(node.millis(), words, answer);
      if (!answer.equals(expected)) {
        done.add("and not " + expected);
        fail(
            "-Dosier.redis.seed="
                + seed
                + " -Dosier.redis.sequences=1: "
                + String.join("\n", done));
      }
      node.pass(commands.millis());
    }
  }
}
