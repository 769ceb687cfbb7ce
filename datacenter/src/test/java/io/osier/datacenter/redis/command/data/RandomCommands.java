package io.osier.datacenter.redis.command.data;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Draws commands of few keys, fields and elements, so that they meet. */
final class RandomCommands {
  /**
   * One a line. K is a key, V a value, F a field, E an element, N a number, B a small one, R a
   * number with a fraction, T a duration, A a time; what has a + may come several times.
   */
  private static final List<String> FORMS =
      """
      GET K
      SET K V
      SET K V NX
      SET K V XX
      SET K V GET
      SET K V NX GET
      SET K V XX GET
      SET K V KEEPTTL
      SET K V PX T
      SET K V XX EX 1
      SETNX K V
      PSETEX K T V
      SETEX K 0 V
      GETSET K V
      GETDEL K
      GETEX K
      GETEX K PX T
      GETEX K PERSIST
      MGET K+
      MSET K V
      MSET K V K V
      MSETNX K V K V
      INCR K
      DECR K
      INCRBY K N
      DECRBY K N
      INCRBYFLOAT K R
      APPEND K V
      STRLEN K
      GETRANGE K B B
      SETRANGE K B V
      GETBIT K B
      SETBIT K B 1
      SETBIT K B 0
      BITCOUNT K
      BITCOUNT K B B
      BITCOUNT K B B BIT
      BITPOS K 0
      BITPOS K 1
      BITPOS K 0 B
      BITPOS K 1 B B
      BITPOS K 0 B B
      BITOP AND K K K
      BITOP OR K K+
      BITOP XOR K K+
      BITOP NOT K K
      HSET K F V
      HSET K F V F V
      HMSET K F V
      HSETNX K F V
      HGET K F
      HMGET K F+
      HGETALL K
      HKEYS K
      HVALS K
      HLEN K
      HDEL K F+
      HEXISTS K F
      HSTRLEN K F
      HINCRBY K F N
      HINCRBYFLOAT K F R
      HPEXPIRE K T FIELDS 1 F
      HPEXPIRE K T NX FIELDS 2 F F
      HPTTL K FIELDS 2 F F
      HPERSIST K FIELDS 1 F
      SADD K E+
      SADD K E+
      SREM K E+
      SMEMBERS K
      SISMEMBER K E
      SMISMEMBER K E+
      SCARD K
      SPOP K
      SRANDMEMBER K
      SMOVE K K E
      SINTER K+
      SUNION K+
      SDIFF K+
      SINTERSTORE K K+
      SUNIONSTORE K K+
      SDIFFSTORE K K+
      DEL K
      DEL K K
      UNLINK K
      EXISTS K+
      TYPE K
      RENAME K K
      RENAMENX K K
      COPY K K
      COPY K K REPLACE
      PEXPIRE K T
      PEXPIRE K T NX
      PEXPIRE K T XX
      PEXPIRE K T GT
      PEXPIRE K T LT
      PEXPIRE K T XX LT
      PEXPIREAT K A
      PERSIST K
      TTL K
      PTTL K
      """
          .lines()
          .toList();

  private static final List<String> VALUES =
      List.of(
          "",
          "a",
          "abc",
          "1",
          "5",
          "-7",
          "10",
          "3.5",
          "-0.25",
          "007",
          "+1",
          " 1",
          "1e2",
          "x y",
          "\u00ff\u00fe",
          "\u0000\u0001",
          "9223372036854775807",
          "-9223372036854775808",
          "foobar");
  private static final List<String> NUMBERS =
      List.of(
          "1",
          "-1",
          "5",
          "100",
          "9223372036854775807",
          "-9223372036854775808",
          "x",
          "1.5",
          "+2",
          "05",
          "-0",
          "");
  private static final List<String> REALS =
      List.of("0.1", "-2.5", "3", "1e3", "200", "1e-18", "-3e-20", "1e19", "9e4931", "x", "");
  private static final List<String> ELEMENTS = List.of("a", "b", "c", "1", "2", "1.5", "\u00ff");
  private static final List<String> FIELDS = List.of("f", "g", "h", "1", "\u00fe", "");

  private final SplittableRandom random;

  RandomCommands(SplittableRandom random) {
    this.random = random;
  }

  List<String> next(long millis) {
    List<String> words = new ArrayList<>();
    for (String word : of(FORMS).split(" ")) {
      int times = word.endsWith("+") ? random.nextInt(1, 4) : 1;
      for (int i = 0; i < times; i++) {
        words.add(word(word.endsWith("+") ? word.substring(0, 1) : word, millis));
      }
    }
    return words;
  }

  /** How much time passes until the next command. */
  long millis() {
    return random.nextInt(3) == 0 ? random.nextInt(60) : 0;
  }

  private String word(String word, long millis) {
    return switch (word) {
      case "K" -> "k" + random.nextInt(4);
      case "V" -> of(VALUES);
      case "N" -> of(NUMBERS);
      case "R" -> of(REALS);
      case "E" -> of(ELEMENTS);
      case "F" -> of(FIELDS);
      case "B" -> Integer.toString(random.nextInt(-4, 30));
      case "T" -> Integer.toString(random.nextInt(1, 100));
      case "A" -> Long.toString(millis + random.nextInt(-20, 100));
      default -> word;
    };
  }

  private String of(List<String> all) {
    return all.get(random.nextInt(all.size()));
  }
}
