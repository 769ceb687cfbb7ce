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

final class StepsTest {
  static final List<String> NAMES = Scenario.NAMES;

  @ParameterizedTest
  @FieldSource("NAMES")
  void stepsOfEachScenario_canBeDone(String name) {
    for (boolean quick : new boolean[] {false, true}) {
      for (Scenario.Part one : Scenario.read(name, List.of(), quick).cases()) {
        for (Scenario.Part variant : one.variants()) {
          assertThat(Steps.of(variant.config())).isNotEmpty();
        }
      }
    }
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
  void aStepThatCannotBe_isRefusedBeforeAnythingIsStarted(String step, String words) {
    Config variant = ConfigFactory.parseString("seconds = 1, steps = [ { " + step + " } ]");
    assertThatThrownBy(() -> Steps.of(variant))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining(words);
  }
}
