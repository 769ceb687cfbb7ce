package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Flag;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Each command's form: how many words it takes, an absent key, and one of another kind. */
class RedisTableTest {
  private static final String WRONG_TYPE =
      "-WRONGTYPE Operation against a key holding the wrong kind of value";

  /** A call, what it answers of keys that are absent, and which kinds of keys it takes. */
  private record Row(String call, String absent, String kinds) {
    String name() {
      return call.split(" ")[0];
    }
  }

  /**
   * A right call of each command on the key k; what it answers if that is absent; what it may hold:
   * s for a string, h for a hash, t for a set.
   */
  private static final List<Row> ROWS =
      """
      GET k                       | (nil)             | s
      SET k v                     | +OK               | sht
      SETNX k v                   | :1                | sht
      SETEX k 10 v                | +OK               | sht
      PSETEX k 10 v               | +OK               | sht
      GETSET k v                  | (nil)             | s
      GETDEL k                    | (nil)             | s
      GETEX k                     | (nil)             | s
      MGET k                      | [(nil)]           | sht
      MSET k v                    | +OK               | sht
      MSETNX k v                  | :1                | sht
      INCR k                      | :1                | s
      DECR k                      | :-1               | s
      INCRBY k 5                  | :5                | s
      DECRBY k 5                  | :-5               | s
      INCRBYFLOAT k 1.5           | $1.5              | s
      APPEND k v                  | :1                | s
      STRLEN k                    | :0                | s
      GETRANGE k 0 1              | $                 | s
      SUBSTR k 0 1                | $                 | s
      SETRANGE k 1 v              | :2                | s
      LCS k l LEN                 | :0                | s
      GETBIT k 1                  | :0                | s
      SETBIT k 1 1                | :0                | s
      BITCOUNT k                  | :0                | s
      BITPOS k 1                  | :-1               | s
      BITOP NOT l k               | :0                | s
      BITFIELD k INCRBY u8 0 7    | [:7]              | s
      BITFIELD_RO k GET u8 0      | [:0]              | s
      HSET k f v                  | :1                | h
      HMSET k f v                 | +OK               | h
      HSETNX k f v                | :1                | h
      HGET k f                    | (nil)             | h
      HMGET k f                   | [(nil)]           | h
      HGETALL k                   | []                | h
      HKEYS k                     | []                | h
      HVALS k                     | []                | h
      HLEN k                      | :0                | h
      HDEL k f                    | :0                | h
      HEXISTS k f                 | :0                | h
      HSTRLEN k f                 | :0                | h
      HINCRBY k f 5               | :5                | h
      HINCRBYFLOAT k f 1.5        | $1.5              | h
      HRANDFIELD k                | (nil)             | h
      HSCAN k 0                   | [$0 []]           | h
      HEXPIRE k 10 FIELDS 1 f     | [:-2]             | h
      HPEXPIRE k 10 FIELDS 1 f    | [:-2]             | h
      HEXPIREAT k 10 FIELDS 1 f   | [:-2]             | h
      HPEXPIREAT k 10 FIELDS 1 f  | [:-2]             | h
      HTTL k FIELDS 1 f           | [:-2]             | h
      HPTTL k FIELDS 1 f          | [:-2]             | h
      HEXPIRETIME k FIELDS 1 f    | [:-2]             | h
      HPEXPIRETIME k FIELDS 1 f   | [:-2]             | h
      HPERSIST k FIELDS 1 f       | [:-2]             | h
      SADD k e                    | :1                | t
      SREM k e                    | :0                | t
      SMEMBERS k                  | []                | t
      SISMEMBER k e               | :0                | t
      SMISMEMBER k e f            | [:0 :0]           | t
      SCARD k                     | :0                | t
      SPOP k                      | (nil)             | t
      SRANDMEMBER k               | (nil)             | t
      SMOVE k l e                 | :0                | t
      SSCAN k 0                   | [$0 []]           | t
      SINTER k                    | []                | t
      SUNION k                    | []                | t
      SDIFF k                     | []                | t
      SINTERSTORE l k             | :0                | t
      SUNIONSTORE l k             | :0                | t
      SDIFFSTORE l k              | :0                | t
      SINTERCARD 1 k              | :0                | t
      DEL k                       | :0                | sht
      UNLINK k                    | :0                | sht
      EXISTS k                    | :0                | sht
      TOUCH k                     | :0                | sht
      TYPE k                      | +none             | sht
      RENAME k l                  | -ERR no such key  | sht
      RENAMENX k l                | -ERR no such key  | sht
      COPY k l                    | :0                | sht
      EXPIRE k 10                 | :0                | sht
      PEXPIRE k 10                | :0                | sht
      EXPIREAT k 10               | :0                | sht
      PEXPIREAT k 10              | :0                | sht
      TTL k                       | :-2               | sht
      PTTL k                      | :-2               | sht
      EXPIRETIME k                | :-2               | sht
      PEXPIRETIME k               | :-2               | sht
      PERSIST k                   | :0                | sht
      DUMP k                      | (nil)             | sht
      RESTORE k 0 x               | -ERR DUMP payload version or checksum are wrong | sht
      SORT k                      | []                | t
      SORT_RO k                   | []                | t
      """
          .lines()
          .map(line -> line.split("\\|"))
          .map(p -> new Row(p[0].strip(), p[1].strip(), p[2].strip()))
          .toList();

  @Test
  void rows_allCommandsOfRedis() {
    assertThat(ROWS.stream().map(Row::name).toList())
        .containsExactlyInAnyOrderElementsOf(
            RedisNode.COMMANDS.keySet().stream()
                .filter(name -> !name.startsWith("OSIER."))
                .toList());
  }

  @TestFactory
  Stream<DynamicTest> absentKey_asRedisAnswers() {
    return ROWS.stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.call,
                    () ->
                        assertThat(RedisNode.alone().text(row.call.split(" ")))
                            .isEqualTo(row.absent)));
  }

  @TestFactory
  Stream<DynamicTest> keyOfAnyKind_takenOrWrongType() {
    return ROWS.stream()
        .flatMap(
            row ->
                Stream.of("s", "h", "t")
                    .map(
                        kind ->
                            DynamicTest.dynamicTest(
                                row.call + " " + kind, () -> check(row, kind))));
  }

  private static void check(Row row, String kind) {
    RedisNode node = RedisNode.alone();
    switch (kind) {
      case "s" -> node.answer("SET", "k", "1");
      case "h" -> node.answer("HSET", "k", "f", "1");
      default -> node.answer("SADD", "k", "1");
    }
    String answer = node.text(row.call.split(" "));
    if (row.name().equals("LCS") && !kind.equals("s")) {
      assertThat(answer).isEqualTo("-ERR The specified keys must contain string values");
    } else if (row.kinds.contains(kind)) {
      assertThat(answer).doesNotStartWith("-WRONGTYPE");
    } else {
      assertThat(answer).isEqualTo(WRONG_TYPE);
      String still = kind.equals("s") ? "+string" : kind.equals("h") ? "+hash" : "+set";
      assertThat(node.text("TYPE", "k")).isEqualTo(still);
    }
  }

  @TestFactory
  Stream<DynamicTest> calls_asTheTableSays() {
    return ROWS.stream().map(row -> DynamicTest.dynamicTest(row.call, () -> checkForm(row)));
  }

  private static void checkForm(Row row) {
    RedisCommand command = RedisNode.command(row.name());
    String[] words = row.call.split(" ");
    int least = Math.abs(command.arity());
    assertThat(words.length).isGreaterThanOrEqualTo(least);
    if (command.arity() > 0) {
      assertThat(words).hasSize(least);
    }
    assertThat(command.flags().contains(Flag.READONLY))
        .isNotEqualTo(command.flags().contains(Flag.WRITE));
    assertThat(command.summary()).endsWith(".").hasSizeLessThan(80);
    // The keys that the table tells are those that the call names.
    RedisCommand.Keys keys = command.keys();
    Set<String> told = new HashSet<>();
    int last = keys.last() < 0 ? words.length + keys.last() : keys.last();
    for (int i = keys.first(); keys.first() > 0 && i <= last; i += keys.step()) {
      told.add(words[i]);
    }
    if (!row.name().equals("SINTERCARD")) { // its keys are counted by itself
      Set<String> named = new HashSet<>(Set.of("k", "l"));
      named.retainAll(List.of(words));
      assertThat(told).isEqualTo(named);
    }
  }

  @TestFactory
  Stream<DynamicTest> reads_changeNothing() {
    return ROWS.stream()
        .filter(row -> RedisNode.command(row.name()).flags().contains(Flag.READONLY))
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.call,
                    () -> {
                      RedisNode node = RedisNode.alone();
                      List<String> writes = new ArrayList<>();
                      node.asked =
                          request -> {
                            if (RedisNode.changes(request)) {
                              writes.add(request.toString());
                            }
                          };
                      node.answer(row.call.split(" "));
                      assertThat(writes).isEmpty();
                    }));
  }

  @Test
  void oddWords_wrongNumberOfArguments() {
    RedisNode node = RedisNode.alone();
    for (String call :
        List.of("MSET a", "MSET a b c", "MSETNX a b c", "HSET k f", "HMSET k f v g")) {
      String name = call.split(" ")[0];
      if (call.split(" ").length >= -RedisNode.command(name).arity()) {
        assertThat(node.answer(call.split(" ")))
            .isEqualTo(
                new RespValue.Err(
                    "ERR wrong number of arguments for '"
                        + name.toLowerCase(Locale.ROOT)
                        + "' command"));
      }
    }
  }
}
