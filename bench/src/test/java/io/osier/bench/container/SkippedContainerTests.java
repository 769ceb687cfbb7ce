package io.osier.bench.container;

import java.io.PrintStream;
import java.util.Map;
import java.util.TreeMap;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Says once, at the end, which tests of containers were skipped, and why. */
public final class SkippedContainerTests implements TestExecutionListener {
  private final PrintStream out;
  private final Map<String, String> skipped = new TreeMap<>();

  /** For the launcher, which finds it as a service. */
  public SkippedContainerTests() {
    this(System.err);
  }

  SkippedContainerTests(PrintStream out) {
    this.out = out;
  }

  @Override
  public synchronized void executionSkipped(TestIdentifier test, String reason) {
    skipped(test.getDisplayName(), reason);
  }

  void skipped(String test, String reason) {
    int at = reason.indexOf(EngineCondition.SKIPPED);
    if (at >= 0) {
      skipped.put(test, reason.substring(at + EngineCondition.SKIPPED.length()));
    }
  }

  @Override
  public synchronized void testPlanExecutionFinished(TestPlan plan) {
    report();
  }

  void report() {
    if (!skipped.isEmpty()) {
      String line = "*".repeat(100);
      out.println(line);
      out.println("* SKIPPED: " + String.join(", ", skipped.keySet()));
      out.println("* These tests start containers, and that cannot be done here:");
      out.println("* " + skipped.values().iterator().next());
      out.println(line);
      skipped.clear();
    }
  }
}
