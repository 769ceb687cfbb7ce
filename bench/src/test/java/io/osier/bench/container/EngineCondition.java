package io.osier.bench.container;

import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Whether tests of containers can run. */
final class EngineCondition implements ExecutionCondition {
  /** What the reason of every skipped test of containers begins with. */
  static final String SKIPPED = "no containers: ";

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return evaluate(Engine.obstacle(), "required".equals(System.getenv("OSIER_CONTAINERS")));
  }

  /**
   * Decides.
   *
   * @param obstacle why no container can be started; empty if they can
   * @throws IllegalStateException if tests of containers must not be skipped
   */
  static ConditionEvaluationResult evaluate(Optional<String> obstacle, boolean required) {
    if (obstacle.isEmpty()) {
      return ConditionEvaluationResult.enabled("there is an engine, and the image");
    }
    if (required) {
      throw new IllegalStateException(
          "OSIER_CONTAINERS=required, and containers cannot be started: " + obstacle.get());
    }
    return ConditionEvaluationResult.disabled(SKIPPED + obstacle.get());
  }
}
