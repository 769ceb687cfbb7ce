package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.fail;

import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.RedisCommand;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Two connections with random commands, MULTI, WATCH and EXEC are answered as a model of Redis'
 * single node answers them. {@code -Dosier.redis.sequences=N} tries so many, {@code
 * -Dosier.redis.seed=S} begins with that seed.
 */
class RedisTransactionModelTest {
  private static final int COMMANDS = 60;

  /** Fields that are over change nothing of a hash until they are removed. */
  private static final String FADES = "fields with deadlines";

  @Test
  void randomTransactionsOfTwoConnections_asASingleNodeOfRedis() {
    long first = Long.getLong("osier.redis.seed", System.nanoTime());
    for (int i = 0; i < Integer.getInteger("osier.redis.sequences", 500); i++) {
      new Scene(first + i).run();
    }
  }

  /** What the model knows of a connection. */
  private static final class Client {
    final String name;
    final RedisQueue queue;
    boolean open;
    final List<List<String>> commands = new ArrayList<>();

    /** What watched keys held. */
    final Map<String, String> watched = new HashMap<>();

    /** Those that may have changed since. */
    final Set<String> touched = new HashSet<>();

    Client(String name, RedisNode node) {
      this.name = name;
      this.queue = new RedisQueue(node);
    }

    void end() {
      open = false;
      commands.clear();
      watched.clear();
      touched.clear();
    }
  }

  private static final class Scene {
    private final long seed;
    private final SplittableRandom random;
    private final RandomCommands draw;
    private final RedisNode node = RedisNode.alone();
    private final RedisModel model = new RedisModel();
    private final List<Client> clients = List.of(new Client("a", node), new Client("b", node));
    private final List<String> done = new ArrayList<>();

    Scene(long seed) {
      this.seed = seed;
      this.random = new SplittableRandom(seed);
      this.draw = new RandomCommands(random);
    }

    void run() {
      for (int i = 0; i < COMMANDS; i++) {
        Client client = clients.get(random.nextInt(2));
        step(client, next(client));
        node.pass(draw.millis());
      }
    }

    private List<String> next(Client client) {
      return switch (random.nextInt(client.open ? 8 : 5)) {
        case 0 -> List.of("MULTI");
        case 1 -> List.of("WATCH", "k" + random.nextInt(4), "k" + random.nextInt(4));
        case 2 ->
            random.nextInt(4) > 0
                ? List.of("EXEC")
                : List.of(random.nextBoolean() ? "DISCARD" : "UNWATCH");
        default -> draw.next(node.millis());
      };
    }

    private void step(Client client, List<String> words) {
      RespValue answer = client.queue.answer(words);
      String found = client.open ? Texted.text(answer) : Texted.text(words.getFirst(), answer);
      done.add(client.name + " " + words + " -> " + found);
      if (words.getFirst().equals("EXEC") && client.open) {
        executed(client, answer);
        return;
      }
      String expected =
          switch (words.getFirst()) {
            case "MULTI" -> client.open ? "-ERR MULTI calls can not be nested" : "+OK";
            case "EXEC", "DISCARD" ->
                client.open ? "+OK" : "-ERR " + words.getFirst() + " without MULTI";
            case "UNWATCH" -> "+OK";
            case "WATCH" -> client.open ? "-ERR WATCH inside MULTI is not allowed" : "+OK";
            default -> client.open ? "+QUEUED" : model.answer(node.millis(), words, found);
          };
      check(expected, found);
      follow(client, words);
    }

    /** What the model makes of a command that was answered as it should be. */
    private void follow(Client client, List<String> words) {
      switch (words.getFirst()) {
        case "MULTI" -> client.open = true;
        case "EXEC" -> {} // without MULTI
        case "DISCARD" -> {
          if (client.open) {
            client.end();
          }
        }
        case "UNWATCH" -> {
          if (!client.open) {
            client.end();
          }
        }
        case "WATCH" -> {
          if (!client.open) {
            words.stream().skip(1).forEach(key -> client.watched.putIfAbsent(key, held(key)));
          }
        }
        default -> {
          if (client.open) {
            client.commands.add(words);
          } else {
            touch(words);
          }
        }
      }
    }

    private void executed(Client client, RespValue answer) {
      Map<String, String> changed = new TreeMap<>();
      client.watched.forEach(
          (key, before) -> {
            String now = held(key);
            if (!now.equals(before) && !before.equals(FADES)) {
              changed.put(key, before + " is now " + now);
            }
          });
      if (answer instanceof RespValue.NullArray) {
        if (changed.isEmpty()
            && !client.watched.containsValue(FADES)
            && client.touched.stream().noneMatch(client.watched::containsKey)) {
          wrong("nothing that is watched was touched");
        }
      } else {
        if (!changed.isEmpty()) {
          wrong("it was done in spite of " + changed);
        }
        List<RespValue> answers = RedisQueue.all(answer);
        if (answers.size() != client.commands.size()) {
          wrong(client.commands.size() + " were queued");
        }
        for (int i = 0; i < answers.size(); i++) {
          List<String> words = client.commands.get(i);
          String found = Texted.text(words.getFirst(), answers.get(i));
          done.add("    " + words + " -> " + found);
          check(model.answer(node.millis(), words, found), found);
          touch(words);
        }
      }
      client.end();
    }

    /** A command may have changed its keys. */
    private void touch(List<String> words) {
      RedisCommand command = RedisNode.command(words.getFirst());
      if (command.flags().contains(RedisCommand.Flag.WRITE)) {
        clients.forEach(client -> client.touched.addAll(words));
      }
    }

    /** What a key holds and how long. */
    private String held(String key) {
      ModelKeys.Entry entry = model.entry(node.millis(), key);
      if (entry != null && !entry.deadlines.isEmpty()) {
        return FADES;
      }
      return entry == null ? "nothing" : sorted(entry.value) + " until " + entry.deadline;
    }

    private static Object sorted(Object value) {
      return switch (value) {
        case TreeMap<?, ?> fields -> fields.toString();
        case TreeSet<?> elements -> elements.toString();
        default -> "'" + value + "'";
      };
    }

    private void check(String expected, String found) {
      if (!found.equals(expected)) {
        wrong("not " + expected);
      }
    }

    private void wrong(String why) {
      done.add("and that is wrong: " + why);
      fail("-Dosier.redis.seed=" + seed + " -Dosier.redis.sequences=1: " + String.join("\n", done));
    }
  }
}
