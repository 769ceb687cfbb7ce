package io.osier.bench.sim;

import com.sun.management.OperatingSystemMXBean;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.SimOptions;
import java.lang.management.ManagementFactory;
import java.util.EnumSet;
import java.util.Locale;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.provider.Arguments;

/**
 * Not a test: prints how many seconds of processor time it takes until each sabotage is noticed, so
 * that one who changes the simulator sees whether it finds less, or later. It runs where {@code
 * -Dosier.sabotage.starts=N} is given, from N seeds that are far apart, each for {@code
 * -Dosier.sabotage.seconds=S} (60) seconds of processor time at most.
 *
 * <p>A row's mean is the time of all its starts by how many of them noticed it; where none has, it
 * is more than that time.
 */
final class SabotageCostTest {
  private static final int STARTS = Integer.getInteger("osier.sabotage.starts", 0);
  private static final double SECONDS_MAX = Integer.getInteger("osier.sabotage.seconds", 60);
  private static final int APART = 1_009; // prime: what a seed draws by its remainder differs
  private static final double WARMING_SECONDS = 30;

  /** What all starts of a sabotage took together. */
  private static final class Row {
    private int noticed;
    private int otherwise;
    private int seeds;
    private double seconds;
  }

  @Test
  @EnabledIfSystemProperty(named = "osier.sabotage.starts", matches = "[1-9]\\d*")
  void print_secondsOfProcessorTimeUntilEachIsNoticed() {
    warmUp();
    System.out.printf(
        Locale.ROOT,
        "sabotage: %d starts of at most %.0f s each%n"
            + " mean s  noticed  otherwise  seeds  s a seed  sabotage%n",
        STARTS,
        SECONDS_MAX);
    SabotageTest.sabotages().forEach(SabotageCostTest::print);
  }

  private static void print(Arguments of) {
    Row row = new Row();
    for (long start = 1; start <= STARTS; start++) {
      measure(row, (String) of.get()[1], supplier(of), start * APART);
    }
    System.out.printf(
        Locale.ROOT,
        "%s%6.1f %5d/%d %10d %6d %9.2f  %s%n",
        row.noticed == 0 ? ">" : " ",
        row.seconds / Math.max(1, row.noticed),
        row.noticed,
        STARTS,
        row.otherwise,
        row.seeds,
        row.seconds / row.seeds,
        of.get()[0]);
  }

  @SuppressWarnings("unchecked")
  private static Supplier<Sabotage> supplier(Arguments of) {
    return (Supplier<Sabotage>) of.get()[2];
  }

  /** Runs one seed after the other until one notices it, or the time is spent. */
  private static void measure(Row row, String says, Supplier<Sabotage> makes, long start) {
    double began = processorSeconds();
    String noticed = null;
    for (long seed = start; noticed == null && processorSeconds() - began < SECONDS_MAX; seed++) {
      Sabotage sabotage = makes.get();
      row.seeds++;
      try {
        SabotageTest.run(sabotage, sabotage, seed);
      } catch (RuntimeException e) {
        noticed = e.toString();
      }
    }
    row.seconds += processorSeconds() - began;
    if (noticed != null) {
      row.noticed++;
      row.otherwise += noticed.matches("(?s).*(" + says + ").*") ? 0 : 1;
    }
  }

  /** What the compiler of the virtual machine needs is no part of what is measured. */
  private static void warmUp() {
    SimCommand.quiet();
    double began = processorSeconds();
    for (long seed = 1; processorSeconds() - began < WARMING_SECONDS; seed++) {
      SimRun.run(new Simulation(new SimOptions(3, EnumSet.allOf(Fault.class), 60), seed));
    }
  }

  private static double processorSeconds() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime()
        / 1e9;
  }
}
