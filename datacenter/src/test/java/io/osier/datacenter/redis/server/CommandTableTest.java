package io.osier.datacenter.redis.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.datacenter.redis.command.Databases;
import io.osier.datacenter.redis.command.NotServed;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.protocol.Reply;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which commands there are, and which keyspaces numbers stand for. */
final class CommandTableTest {
  private static final CommandTable TABLE = RedisPort.table();

  @Test
  void find_everyName_inAnyCase_isItsCommand() {
    for (CommandTable.Entry entry : TABLE.all()) {
      String name = entry.command().name();
      assertThat(TABLE.find(name.getBytes(UTF_8))).isSameAs(entry);
      assertThat(TABLE.find(name.toLowerCase(Locale.ROOT).getBytes(UTF_8))).isSameAs(entry);
      assertThat(TABLE.find((name + "x").getBytes(UTF_8))).isNotSameAs(entry);
      assertThat(NotServed.error(name.getBytes(UTF_8))).as(name).isNull();
    }
  }

  @Test
  void find_whatIsNoName_isNothing() {
    for (String no : List.of("", "G", "GE\0", "GET\0", "get ", "{et", "*", "g".repeat(10_000))) {
      assertThat(TABLE.find(no.getBytes(UTF_8))).as(no).isNull();
    }
  }

  @Test
  void entries_areWhole() {
    for (CommandTable.Entry entry : TABLE.all()) {
      RedisCommand command = entry.command();
      assertThat(command.arity()).as(command.name()).isNotZero();
      assertThat(command.summary()).as(command.name()).endsWith(".");
      assertThat(entry.fits(Math.abs(command.arity()))).isTrue();
      assertThat(entry.fits(Math.abs(command.arity()) - 1)).isFalse();
      assertThat(entry.fits(Math.abs(command.arity()) + 1)).isEqualTo(command.arity() < 0);
    }
  }

  private static List<String> keys(String line) {
    byte[][] words =
        Stream.of(line.split(" ")).map(word -> word.getBytes(UTF_8)).toArray(byte[][]::new);
    return Objects.requireNonNull(TABLE.find(words[0])).command().keys().of(words).stream()
        .map(key -> new String(key, UTF_8))
        .toList();
  }

  @Test
  void keys_ofACommandsWords() {
    assertThat(keys("PING")).isEmpty();
    assertThat(keys("SET a b EX 1")).containsExactly("a");
    assertThat(keys("MSET a 1 b 2")).containsExactly("a", "b");
    assertThat(keys("RENAME a b")).containsExactly("a", "b");
    assertThat(keys("SUNIONSTORE a b c")).containsExactly("a", "b", "c");
    assertThat(keys("BITOP AND a b c")).containsExactly("a", "b", "c");
    assertThat(keys("SINTERCARD 2 a b LIMIT 1")).containsExactly("a", "b");
    for (String wrong : List.of("SINTERCARD 9 a b", "SINTERCARD 9223372036854775807 a b")) {
      assertThat(keys(wrong)).as(wrong).containsExactly("a", "b");
    }
    assertThat(keys("SINTERCARD -1 a")).isEmpty();
    assertThat(keys("SINTERCARD x a")).isEmpty();
  }

  private static List<String> names(Predicate<CommandTable.Entry> which) {
    return TABLE.all().stream().filter(which).map(entry -> entry.command().name()).toList();
  }

  @Test
  void within_betweenMultiAndExec_isWhatTheListSays() {
    assertThat(names(entry -> entry.within() == CommandTable.Within.DONE))
        .containsExactly("DISCARD", "EXEC", "MULTI", "QUIT", "RESET", "WATCH");
    assertThat(names(entry -> entry.within() == CommandTable.Within.QUEUED))
        .contains("GET", "SADD", "PING", "PUBLISH", "UNWATCH")
        .doesNotContain("LCS", "KEYS", "SCAN", "HELLO", "SUBSCRIBE");
    assertThat(names(entry -> entry.command().has(RedisCommand.Trait.SUBSCRIBED)))
        .hasSize(9)
        .contains("PING", "SUBSCRIBE", "OSIER.UNWATCH");
    assertThat(names(entry -> entry.command().has(RedisCommand.Trait.TRANSACTION)))
        .hasSize(6)
        .allMatch(name -> name.startsWith("OSIER."));
    assertThat(names(entry -> entry.command().has(RedisCommand.Trait.ONCE))).hasSize(51);
  }

  @Test
  void of_twoOfOneName_isRefused() {
    assertThatThrownBy(
            () ->
                CommandTable.of(
                    Map.of("GET", (scope, words) -> Plan.ok()),
                    Map.of("GET", (session, place, words) -> Plan.ok())))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void databases_withAndWithoutNames_areKeyspaces() {
    Reply.KeyspaceInfo shop = new Reply.KeyspaceInfo("shop", 0, 1, false);
    Reply.KeyspaceInfo carts = new Reply.KeyspaceInfo("carts", 0, 1, false);
    Reply.KeyspaceInfo usual = new Reply.KeyspaceInfo("default", 0, 1, false);
    Databases none = new Databases(Map.of());
    assertThat(none.find(0, List.of(), List.of(shop))).contains(shop);
    assertThat(none.find(1, List.of(), List.of(shop))).isEmpty();
    assertThat(none.find(0, List.of(), List.of(shop, carts))).isEmpty();
    assertThat(none.find(0, List.of(), List.of(shop, usual))).contains(usual);
    assertThat(none.count()).isEqualTo(1);
    Databases named = new Databases(Map.of(0, "shop", 3, "carts"));
    assertThat(named.find(0, List.of(), List.of(shop, carts))).contains(shop);
    assertThat(named.find(3, List.of(), List.of(shop, carts))).contains(carts);
    assertThat(named.find(3, List.of(), List.of(shop))).isEmpty();
    assertThat(named.find(1, List.of(), List.of(shop, carts))).isEmpty();
    assertThat(named.count()).isEqualTo(4);
  }
}
