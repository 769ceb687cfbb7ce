package io.osier.bench.run;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import io.osier.bench.systems.ScenarioException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

final class ScenarioTest {
  static final List<String> NAMES = Scenario.NAMES;

  @TempDir private Path directory;

  private Scenario read(String text, String... changes) throws IOException {
    Path file = Files.writeString(directory.resolve("own.conf"), text);
    return Scenario.read(file.toString(), List.of(changes), false);
  }

  @ParameterizedTest
  @FieldSource("NAMES")
  void scenario_quickOrNot_hasCasesVariantsAndLoadsThatCanBeRead(String name) {
    for (boolean quick : new boolean[] {false, true}) {
      Scenario scenario = Scenario.read(name, List.of(), quick);
      assertThat(scenario.config().getString("about")).isNotBlank();
      List<String> cases = scenario.cases().stream().map(Scenario.Part::name).toList();
      assertThat(cases).doesNotHaveDuplicates();
      assertThat(cases).containsAll(scenario.config().getStringList("only"));
      for (Scenario.Part one : scenario.cases()) {
        List<Scenario.Part> variants = one.variants();
        Set<String> names = variants.stream().map(Scenario.Part::name).collect(Collectors.toSet());
        assertThat(names).hasSameSizeAs(variants);
        for (Scenario.Part variant : variants) {
          assertThat(variant.loads()).isNotEmpty();
        }
      }
    }
  }

  @Test
  void names_areAllFilesThatAreThere() throws IOException {
    Path folder = Path.of("src/main/resources/io/osier/bench/run");
    try (Stream<Path> files = Files.list(folder)) {
      Set<String> there =
          files
              .map(file -> file.getFileName().toString().replace(".conf", ""))
              .filter(name -> !List.of("defaults", "ways").contains(name))
              .collect(Collectors.toCollection(TreeSet::new));
      assertThat(there).containsExactlyInAnyOrderElementsOf(Scenario.NAMES);
    }
  }

  @Test
  void file_aVariantLiesOverItsCaseAndThatOverTheFile() throws IOException {
    Scenario scenario =
        read(
            """
            load { keys = 5, bytes = 7 }
            cases = [ { name = a, load.keys = 6, variants = [ { name = v, load.in-flight = 2 } ] } ]
            """);
    Scenario.Part variant = scenario.cases().getFirst().variants().getFirst();
    Config load = requireNonNull(variant.loads().get(""));
    assertThat(load.getInt("keys")).isEqualTo(6);
    assertThat(load.getInt("bytes")).isEqualTo(7);
    assertThat(load.getInt("in-flight")).isEqualTo(2);
    assertThat(load.getInt("sessions")).isEqualTo(1);
  }

  @Test
  void change_liesOverTheQuickBlock_andThatOverTheFile() {
    Scenario quick = Scenario.read("causal", List.of("seconds=3"), true);
    assertThat(quick.config().getDouble("seconds")).isEqualTo(3);
    assertThat(quick.config().getInt("rounds")).isEqualTo(2);
  }

  /** Who asks for something is not given something else because a case says it, too. */
  @Test
  void change_liesOverCasesVariantsAndLoads() throws IOException {
    Scenario scenario =
        read(
            """
            loads.x.keys = 4
            cases = [ { name = a, load.keys = 6, loads.y.keys = 7
                        variants = [ { name = v, load.keys = 8, load.bytes = 9 } ] } ]
            """,
            "load.keys=5");
    Scenario.Part variant = scenario.cases().getFirst().variants().getFirst();
    for (String load : List.of("x", "y")) {
      assertThat(requireNonNull(variant.loads().get(load)).getInt("keys")).isEqualTo(5);
      assertThat(requireNonNull(variant.loads().get(load)).getInt("bytes")).isEqualTo(9);
    }
  }

  @Test
  void change_isSeenWhereTheFileNamesItsKey() throws IOException {
    assertThat(read("seconds = 4\nwarm-up = ${seconds}", "seconds=9").config().getInt("warm-up"))
        .isEqualTo(9);
  }

  @Test
  void unknownKey_isRefusedWithThoseThatAreKnown() {
    assertThatThrownBy(() -> read("load.kays = 5"))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("load.kays")
        .hasMessageContaining("keys");
    assertThatThrownBy(() -> read("cases = [ { name = a, second = 5 } ]").cases())
        .hasMessageContaining("second");
    assertThatThrownBy(() -> Scenario.read("nowhere", List.of(), false))
        .hasMessageContaining("nowhere")
        .hasMessageContaining("propagation");
  }

  @Test
  void mix_isDrawnByItsWeights() throws IOException {
    Scenario.Part variant =
        read("load.mix { get = 3, increment = 1 }").cases().getFirst().variants().getFirst();
    Config load = requireNonNull(variant.loads().get(""));
    Draw draw = new Draw(load);
    assertThat(draw.operations()).containsExactly("get", "increment");
    int increments = 0;
    for (long i = 0; i < 40_000; i++) {
      increments += draw.operation(i);
    }
    assertThat(increments).isBetween(9_000, 11_000);
    int hottest = draw.ofRank(0);
    draw.shift(17);
    assertThat(draw.ofRank(0)).isEqualTo(hottest + 17);
  }

  /** Each client asks mostly for its own home, and for the others alike; a shift moves them on. */
  @Test
  void keysOfHomes_areThoseOfTheClientsOwn_andShift() throws IOException {
    Scenario.Part variant =
        read("load { homes = [eu, us, ap], own = 0.9, keys = 300, draw = uniform, mix.get = 1 }")
            .cases()
            .getFirst()
            .variants()
            .getFirst();
    Draw draw = new Draw(requireNonNull(variant.loads().get("")));
    for (int shift = 0; shift < 3; shift++) {
      int[] homes = new int[3];
      for (long i = 0; i < 30_000; i++) {
        homes[draw.key(i, "us") % 3]++;
      }
      assertThat(homes[(1 + shift) % 3]).isBetween(26_000, 28_000);
      assertThat(homes[(2 + shift) % 3]).isBetween(1_000, 2_000);
      assertThat(draw.user(List.of("eu", "us", "ap").get((1 + shift) % 3))).isEqualTo("us");
      draw.shift(1);
    }
  }
}
