package io.osier.datacenter.cli.session;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.charset.Charset;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jline.terminal.Attributes;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.InfoCmp.Capability;

/**
 * Runs {@code top}: shows, once a second until q is typed, what all datacenters are doing that the
 * asked one can reach.
 */
public final class Top {
  private static final long PERIOD_MILLIS = 1_000;

  /** Columns and rows for what is not shown at a terminal. */
  private static final int UNLIMITED = Integer.MAX_VALUE;

  private final OsierClient client;

  public Top(OsierClient client) {
    this.client = client;
  }

  /** Returns one picture, with the rates of one second. */
  public String once(boolean asJson) {
    ClusterLook before = look();
    LockSupport.parkNanos(PERIOD_MILLIS * 1_000_000);
    TopView figures = new TopView(before, look());
    return asJson
        ? figures.json()
        : String.join(
            "\n",
            new TopText(figures, arrow(Charset.defaultCharset()), UNLIMITED).lines(UNLIMITED));
  }

  /**
   * Shows pictures at the terminal until q or Ctrl-C; throws INVALID_ARGUMENT if there is no
   * terminal.
   */
  public void run() throws IOException {
    try (Terminal terminal = TerminalBuilder.builder().dumb(true).build()) {
      if (terminal.getType().startsWith(Terminal.TYPE_DUMB)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            "top needs a terminal; 'top --once' prints one picture, --json as JSON");
      }
      Attributes before = terminal.enterRawMode();
      terminal.puts(Capability.enter_ca_mode);
      terminal.puts(Capability.cursor_invisible);
      try {
        show(terminal);
      } finally {
        terminal.puts(Capability.cursor_normal);
        terminal.puts(Capability.exit_ca_mode);
        terminal.setAttributes(before);
        terminal.flush();
      }
    }
  }

  private void show(Terminal terminal) throws IOException {
    String arrow = arrow(terminal.encoding());
    ClusterLook before = look();
    int key = -2; // no key was typed
    while (key != 'q' && key != 'Q' && key != 3 && key != -1) { // 3: Ctrl-C, -1: the end
      ClusterLook now = look();
      int rows = terminal.getHeight() <= 0 ? 40 : terminal.getHeight() - 1;
      int columns = terminal.getWidth() <= 0 ? 120 : terminal.getWidth();
      List<String> lines = new ArrayList<>();
      lines.add(
          "osier top, %s, %d of %d datacenters; q ends it"
              .formatted(
                  LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS),
                  now.answers().size(),
                  now.datacenters()));
      lines.add("");
      lines.addAll(new TopText(new TopView(before, now), arrow, columns).lines(rows - 2));
      before = now;
      terminal.puts(Capability.clear_screen);
      for (String line : lines.subList(0, Math.min(rows, lines.size()))) {
        terminal.writer().print(line.substring(0, Math.min(columns, line.length())) + "\r\n");
      }
      terminal.flush();
      key = terminal.reader().read(PERIOD_MILLIS);
    }
  }

  /** Returns an arrow, in a form that the terminal can show. */
  private static String arrow(Charset charset) {
    return charset.newEncoder().canEncode('→') ? " → " : " -> ";
  }

  private ClusterLook look() {
    return CliAdmin.look(client.admin().whyAsync());
  }
}
