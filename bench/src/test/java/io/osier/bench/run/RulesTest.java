package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.osier.bench.systems.ScenarioException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/** What cannot be is told before anything is started, with what would be right. */
final class RulesTest {
  static final List<String> NAMES = Scenario.NAMES;

  private static void check(String name, List<String> changes, boolean quick) {
    for (Scenario.Part one : Scenario.read(name, changes, quick).cases()) {
      for (Scenario.Part variant : one.variants()) {
        Rules.check(variant);
        assertThat(Steps.of(variant.config())).isNotEmpty();
      }
    }
  }

  @ParameterizedTest
  @FieldSource("NAMES")
  void scenario_quickOrNot_keepsTheRules(String name) {
    check(name, List.of(), false);
    check(name, List.of(), true);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "causal | load=5                     | load must be a block { ... }, not 5",
        "causal | loads.x=5                  | loads.x must be a block",
        "causal | load.keys=0                | load.keys must be 1 or more",
        "causal | load.in-flight=0           | load.in-flight must be 1 or more",
        "causal | seconds=-1                 | seconds must be 0 or more",
        "causal | rounds=0                   | rounds must be 1 or more",
        "causal | variants=[]                | variants must be one or more",
        "causal | variants=[{ name = a }, { name = a }] | each with a name of its own",
        "causal | cluster.tls=maybe          | is one of both, off, server",
        "causal | load.draw=evenly           | is one of turns, uniform, zipfian",
        "shift  | load.keyspace=none         | load.keyspace is one of k, not none",
        "causal | load.audit=true, load.mix.insert=1 | need a mix that updates by increment or by"
            + " add",
        "causal | load.watchers=5000         | load.watchers must be at most load.keys, 1000",
        "peers  | load.threads=0             | load.threads must be 1 or more",
        "causal | load.homes=[eu, us, ap]    | load.keys so many for each of them",
        "mixed-sla | load.watchers=1         | are for one load alone, not for 2"
      })
  void mistake_isRefusedWithWhatWouldBeRight(String name, String changes, String words) {
    assertThatThrownBy(() -> check(name, List.of(changes), false))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining(words)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "do = jion, dc = au | a step does one of clear, equal,",
        "do = join          | needs its dc",
        "do = equal, dc = eu | has no dc",
        "second = 5         | unknown key step.second"
      })
  void stepThatCannotBeDone_isRefused(String step, String words) {
    Config variant = ConfigFactory.parseString("seconds = 1, steps = [ { " + step + " } ]");
    assertThatThrownBy(() -> Steps.of(variant))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining(words);
  }
}
