package io.osier.datacenter.cli.session;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.IntSupplier;

/** How a command ended, and what it printed. */
record CliRun(int code, String out, String err) {
  /**
   * Runs a command, which prints to the system's outputs.
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
          e.toString(StandardCharsets.UTF_8).strip());
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }
}
