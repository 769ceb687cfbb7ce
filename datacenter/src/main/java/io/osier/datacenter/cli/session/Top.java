package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.jline.terminal.Attributes;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.InfoCmp.Capability;

/** {@code top}: what all connected datacenters are doing, once a second until q is typed. */
public final class Top {
  private static final long PERIOD_MILLIS = 1_000;
  private static final int HOT = 20;

  private final OsierClient client;
  private final ObjectMapper json = new ObjectMapper();

  public Top(OsierClient client) {
    this.client = client;
  }

  /** One picture, of a second. */
  public String once(boolean asJson) {
    Map<String, TopView.Look> before = look();
    LockSupport.parkNanos(PERIOD_MILLIS * 1_000_000);
    TopView figures = TopView.between(before, look());
    return asJson ? figures.json() : String.join("\n", figures.lines());
  }

  /**
   * Shows it at the terminal until q or Ctrl-C.
   *
   * @throws OsierException INVALID_ARGUMENT if there is no terminal
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
    Map<String, TopView.Look> before = look();
    int key = -2; // nothing was typed
    while (key != 'q' && key != 'Q' && key != 3 && key != -1) { // 3: Ctrl-C, -1: the end
      Map<String, TopView.Look> now = look();
      List<String> lines = new ArrayList<>();
      lines.add(
          "osier top, %s, %d of %d datacenters; q ends it"
              .formatted(
                  LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS),
                  now.size(),
                  client.status().size()));
      lines.add("");
      lines.addAll(TopView.between(before, now).lines());
      before = now;
      terminal.puts(Capability.clear_screen);
      int rows = terminal.getHeight() <= 0 ? 40 : terminal.getHeight() - 1;
      int columns = terminal.getWidth() <= 0 ? 120 : terminal.getWidth();
      for (String line : lines.subList(0, Math.min(rows, lines.size()))) {
        terminal.writer().print(line.substring(0, Math.min(columns, line.length())) + "\r\n");
      }
      terminal.flush();
      key = terminal.reader().read(PERIOD_MILLIS);
    }
  }

  /** Asks all that are connected at once; who does not answer is not shown. */
  private Map<String, TopView.Look> look() {
    Map<String, TopView.Look> looks = new TreeMap<>();
    for (OsierClient.Status status : client.status()) {
      if (status.connected()) {
        try {
          JsonNode stat = ask(status.dc(), Request.Topic.STAT);
          long nanos = System.nanoTime();
          looks.put(
              status.dc(),
              new TopView.Look(
                  nanos,
                  stat,
                  ask(status.dc(), Request.Topic.HOT),
                  ask(status.dc(), Request.Topic.PEERS)));
        } catch (CompletionException e) {
          if (!(e.getCause() instanceof OsierException)) {
            throw e;
          }
        }
      }
    }
    if (looks.isEmpty()) {
      throw new OsierException(ErrorCode.UNAVAILABLE, "no datacenter answers");
    }
    return looks;
  }

  private JsonNode ask(String dc, Request.Topic topic) {
    String text = client.inspectAsync(dc, topic, Optional.empty(), HOT).join();
    try {
      return json.readTree(text);
    } catch (JsonProcessingException e) {
      throw new OsierException(ErrorCode.INTERNAL, "the report is no JSON", e);
    }
  }
}
