package io.osier.datacenter.cli.session;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;

/** How a command ended, and what it printed. */
record CliRun(int code, String out, String err) {
  /** A line of the log of this process, in the form of logback-test.xml. */
  private static final Pattern LOGGED =
      Pattern.compile("^\\d\\d:\\d\\d:\\d\\d\\.\\d{3} [A-Z]+ +\\S+ \\[.*\\R?", Pattern.MULTILINE);

  /**
   * Runs a command, which prints to the system's outputs. What datacenters and clients of this
   * process log there meanwhile, such as a request that was slow, is left out.
   *
   * @param command returns its exit code
   */
  static CliRun of(IntSupplier command) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream o = new ByteArrayOutputStream();
    ByteArrayOutputStream e = new ByteArrayOutputStream();
    System.setOut(new PrintStream(o, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(e, true, StandardCharsets.UTF_8));
    try {
      int code = command.getAsInt();
      return new CliRun(
          code,
          o.toString(StandardCharsets.UTF_8).strip(),
          LOGGED.matcher(e.toString(StandardCharsets.UTF_8)).replaceAll("").strip());
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }
}
