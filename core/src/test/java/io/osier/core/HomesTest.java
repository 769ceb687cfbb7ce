package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.testing.Refused;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HomesTest {
  private static final Homes HOMES = new Homes(List.of("us", "eu", "ap", "eu"));

  @ParameterizedTest
  @CsvSource({
    "eu:cart:17, eu",
    "cart:{eu}:17, eu",
    "us:cart:{eu}, eu",
    "us:cart:{7}, us",
    "us:cart:{sa}, us",
    "us:cart:{}{eu}, us",
    "{eu:17, ''",
    "{eu}, eu",
    "eu:, eu",
    "eu, ''",
    ":eu, ''",
    "eu1:17, ''",
    "EU:17, ''",
    "cart:eu:17, ''",
    "sa:17, ''",
    "{sa}eu:17, ''"
  })
  void home_isWhatTheTagNames_orElseTheTextBeforeTheColon(String key, String home) {
    assertThat(HOMES.of(Key.of(key))).isEqualTo(home);
    assertThat(HOMES.keyspace("carts", Key.of(key)))
        .isEqualTo(home.isEmpty() ? "carts" : "carts@" + home);
  }

  /** Computes the home by another algorithm: on the text. */
  @Test
  void home_isThatOfTheText_whateverTheKey() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    List<String> parts = List.of("eu", "us", "{", "}", ":", "x", "é", "@");
    for (int i = 0; i < 5_000; i++) {
      StringBuilder text = new StringBuilder("");
      for (int n = 1 + random.nextInt(6); n > 0; n--) {
        text.append(parts.get(random.nextInt(parts.size())));
      }
      assertThat(HOMES.of(Key.of(text.toString())))
          .as("seed %d, %s", seed, text)
          .isEqualTo(expected(text.toString()));
    }
  }

  private static String expected(String text) {
    int open = text.indexOf('{');
    int close = open < 0 ? -1 : text.indexOf('}', open);
    String tag = close > open + 1 ? text.substring(open + 1, close) : "";
    String prefix = text.contains(":") ? text.substring(0, text.indexOf(':')) : "";
    return HOMES.names().contains(tag) ? tag : HOMES.names().contains(prefix) ? prefix : "";
  }

  @Test
  void homesAreKeyspaces_andTheKeyspaceIsTheDefaultOne() {
    assertThat(HOMES.keyspaces("carts"))
        .containsExactly("carts", "carts@ap", "carts@eu", "carts@us");
    assertThat(HOMES).hasToString("ap,eu,us").isEqualTo(new Homes(List.of("ap", "eu", "us")));
    assertThat(Homes.base("carts@eu")).isEqualTo("carts");
    assertThat(Homes.base("carts")).isEqualTo("carts");
    assertThat(Homes.home("carts@eu")).isEqualTo("eu");
    assertThat(Homes.home("carts")).isEmpty();
    assertThat(Homes.isHome("carts@eu")).isTrue();
    assertThat(Homes.isHome("carts")).isFalse();
    assertThat(Homes.NONE.of(Key.of("eu:1"))).isEmpty();
  }

  @Test
  void keysOfOtherHomes_areRefusedByName() {
    HOMES.check("carts@eu", Key.of("eu:1"));
    HOMES.check("carts", Key.of("1"));
    Homes.NONE.check("carts", Key.of("eu:1"));
    for (String wrong : List.of("carts", "carts@us")) {
      assertThatThrownBy(() -> HOMES.check(wrong, Key.of("eu:1")))
          // something may have been done with other keys
          .hasMessageContaining("nothing was done with key 'eu:1'")
          .hasMessageContainingAll("'" + wrong + "'", "'carts@eu'");
    }
    List<Key> one = List.of(Key.of("eu:1"), Key.of("{eu}2"));
    assertThat(HOMES.one("carts", "a program", one)).isEqualTo("carts@eu");
    List<Key> two = List.of(Key.of("eu:1"), Key.of("2"));
    assertThatThrownBy(() -> HOMES.one("carts", "a program", two))
        .hasMessageContainingAll("'eu:1' is in 'carts@eu'", "'2' in 'carts'");
  }

  @Test
  void homesThatAreAdded_comeLast_andAreNoPartOfTheFingerprint() {
    Homes adding = new Homes(HOMES.names(), 0, List.of("sa"));
    Homes grown = new Homes(List.of("ap", "eu", "us", "sa", "af"), 2, List.of());
    for (String key : List.of("sa:1", "x{sa}", "us:{sa}2")) {
      Key moved = Key.of(key);
      assertThat(adding.of(moved)).isEqualTo(HOMES.of(moved));
      assertThat(adding.taker(moved)).isEqualTo("sa");
      assertThat(grown.of(moved)).isEqualTo("sa");
      assertThat(grown.taker(moved)).isEmpty();
      adding.check("carts@sa", moved); // of who knows already that it is there
      assertThatThrownBy(() -> grown.check("carts", moved))
          .is(Refused.with(ErrorCode.UNKNOWN_KEYSPACE));
    }
    for (String key : List.of("1", "eu:1", "eu:{us}", "{eu}sa:1")) {
      assertThat(adding.taker(Key.of(key))).isEmpty();
      assertThatThrownBy(() -> adding.check("carts@sa", Key.of(key)))
          .is(Refused.with(ErrorCode.INVALID_ARGUMENT));
    }
    assertThat(grown.keyspaces("carts")).endsWith("carts@sa", "carts@af");
    assertThat(grown).hasToString("af,ap,eu,sa,us");
    assertThat(grown.first()).isEqualTo(HOMES);
    KeyspacePolicy carts =
        KeyspacePolicy.session("carts", Duration.ofSeconds(1))
            .with(new Partitioning(4, Partitioning.Hash.KEY, HOMES));
    for (Homes later : List.of(adding, grown)) {
      KeyspacePolicy with = carts.with(carts.partitioning().with(later));
      assertThat(with.fingerprint()).isEqualTo(carts.fingerprint());
      assertThat(with.partitioning().hasGrownFrom(carts.partitioning())).isTrue();
    }
    assertThat(HOMES.hasGrownFrom(grown)).isFalse();
    assertThat(grown.hasGrownFrom(Homes.NONE)).isFalse();
    assertThat(grown.hasGrownFrom(new Homes(List.of("ap", "eu", "sa")))).isFalse();
  }

  @Test
  void namesAndPolicies_haveTheirLimits() {
    assertThatThrownBy(() -> new Homes(List.of("e u"))).hasMessageContaining("'e u'");
    List<String> many = IntStream.rangeClosed(0, Homes.MAX).mapToObj(i -> "h" + i).toList();
    assertThatThrownBy(() -> new Homes(many)).hasMessageContaining("at most 64");
    Partitioning homes = new Partitioning(4, Partitioning.Hash.KEY, HOMES);
    KeyspacePolicy carts = KeyspacePolicy.session("carts", Duration.ofSeconds(1)).with(homes);
    KeyspacePolicy eu = carts.home("eu");
    assertThat(eu.name()).isEqualTo("carts@eu");
    assertThat(eu.partitioning()).isEqualTo(homes);
    assertThat(carts.home("")).isEqualTo(carts);
    assertThat(carts.fingerprint()).contains("partitions=4, homes=[ap, eu, us], limits");
    assertThat(carts.fingerprint(Optional.of("1-eu"))).contains("homes=[ap, eu, us]}");
    assertThat(eu.fingerprint(Optional.of("1-eu"))).as("as carts says").doesNotContain("homes");
    assertThatThrownBy(() -> carts.home("sa")).hasMessageContaining("none of the homes ap,eu,us");
    assertThatThrownBy(() -> KeyspacePolicy.checkName("carts@eu"))
        .hasMessageContaining("keyspace name must be");
    KeyspacePolicy longest = KeyspacePolicy.session("c".repeat(62), Duration.ofSeconds(1));
    assertThatThrownBy(() -> longest.with(homes)).hasMessageContaining("64 characters");
    KeyspacePolicy causal = KeyspacePolicy.causal("bank", Duration.ofSeconds(1));
    assertThatThrownBy(() -> causal.with(new Partitioning(1, Partitioning.Hash.KEY, HOMES)))
        .hasMessageContaining("no homes");
  }

  @Test
  void grants_countForHomes() {
    Grant carts = Grant.parse("read carts cart:");
    Key key = Key.of("cart:{eu}");
    assertThat(carts.covers(Grant.Right.READ, "carts@eu", key)).isTrue();
    assertThat(carts.covers(Grant.Right.READ, "carts", key)).isTrue();
    for (String other : Arrays.asList("cart", "cart@eu", "carts2", "carts2@eu")) {
      assertThat(carts.covers(Grant.Right.READ, other, key)).as(other).isFalse();
    }
    assertThat(carts.covers(Grant.Right.READ, "carts@eu", Key.of("eu:1"))).isFalse();
    Grant one = Grant.on(Grant.Right.ADMIN, "carts@eu");
    assertThat(Grant.parse("admin carts").covers(one)).isTrue();
    assertThat(one.covers(Grant.parse("admin carts"))).isFalse();
    assertThat(one.covers(Grant.on(Grant.Right.ADMIN, "carts@us"))).isFalse();
    assertThatThrownBy(() -> Grant.parse("admin carts@eu"))
        .hasMessageContaining("keyspace 'carts' is one on its homes");
  }
}
