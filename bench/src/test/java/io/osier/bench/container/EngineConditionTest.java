package io.osier.bench.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;

/**
 * Without an engine, tests of containers are skipped and named, or fail where they are required.
 */
final class EngineConditionTest {
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final SkippedContainerTests names =
      new SkippedContainerTests(new PrintStream(said, true, StandardCharsets.UTF_8));

  private String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  @Test
  void withoutAnEngine_theTestsAreNamedOnce_withTheReason() {
    ConditionEvaluationResult result = EngineCondition.evaluate(Optional.of("no engine"), false);
    assertThat(result.isDisabled()).isTrue();
    names.skipped("OneTest", result.getReason().orElseThrow());
    names.skipped("OtherTest", "class is @Disabled ==> " + result.getReason().orElseThrow());
    names.skipped("ThirdTest", "of another reason");
    names.report();
    names.report();
    assertThat(said())
        .containsOnlyOnce("* SKIPPED: OneTest, OtherTest\n")
        .contains("* no engine\n");
  }

  @Test
  void withAnEngine_nothingIsSaid() {
    assertThat(EngineCondition.evaluate(Optional.empty(), true).isDisabled()).isFalse();
    names.report();
    assertThat(said()).isEmpty();
  }

  @Test
  void whereTheyAreRequired_theyFail() {
    assertThatThrownBy(() -> EngineCondition.evaluate(Optional.of("no engine"), true))
        .hasMessageContaining("OSIER_CONTAINERS=required")
        .hasMessageContaining("no engine");
  }
}
