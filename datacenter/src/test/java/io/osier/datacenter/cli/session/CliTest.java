package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.crdt.CrdtType;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CliTest extends CliFixture {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "counter incr c 5            | counter get c        | 5",
        "counter decr c2             | counter get c2       | -1",
        "gcounter incr g             | gcounter get g       | 1",
        "register set r hello        | register get r       | hello",
        "mvregister set m 4.5        | mvregister get m     | 4.5",
        "ewflag on e                 | ewflag get e         | true",
        "dwflag off d                | dwflag get d         | false",
        "set add s b a               | set get s            | a⏎b",
        "set add s1 7                | set has s1 7         | true",
        "gset add gs x               | gset size gs         | 1",
        "rwset add rs x              | rwset get rs         | x",
        "lwwset add ls x             | lwwset get ls        | x",
        "lwwset-remove add lr x      | lwwset-remove get lr | x",
        "map set u name=Ada age=36   | map get u            | age: 36⏎name: Ada",
        "map update u2 n counter incr 3 | map get u2 n      | n: 3",
        "min set mi 5                | min get mi           | 5",
        "max set ma 5                | max get ma           | 5",
        "string set st hello         | string get st        | hello",
        "string append sa 5          | string size sa       | 1",
        "string setrange sr 1 b      | string size sr       | 2",
        "string setbit sb 1 1        | string get sb        | @",
        "map update u3 n string append x | map get u3 n     | n: x",
        "set clear nothing           | get nothing          | (nothing)",
      })
  void everyType(String write, String read, String expected) {
    CliRun written = run(write.strip().split(" +"));
    boolean counts = write.matches("\\w*counter (incr|decr) .*");
    assertThat(written).isEqualTo(new CliRun(0, counts ? expected : "done", ""));
    assertThat(run(read.strip().split(" +")))
        .isEqualTo(new CliRun(0, expected.replace('⏎', '\n'), ""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "counter incr rc 5           | returning counter incr rc 2        | 7",
        "counter incr rj 5           | --json returning counter decr rj   |"
            + " {\"done\":true,\"value\":4}",
        "register set rr old         | returning register set rr new      | old",
        "ewflag on re                | returning ewflag off re            | true",
        "set add ra a b              | returning set add ra c b d c       | c⏎d",
        "set add rm a b              | returning set remove rm c b        | b",
        "map set ru name=Ada         | returning map set ru age=36        | age: 36",
        "map set rv name=Ada         | returning map remove rv name       | name: Ada",
        "bcounter create rb 0 10     | returning bcounter incr rb 3       | 3",
        "bcounter create rc7 0 10 4  | bcounter get rc7                   | 4",
        "string set ru7 ab           | returning string append ru7 c      | 3",
        "string set ig 7             | ifvalue 7 string set ig 8          | done",
        "max set rx 7                | returning max set rx 3             | 7",
        "register get ia             | ifabsent register set ia new       | done",
        "register set ib old         | ifabsent register set ib new       | not done: the object is"
            + " not as expected",
        "register set ic old         | ifvalue old register set ic new    | done",
        "register set id old         | --json ifvalue 7 register set id 8 | {\"done\":false}",
        "for 90 register set fa x    | register get fa                    | x",
        "eachfor 90 set add ea x     | set get ea                         | x",
        "eachfor 0 set add eb x      | exists eb                          | false",
        "eachfor 9 map set ec f=1    | map persist ec f                   | done",
        "set add ed x y              | set expire ed 0 x                  | done",
        "set add ee x                | set ttl ee x                       | it does not expire",
        "set add ef x                | set ttl ef y                       | (nothing)",
        "map set eg f=1              | map ttl eg f                       | it does not expire",
        "for 0 register set fb x     | exists fb                          | false",
        "set add ga a b c d          | set range ga                       | a⏎b⏎c⏎d",
        "set add gb a b c d          | set range gb after a to c          | b⏎c",
        "set add gc a b c d          | set range gc from b before d last 1 | c",
        "map set gd a=1 b=2 c=3      | map range gd from b                | b: 2⏎c: 3",
        "for 90 ewflag on fc         | for 90 ifabsent ewflag on fc       | not done: the object is"
            + " not as expected",
        "set add fd a                | for 90 returning set add fd a b    | b",
      })
  void updateCanTellWhatItChanged(String before, String update, String expected) {
    run(before.strip().split(" +"));
    assertThat(run(update.strip().split(" +")))
        .isEqualTo(new CliRun(0, expected.replace('⏎', '\n'), ""));
  }

  @Test
  void commandsOfRedis_doWhatTheyDoThere() {
    assertThat(run("INCR", "redis:n").out()).isEqualTo("\"1\"");
    assertThat(run("DECRBY", "redis:n", "3").out()).isEqualTo("\"-2\"");
    assertThat(run("SET", "redis:s", "a b").code()).isZero();
    assertThat(run("get", "redis:s").out()).isEqualTo("\"a b\"");
    assertThat(run("HSET", "redis:h", "name", "Ada").code()).isZero();
    assertThat(run("HGET", "redis:h", "name").out()).isEqualTo("name: Ada");
  }

  @Test
  void inspections_areShown() {
    run("counter", "incr", "seen");
    assertThat(run("stat").out()).contains("keyspace shop").contains("updates");
    assertThat(run("hot").out()).contains("mode").contains("seen");
    assertThat(run("stat").out()).startsWith("eu is the only datacenter.\n\neu (incarnation ");
    assertThat(run("--json", "stat").out())
        .as("nothing has come, so nothing was measured")
        .contains("\"visibility_ms\":{\"count\":0,\"p50\":null,");
    assertThat(run("stat").out().lines().filter(l -> l.startsWith("visibility_ms")))
        .containsExactly("visibility_ms");
    assertThat(run("--json", "stat").out()).startsWith("{\"dc\":\"eu\"");
    assertThat(run("--json", "counter", "get", "seen").out())
        .isEqualTo("{\"type\":\"counter\",\"exists\":true,\"value\":1}");
    assertThat(run("scan").out()).contains("key").contains("seen");
    run("set", "add", "see", "x");
    assertThat(run("keys", "see").out().lines().map(l -> l.strip().replaceAll(" +", " ")))
        .containsExactly("key type", "see set", "seen counter");
    assertThat(run("--json", "keys", "see", "1").out())
        .isEqualTo("[{\"key\":\"see\",\"type\":\"set\"}]");
    assertThat(run("count", "see").out()).isEqualTo("2");
    assertThat(run("--json", "count", "see", "set").out()).isEqualTo("{\"count\":1}");
    assertThat(run("keys", "see", "0").err()).contains("from 1 to");
  }

  @Test
  void why_isOfAll_ofADatacenter_orOfAKey() {
    run("counter", "incr", "eu", "7");
    run("counter", "incr", "why:1");
    assertThat(run("why").out()).startsWith("eu is the only datacenter.");
    assertThat(run("why", "eu").out())
        .startsWith("eu is the only datacenter.")
        .contains("counted at");
    assertThat(run("why", "key", "eu").out()).startsWith("Nothing of 'eu' waits: eu has it.");
    assertThat(run("why", "why:1").out())
        .startsWith("Nothing of 'why:1' waits: eu has it.")
        .containsPattern("eu +counter, \\d+ B +op +nothing");
    assertThat(run("why", "nokey").out()).startsWith("There is no 'nokey' in 'shop' at eu.");
    assertThat(run("--json", "why", "why:1").out())
        .startsWith("{\"verdict\":\"Nothing of")
        .contains("\"late\":false", "\"holds\":[{\"type\":\"counter\"");
    assertThat(run("--json", "why").out()).contains("\"silent\":[]", "\"datacenters\":{\"eu\":{");
    assertThat(run("why", "one", "two").err())
        .startsWith("error INVALID_ARGUMENT: why asks about one thing");
    assertThat(run("--keyspace", "nope", "why", "why:1").err())
        .startsWith("error UNKNOWN_KEYSPACE");
  }

  @Test
  void del_clearsWhateverTheKeysHold_andExistsSaysSo() {
    run("counter", "incr", "doomed");
    run("set", "add", "doomed-set", "x");
    assertThat(run("exists", "doomed").out()).isEqualTo("true");
    assertThat(run("type", "doomed").out()).isEqualTo("counter");
    assertThat(run("--json", "type", "doomed").out()).isEqualTo("{\"type\":\"counter\"}");
    assertThat(run("del", "doomed", "doomed-set", "never-there").out()).isEqualTo("2 deleted");
    assertThat(run("--json", "exists", "doomed").out()).isEqualTo("{\"exists\":false}");
    assertThat(run("type", "doomed").out()).isEqualTo("(nothing)");
    assertThat(run("--json", "type", "doomed").out()).isEqualTo("{\"type\":null}");
    assertThat(run("get", "doomed-set").out()).isEqualTo("(nothing)");
  }

  @Test
  void timeToLive_isSetShownAndTakenAway() {
    assertThat(run("expire", "mortal", "60").out()).isEqualTo("(nothing)");
    assertThat(run("ttl", "mortal").out()).isEqualTo("(nothing)");
    run("counter", "incr", "mortal");
    assertThat(run("ttl", "mortal").out()).isEqualTo("it does not expire");
    assertThat(run("--json", "ttl", "mortal").out()).isEqualTo("{\"ttl_ms\":null}");
    assertThat(run("expire", "mortal", "3600.5").out()).isEqualTo("done");
    assertThat(run("ttl", "mortal").out()).matches("3[0-9]{3}\\.[0-9]{3} s");
    assertThat(run("--json", "expireat", "mortal", "2100-01-31T12:00:00Z").out())
        .isEqualTo("{\"expires\":true}");
    assertThat(run("--json", "ttl", "mortal").out()).matches("\\{\"ttl_ms\":[0-9]{12,13}}");
    assertThat(run("persist", "mortal").out()).isEqualTo("done");
    assertThat(run("--json", "persist", "mortal").out()).isEqualTo("{\"persists\":false}");
    assertThat(run("expireat", "mortal", "1000").out()).isEqualTo("done");
    assertThat(run("exists", "mortal").out()).isEqualTo("false");
    assertThat(run("expire", "mortal", "soon").err()).contains("'soon'").contains("seconds");
    assertThat(run("expire", "mortal", "1e30").err()).contains("'1e30'").contains("seconds");
    assertThat(run("expireat", "mortal", "tomorrow").err()).contains("'tomorrow'");
    assertThat(run("expireat", "mortal", "99999999999999").err()).contains("10000");
  }

  @Test
  void quotes_areUnderstoodOfAShellsArgumentsToo() {
    run("map", "set", "quoted", "city='New York'", "code='42'", "n=42");
    assertThat(run("--json", "map", "get", "quoted").out())
        .contains("{\"city\":\"New York\",\"code\":\"42\",\"n\":42}");
  }

  @Test
  void settings_areNumbersInJson() throws IOException {
    JsonNode shop =
        new ObjectMapper()
            .readTree(run("--json", "keyspace", "list").out())
            .get("keyspaces")
            .get(0);
    assertThat(shop.get("partitions").isIntegralNumber()).isTrue();
    assertThat(shop.get("sla_ms").isIntegralNumber()).isTrue();
    assertThat(shop.get("limits.key_bytes").asInt()).isEqualTo(64);
    shop.forEach(value -> assertThat(value.asText()).doesNotMatch("[0-9]+(ms|B)"));
  }

  /** Whatever is written as a number is a text, as the quotes say. */
  @Test
  void string_keepsWhatWasWritten_andCountsOnIt() {
    run("string", "set", "sx", "5.0");
    assertThat(run("string", "get", "sx").out()).isEqualTo("\"5.0\"");
    assertThat(run("returning", "string", "incr", "sx", "0.25").out()).isEqualTo("\"5.25\"");
    assertThat(run("returning", "string", "decr", "sy").out()).isEqualTo("\"-1\"");
    assertThat(run("map", "update", "sz", "n", "string", "incr", "3").out()).isEqualTo("done");
    assertThat(run("map", "get", "sz").out()).isEqualTo("n: \"3\"");
    assertThat(run("string", "incr", "sx").err()).contains("not a whole number");
    assertThat(run("string", "incr", "sx", "0." + "1".repeat(19)).code()).isNotZero();
  }

  @Test
  void help_namesEveryTypeAndTransactions() {
    for (CrdtType type : CrdtType.values()) {
      assertThat(run("help").out()).contains(type.label());
    }
    assertThat(run("help").out()).contains("commit").contains("use [KEYSPACE]");
    assertThat(run("help", "range").out().lines())
        .filteredOn(line -> line.startsWith("  ") && !line.startsWith("   "))
        .containsExactly(
            "  set range KEY [from|after ELEMENT] [to|before ELEMENT] [last] [N]",
            "  map range KEY [from|after FIELD] [to|before FIELD] [last] [N]");
    assertThat(run("help", "rwset").out()).contains("rwset add cart book");
    assertThat(raw("--connect", "127.0.0.1:1", "help").code()).as("without a datacenter").isZero();
  }

  @Test
  void completion_knowsWhereItIs() {
    run("set", "add", "complete:1", "x");
    run("counter", "incr", "complete:2");
    try (OsierClient client = cluster.client("eu")) {
      CliCompleter completer =
          new CliCompleter(
              new CliSession(
                  client, client.session(), Optional.empty(), false, NewPasswords.ASKED_FOR));
      assertThat(completer.words(List.of(), "")).contains("exists", "use", "rwset");
      assertThat(completer.words(List.of("set"), ""))
          .containsExactly(
              "add", "remove", "has", "size", "get", "range", "expire", "persist", "ttl", "clear");
      assertThat(completer.words(List.of("set", "get"), "comp")).containsExactly("complete:1");
      assertThat(completer.words(List.of("del"), "comp"))
          .containsExactly("complete:1", "complete:2");
      assertThat(completer.words(List.of("use"), "")).containsExactly("shop");
      assertThat(completer.words(List.of("map", "update", "k", "f"), ""))
          .doesNotContain("bcounter");
      assertThat(completer.words(List.of("map", "update", "k", "f", "ewflag"), ""))
          .containsExactly("on", "off", "get", "clear");
      assertThat(completer.words(List.of("nonsense"), "")).isEmpty();
    }
  }

  @Test
  void top_once_showsRates_andHotObjects_asTextAndAsJson() throws IOException {
    for (int i = 0; i < 6; i++) { // hotter than what other tests have left
      run("--keyspace", "shop", "counter", "incr", "top:hot", "3");
    }
    CliRun text = run("top", "--once");
    assertThat(text.code()).as(text.err()).isZero();
    assertThat(text.out()).contains("updates/s", "eu", "shop", "top:hot");
    CliRun asJson = run("--json", "top", "--once");
    assertThat(asJson.code()).as(asJson.err()).isZero();
    JsonNode root = new ObjectMapper().readTree(asJson.out());
    assertThat(root.get("keyspaces").findValuesAsText("keyspace")).contains("shop");
    assertThat(root.get("hot").findValuesAsText("key")).contains("top:hot");
    assertThat(root.get("links")).isEmpty();
  }

  @Test
  void watch_printsALineForEachChange_asTextAndAsJson() throws Exception {
    try (OsierClient client = cluster.client("eu")) {
      AtomicBoolean ended = new AtomicBoolean();
      Thread writer =
          Thread.startVirtualThread(
              () -> {
                Keyspace shop = client.session().keyspace("shop");
                while (!ended.get()) {
                  shop.set("watched:1").add("x");
                }
              });
      try {
        CliRun text = run("--keyspace", "shop", "watch", "watched:*", "3");
        assertThat(text.code()).as(text.err()).isZero();
        assertThat(text.out().lines()).hasSize(3).containsOnly("watched:1 set eu");
        CliRun one = run("--keyspace", "shop", "--json", "watch", "watched:1", "1");
        assertThat(one.code()).as(one.err()).isZero();
        JsonNode line = new ObjectMapper().readTree(one.out());
        assertThat(line.get("key").asText()).isEqualTo("watched:1");
        assertThat(line.get("origin").asText()).isEqualTo("eu");
      } finally {
        ended.set(true);
        writer.join();
      }
    }
    CliRun all = run("--keyspace", "shop", "watch", "watched:*", "from", "beginning", "1");
    assertThat(all.code()).as(all.err()).isZero();
    assertThat(all.out()).startsWith("watched:1 set ");
    assertThat(run("--keyspace", "shop", "watch").err()).contains("watch KEY|PREFIX*");
    assertThat(run("--keyspace", "shop", "watch", "k", "from", "x").err())
        .contains("no watcher's position");
    assertThat(run("--keyspace", "shop", "watch", "k", "no").err()).contains("'no' must be");
    assertThat(run("--keyspace", "none", "watch", "k").err()).contains("UNKNOWN_KEYSPACE");
  }
}
