package io.osier.datacenter.redis.command.data;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.partition.Cluster;
import io.osier.datacenter.redis.command.RedisCommand;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Objects of all types, in the words of osier cli. */
final class RedisObjectsTest {
  private final Cluster cluster =
      new Cluster(KeyspacePolicy.session("k", Duration.ofMillis(100)), "eu", "us");
  private final RedisNode eu = new RedisNode(cluster, "eu", 1);
  private final RedisNode us = new RedisNode(cluster, "us", 1);

  private static String text(RedisNode node, String call) {
    return node.text(call.split(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          counter incr k 3            | counter get k            | :3
          counter decr k              | counter get k            | :-1
          gcounter incr k             | gcounter get k           | :1
          register set k Ada          | register get k           | $Ada
          register set k 42           | register get k           | :42
          register set k str:42       | register get k           | $42
          register set k 2.5          | register get k           | $2.5
          mvregister set k a          | mvregister get k         | [$a]
          max set k 5         | max get k        | :5
          ewflag on k                   | ewflag get k               | :1
          set add k b a b             | set get k                | [$a $b]
          set add k b a               | set has k a              | :1
          set add k b a               | set size k               | :2
          set add k a b c             | set range k after a last 1 | [$c]
          string append k abc         | string get k             | $abc
          map set k a=1 b=x           | map get k                | [$a :1 $b $x]
          map set k a=1 b=x           | map get k b              | [$b $x]
          map update k f counter incr 3         | map get k      | [$f :3]
          map update k f map update g set add x | map get k      | [$f [$g [$x]]]
          """)
  void update_ofAnyType_isRead_atTheOtherDatacenterToo(String update, String read, String shown) {
    assertThat(text(eu, "OSIER.READ " + read)).isNotEqualTo(shown).doesNotStartWith("-");
    assertThat(text(eu, "OSIER.UPDATE " + update)).isEqualTo("+OK");
    assertThat(text(eu, "OSIER.READ " + read)).isEqualTo(shown);
    cluster.run(1_000);
    assertThat(text(us, "OSIER.READ " + read)).isEqualTo(shown);
  }

  @Test
  void boundedCounter_isNeverTakenTwice() {
    assertThat(text(eu, "OSIER.BCREATE stock 0 - 3")).isEqualTo("+OK");
    cluster.run(1_000);
    assertThat(text(eu, "OSIER.BREAD stock"))
        .startsWith("[$value :3 $lower :0 $upper (nil) $rights [$eu [$down :");
    assertThat(text(eu, "OSIER.BDECR stock")).isEqualTo(":2");
    assertThat(text(eu, "OSIER.BINCR stock 4")).isEqualTo(":6");
    assertThat(text(eu, "OSIER.BDECR stock 7")).startsWith("-NORIGHTS nothing was done: ");
    cluster.run(1_000);
    assertThat(text(us, "OSIER.READ bcounter get stock")).isEqualTo(":6");
  }

  @Test
  void key_isTheBytesOfItsWord() {
    for (String key : List.of("bytes:0x61", "'a'", "\u00ff\u0000", "a=b")) {
      assertThat(eu.text("OSIER.UPDATE", "string", "set", key, "v")).isEqualTo("+OK");
      assertThat(eu.text("GET", key)).as(key).isEqualTo("$v");
    }
    assertThat(eu.text("EXISTS", "a")).isEqualTo(":0");
  }

  @Test
  void value_behindItsType_isAnyText() {
    for (String value : List.of("'a'", "a='b'", "42", "bytes:0x61", "$'x'", " ", "")) {
      assertThat(eu.text("OSIER.UPDATE", "register", "set", "k", "str:" + value)).isEqualTo("+OK");
      assertThat(eu.text("OSIER.READ", "register", "get", "k")).isEqualTo("$" + value);
    }
    assertThat(eu.text("OSIER.UPDATE", "register", "set", "k", "bytes:0xff00")).isEqualTo("+OK");
    assertThat(eu.text("OSIER.READ", "register", "get", "k")).isEqualTo("$\u00ff\u0000");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          OSIER.UPDATE counter get k        | -ERR 'get' changes nothing: OSIER.READ does it
          OSIER.READ counter incr k         | -ERR 'incr' is an update: OSIER.UPDATE does it
          OSIER.READ count get k            | -ERR there is no type 'count'
          OSIER.UPDATE counter inc k        | -ERR a counter has no 'inc'; did you mean 'incr'?
          OSIER.UPDATE counter incr k x     | -ERR 'x' must be a whole number
          OSIER.UPDATE returning counter incr | -ERR after 'counter' come an operation and a key
          OSIER.UPDATE returning set get k  | -ERR after 'returning' comes an update
          OSIER.UPDATE for x set add k e    | -ERR 'x' must be a number of seconds
          OSIER.UPDATE for 3 set            | -ERR usage: for SECONDS, and an update
          OSIER.UPDATE ifvalue 1 set add k e | -ERR 'ifvalue' is for a register or string
          OSIER.READ returning set get k    | -ERR there is no type 'returning'
          OSIER.UPDATE counter incr k 1 2   | -ERR usage: counter incr KEY [N]
          OSIER.UPDATE register set k \u00ff | -ERR word 4 is no text of UTF-8
          OSIER.UPDATE                      | -ERR wrong number of arguments
          OSIER.READ set get counter        | -WRONGTYPE
          """)
  void whatIsWrong_isSaid(String call, String error) {
    text(eu, "OSIER.UPDATE counter incr counter");
    assertThat(text(eu, call)).startsWith(error);
  }

  @Test
  void oneTransaction_hasThemBesideOtherCommands() {
    RedisQueue queue = new RedisQueue(eu);
    text(eu, "OSIER.BCREATE stock 0 - 3");
    queue.text("MULTI");
    for (String call :
        List.of(
            "OSIER.UPDATE counter incr c 2",
            "OSIER.READ counter get c",
            "GET c",
            "OSIER.BDECR stock 2",
            "OSIER.BDECR stock")) {
      assertThat(queue.text(call)).isEqualTo("+QUEUED");
    }
    assertThat(queue.text("EXEC")).startsWith("[+OK :2 $2 :1 -NORIGHTS nothing was done: ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          returning counter incr k 3                 | :3     | counter get k       | :3
          returning register set k b                 | (nil)      | register get k      | $b
          returning set add k b a                    | [$a $b] | set size k         | :2
          eachfor 100 returning set add k c          | [$c]  | set size k           | :1
          ifabsent register set k b                  | +OK    | register get k      | $b
          ifabsent counter incr c                    | (nil)      | counter get c       | :2
          ifvalue 42 register set r b                | +OK    | register get r      | $b
          ifvalue str:42 register set r b            | (nil)      | register get r      | :42
          ifvalue 7 string set s 8                   | +OK    | string get s        | $8
          for 0 register set k b                     | +OK    | register get k      | (nil)
          for 100 ifvalue 42 register set r b        | +OK    | register get r      | $b
          for 100 returning counter incr c           | :3     | counter get c       | :3
          eachfor 0 set add k b                      | +OK    | set size k          | :0
          """)
  void update_withWordsInFront_doesAndShowsWhatTheySay(
      String update, String answer, String read, String shown) {
    text(eu, "OSIER.UPDATE counter incr c 2");
    text(eu, "OSIER.UPDATE register set r 42");
    text(eu, "OSIER.UPDATE string set s 7");
    assertThat(text(eu, "OSIER.UPDATE " + update)).isEqualTo(answer);
    cluster.run(10);
    assertThat(text(eu, "OSIER.READ " + read)).isEqualTo(shown);
  }

  @Test
  void wordsInFront_moveTheKey() {
    RedisCommand update = RedisNode.command("OSIER.UPDATE");
    for (String call :
        List.of(
            "OSIER.UPDATE set add K e",
            "OSIER.UPDATE returning set add K e",
            "OSIER.UPDATE for 3 ifvalue for string set K e")) {
      byte[][] words =
          Stream.of(call.split(" ")).map(w -> w.getBytes(ISO_8859_1)).toArray(byte[][]::new);
      assertThat(update.keys().of(words))
          .as(call)
          .extracting(w -> new String(w, ISO_8859_1))
          .containsExactly("K");
    }
  }

  @Test
  void oneTransaction_hasUpdatesWithWordsInFront() {
    RedisQueue queue = new RedisQueue(eu);
    queue.text("MULTI");
    for (String call :
        List.of(
            "OSIER.UPDATE ifabsent register set k 1",
            "OSIER.UPDATE ifabsent register set k 2",
            "OSIER.UPDATE returning register set k 3")) {
      assertThat(queue.text(call)).isEqualTo("+QUEUED");
    }
    assertThat(queue.text("EXEC")).isEqualTo("[+OK (nil) :1]");
  }
}
