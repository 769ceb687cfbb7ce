package io.osier.datacenter.redis.command.data;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.Cluster;
import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Scenes that a single node of Redis does not have, and what is drawn or walked through. */
final class RedisScenesTest extends RedisScenes {
  // ------------------------------------------------------------- made by Java programs

  @Test
  void counter_readsAndCounts() {
    update("k", CrdtType.PN_COUNTER, new Operation.Increment(7));
    assertThat(text("GET k")).isEqualTo("$7");
    assertThat(text("TYPE k")).isEqualTo("+string");
    assertThat(text("INCRBY k 5")).isEqualTo(":12");
    assertThat(text("APPEND k 0")).startsWith("-WRONGTYPE");
    assertThat(text("SET k x")).isEqualTo("+OK");
    assertThat(text("GET k")).isEqualTo("$x");
  }

  @Test
  void register_staysOne() {
    update("k", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(7)));
    assertThat(text("INCR k")).isEqualTo(":8");
    assertThat(text("APPEND k 5")).isEqualTo(":2");
    assertThat(text("SETRANGE k 0 9")).isEqualTo(":2");
    assertThat(text("INCRBYFLOAT k 0.5")).isEqualTo("$95.5");
    assertThat(text("GETSET k 1")).isEqualTo("$95.5");
    assertThat(text("GETDEL k")).isEqualTo("$1");
    assertThat(text("EXISTS k")).isEqualTo(":0");
  }

  @Test
  void flag_readsAsNumber() {
    update("k", CrdtType.EW_FLAG, new Operation.SetFlag(true));
    assertThat(text("GET k")).isEqualTo("$1");
    assertThat(text("INCR k")).startsWith("-WRONGTYPE");
  }

  @Test
  void setOfNumbers_foundAsWritten() {
    update(
        "k",
        CrdtType.AW_SET,
        new Operation.Add(List.of(Value.of(5), Value.of(1.5), Value.of("a"))));
    assertThat(text("SMISMEMBER k 5 1.5 a 05 1.50")).isEqualTo("[:1 :1 :1 :0 :0]");
    assertThat(text("SADD k 5 b")).isEqualTo(":1");
    assertThat(node.text("SMEMBERS", "k").split(" ")).hasSize(4);
    assertThat(text("SREM k 5 1.5")).isEqualTo(":2");
    assertThat(text("SISMEMBER k 5")).isEqualTo(":0");
  }

  @Test
  void otherSets_asSets() {
    update("k", CrdtType.RW_SET, new Operation.Add(Value.of("a")));
    assertThat(text("SADD k b")).isEqualTo(":1");
    assertThat(text("SCARD k")).isEqualTo(":2");
    assertThat(text("SMOVE k l b")).isEqualTo(":1");
    assertThat(text("SPOP k")).isEqualTo("$a");
    assertThat(text("TYPE k")).isEqualTo("+none");
  }

  @Test
  void fieldsOfOtherTypes_readAsStrings() {
    update(
        "k",
        CrdtType.OR_MAP,
        new Operation.UpdateFields(
            List.of(
                new Operation.FieldUpdate(
                    new FieldId("n", CrdtType.PN_COUNTER), new Operation.Increment(3)),
                new Operation.FieldUpdate(
                    new FieldId("s", CrdtType.AW_SET), new Operation.Add(Value.of("a"))))));
    assertThat(text("HGET k n")).isEqualTo("$3");
    assertThat(text("HGETALL k")).isEqualTo("[$n $3]");
    assertThat(text("HDEL k n s")).isEqualTo(":2");
    assertThat(text("EXISTS k")).isEqualTo(":0");
  }

  @Test
  void longFieldName_refused() {
    String name = "n".repeat(1_025);
    for (String call :
        List.of("HSET k " + name + " 1", "HINCRBY k " + name + " 1", "HGET k " + name)) {
      assertThat(text(call)).isEqualTo("-ERR a hash's field has at most 1024 bytes");
    }
  }

  // -------------------------------------------------------------------------- partitions

  @Test
  void keysOfTwoPartitions_splitOrRefused() {
    RedisNode wide =
        new RedisNode(
            new Cluster(KeyspacePolicy.session("k", Duration.ofSeconds(1)), "eu"), "eu", 64);
    List<Request> requests = new ArrayList<>();
    wide.asked = requests::add;
    assertThat(wide.text("MSET", "a", "1", "b", "2", "c", "3")).isEqualTo("+OK");
    assertThat(requests).hasSize(3);
    assertThat(wide.text("MGET", "c", "x", "a", "b", "a")).isEqualTo("[$3 (nil) $1 $2 $1]");
    assertThat(wide.text("EXISTS", "c", "x", "a", "a")).isEqualTo(":3");
    assertThat(wide.text("TOUCH", "c", "b")).isEqualTo(":2");
    assertThat(wide.text("DEL", "c", "x", "b")).isEqualTo(":2");
    assertThat(wide.text("UNLINK", "a", "x")).isEqualTo(":1");
    for (String call :
        List.of(
            "MSETNX a 1 b 2",
            "RENAME a b",
            "RENAMENX a b",
            "COPY a b",
            "SMOVE a b e",
            "SINTER a b",
            "SUNIONSTORE a b",
            "SINTERCARD 2 a b",
            "BITOP NOT a b",
            "LCS a b")) {
      assertThat(wide.text(call.split(" ")))
          .as(call)
          .isEqualTo("-CROSSSLOT Keys in request don't hash to the same slot");
    }
  }

  /** Its bytes would be there a million times before the answer is found to be too large. */
  @Test
  void oneStringManyTimes_isNotCopied() {
    text("SET k some");
    List<RespValue> got = ((RespValue.Array) node.answer("MGET", "k", "k")).values();
    assertThat(((RespValue.Text) got.getFirst()).text())
        .isSameAs(((RespValue.Text) got.getLast()).text());
  }

  @Test
  void oneRequestEach_whereThatSuffices() {
    List<Request> requests = new ArrayList<>();
    node.asked = requests::add;
    for (String call :
        List.of(
            "SET k 1",
            "GET k",
            "INCR k",
            "APPEND k x",
            "DEL k",
            "SADD k a",
            "SREM k a",
            "HSET k f v",
            "HGET k f",
            "HDEL k f",
            "MSET a 1 b 2",
            "MGET a b",
            "EXPIRE a 10",
            "TTL a",
            "SET a 2 XX GET",
            "SPOP k")) {
      requests.clear();
      node.answer(call.split(" "));
      assertThat(requests).as(call).hasSize(1);
    }
  }

  // --------------------------------------------------------------------- drawn and walked

  @Test
  void walksThroughLargeOnes_showEachOnce() {
    List<String> set = new ArrayList<>(List.of("SADD", "s"));
    List<String> hash = new ArrayList<>(List.of("HSET", "h"));
    for (int i = 0; i < 95; i++) {
      set.add("e" + i);
      hash.addAll(List.of("f" + i, "v" + i));
    }
    node.answer(set.toArray(new String[0]));
    node.answer(hash.toArray(new String[0]));
    assertThat(walk("SSCAN", "s")).hasSize(95);
    assertThat(walk("HSCAN", "h")).hasSize(190);
    assertThat(walk("HSCAN", "h", "NOVALUES")).hasSize(95).allMatch(f -> f.startsWith("$f"));
    assertThat(walk("HSCAN", "h", "MATCH", "f1*", "NOVALUES", "COUNT", "7")).hasSize(11);
    assertThat(text("SSCAN s 0 NOVALUES"))
        .isEqualTo("-ERR NOVALUES option can only be used in HSCAN");
    assertThat(walk("SSCAN", "s", "MATCH", "e1*")).hasSize(11);
    assertThat(walk("SSCAN", "s", "MATCH", "e[^1]?", "COUNT", "3")).hasSize(75);
    assertThat(text("SSCAN s 4711")).contains(" [$e0 "); // unknown: from the beginning
    assertThat(text("SSCAN s 0 MATCH " + "*a".repeat(513)))
        .contains("at most 1024 bytes, not 1026");
  }

  private Set<String> walk(String command, String key, String... options) {
    Set<String> all = new TreeSet<>();
    String cursor = "0";
    do {
      List<String> words = new ArrayList<>(List.of(command, key, cursor));
      words.addAll(List.of(options));
      List<RespValue> answer =
          ((RespValue.Array) node.answer(words.toArray(new String[0]))).values();
      cursor = Texted.text(answer.getFirst()).substring(1);
      for (RespValue shown : ((RespValue.Array) answer.get(1)).values()) {
        assertThat(all.add(Texted.text(shown))).as("shown once").isTrue();
      }
    } while (!cursor.equals("0"));
    return all;
  }

  @Test
  void drawn_someOfThem() {
    text("SADD s a b c d e");
    text("HSET h a 1 b 2 c 3");
    assertThat(elements("SRANDMEMBER s 3")).hasSize(3).doesNotHaveDuplicates();
    assertThat(elements("SRANDMEMBER s 9")).hasSize(5);
    assertThat(elements("SRANDMEMBER s -9")).hasSize(9);
    assertThat(elements("HRANDFIELD h 2")).hasSize(2).doesNotHaveDuplicates();
    assertThat(elements("HRANDFIELD h -5 WITHVALUES")).hasSize(10);
    assertThat(text("SRANDMEMBER s -9223372036854775808")).isEqualTo("-ERR value is out of range");
    List<String> popped = elements("SPOP s 2");
    assertThat(popped).hasSize(2).doesNotHaveDuplicates();
    assertThat(elements("SMEMBERS s")).hasSize(3).doesNotContainAnyElementsOf(popped);
    assertThat(elements("SPOP s 100")).hasSize(3);
    assertThat(text("EXISTS s")).isEqualTo(":0");
  }

  private List<String> elements(String call) {
    RespValue answer = node.answer(call.split(" "));
    List<RespValue> values =
        answer instanceof RespValue.Elements e ? e.values() : ((RespValue.Array) answer).values();
    return values.stream().map(Texted::text).toList();
  }

  @Test
  void sorted_byItselfAndOtherKeys() {
    text("SADD s 10 9 1");
    text("MSET w_10 1 w_9 3 w_1 2");
    text("HSET o_9 f x");
    assertThat(text("SORT s")).isEqualTo("[$1 $9 $10]");
    assertThat(text("SORT s DESC LIMIT 1 5")).isEqualTo("[$9 $1]");
    assertThat(text("SORT s ALPHA")).isEqualTo("[$1 $10 $9]");
    assertThat(text("SORT s BY w_* GET # GET o_*->f")).isEqualTo("[$10 (nil) $1 (nil) $9 $x]");
    assertThat(text("SORT s STORE l")).startsWith("-ERR SORT ... STORE");
    assertThat(text("SORT s" + " GET o_*".repeat(3_334))).contains("too many keys at once");
    assertThat(text("SORT s" + " GET #".repeat(333_334))).contains("at most 1000000");
    text("SADD s x");
    assertThat(text("SORT s")).isEqualTo("-ERR One or more scores can't be converted into double");
  }

  @Test
  void dumped_restored() {
    text("SADD set a b");
    node.answer("HSET", "hash", "\u00ff", "", "f", "v");
    node.answer("SET", "string", "\u00ff\u0000");
    for (String key : List.of("set", "hash", "string")) {
      String dump = node.text("DUMP", key).substring(1);
      assertThat(node.text("RESTORE", "copy", "500", dump, "REPLACE")).isEqualTo("+OK");
      assertThat(node.text("RESTORE", "copy", "0", dump))
          .isEqualTo("-BUSYKEY Target key name already exists.");
      assertThat(node.text("DUMP", "copy").substring(1)).isEqualTo(dump);
      assertThat(text("PTTL copy")).isEqualTo(":500");
      for (int i = 0; i < dump.length(); i++) {
        String damaged = dump.substring(0, i) + (char) (dump.charAt(i) ^ 1) + dump.substring(i + 1);
        assertThat(node.text("RESTORE", "copy", "0", damaged, "REPLACE"))
            .isEqualTo("-ERR DUMP payload version or checksum are wrong");
        assertThat(node.text("RESTORE", "copy", "0", dump.substring(0, i), "REPLACE"))
            .startsWith("-ERR DUMP");
      }
    }
  }

  /** It was computed from what was left, by another clock. */
  @Test
  void timeThatWasGiven_isToldAsItWas_whateverTheClocksShow() {
    long at = node.millis() + 100_000;
    for (long ahead : new long[] {0, -1, 1, 7_001}) {
      node.aheadMillis = ahead;
      text("SET s x PXAT " + at);
      text("SADD t a");
      text("PEXPIREAT t " + at);
      text("HSET h f x g y");
      text("HPEXPIREAT h " + at + " FIELDS 1 f");
      assertThat(text("PEXPIRETIME s")).isEqualTo(":" + at);
      assertThat(text("EXPIRETIME s")).isEqualTo(":" + (at + 500) / 1_000);
      assertThat(text("PEXPIRETIME t")).isEqualTo(":" + at);
      assertThat(text("PEXPIRETIME h")).isEqualTo(":-1");
      assertThat(text("PEXPIRETIME nobody")).isEqualTo(":-2");
      assertThat(text("HPEXPIRETIME h FIELDS 3 f g i")).isEqualTo("[:" + at + " :-1 :-2]");
      assertThat(text("HEXPIRETIME h FIELDS 1 f")).isEqualTo("[:" + (at + 999) / 1_000 + "]");
      assertThat(text("HPEXPIREAT h " + at + " GT FIELDS 1 f"))
          .as("it is no later")
          .isEqualTo("[:0]");
      assertThat(text("HPEXPIREAT h " + at + " LT FIELDS 1 f")).as("nor earlier").isEqualTo("[:0]");
      assertThat(text("HPEXPIRE h 100000 GT FIELDS 1 f")).isEqualTo("[:0]");
      assertThat(text("HPEXPIRE h 100000 LT FIELDS 1 f")).isEqualTo("[:0]");
    }
  }

  @Test
  void secondsThatAreLeft_areRoundedAsRedisDoes() {
    text("SET s x PX 1400");
    text("HSET h f x");
    text("HPEXPIRE h 1400 FIELDS 1 f");
    assertThat(text("TTL s")).as("to the nearest").isEqualTo(":1");
    assertThat(text("HTTL h FIELDS 1 f")).as("up").isEqualTo("[:2]");
  }

  /** It costs its bytes to send, and would take sixty times as much. */
  @Test
  void restoredOfMillionsOfEmptyElements_refused() {
    byte[] content =
        WireOutput.bytesOf(
            out -> {
              out.writeText("osier1");
              out.writeText("set");
              out.writeCount((1 << 20) + 1);
              for (int i = 0; i <= 1 << 20; i++) {
                out.writeBlob(new byte[0]);
              }
            });
    CRC32C sum = new CRC32C();
    sum.update(content);
    String payload = new String(content, ISO_8859_1) + String.format("%08x", sum.getValue());
    assertThat(node.text("RESTORE", "k", "0", payload))
        .startsWith("-ERR a key with 1048577 elements");
  }
}
