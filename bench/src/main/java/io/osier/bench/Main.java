package io.osier.bench;

import io.osier.bench.demo.DemoCommand;
import io.osier.bench.jmh.JmhCommand;
import io.osier.bench.sample.SampleCommand;
import io.osier.bench.sim.SimCommand;
import io.osier.bench.ycsb.YcsbCommand;
import java.util.List;

/** The repository's launcher, with the distribution's commands and those of bench. */
public final class Main {
  /**
   * The system property with the id of a parent process. This process ends when the parent ends, so
   * that a killed demo leaves no process behind.
   */
  public static final String PARENT = "osier.parent";

  /** The commands that the distribution does not have. */
  static final List<Class<?>> COMMANDS =
      List.of(
          DemoCommand.class,
          SampleCommand.class,
          SimCommand.class,
          BenchCommand.class,
          YcsbCommand.class,
          JmhCommand.class);

  private Main() {}

  /** Runs a command and exits with its code. */
  public static void main(String[] args) throws InterruptedException {
    Long parent = Long.getLong(PARENT);
    if (parent != null) {
      ProcessHandle.of(parent)
          .ifPresentOrElse(
              p -> p.onExit().thenRun(() -> Runtime.getRuntime().halt(1)),
              () -> Runtime.getRuntime().halt(1));
    }
    System.exit(io.osier.datacenter.cli.Main.run(COMMANDS, args));
  }
}
