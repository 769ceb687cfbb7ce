package io.osier.datacenter.cli;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.completer.StringsCompleter;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Talks to datacenters from a shell: one command, or many in an interactive session. */
@Command(
    name = "cli",
    mixinStandardHelpOptions = true,
    description = {
      "Reads and updates objects, and shows what a datacenter is doing.",
      "With a command it runs that one; without, it reads commands from the terminal.",
      ""
    },
    footerHeading = "%nCommands:%n",
    footer = {
      "  counter incr KEY [N] | counter decr KEY [N] | counter get KEY   (also gcounter)",
      "  register set KEY VALUE | register get KEY                      (also mvregister)",
      "  ewflag on KEY | ewflag off KEY | ewflag get KEY                (also dwflag)",
      "  set add KEY E... | set remove KEY E... | set has KEY E | set size KEY | set get KEY",
      "                              (also gset, rwset, lwwset, lwwset-remove)",
      "  map set KEY FIELD=VALUE... | map update KEY FIELD TYPE OP ARGS...",
      "  map remove KEY FIELD... | map get KEY [FIELD...]",
      "  TYPE clear KEY | get KEY | scan [FROM [LIMIT]] | stat | hot [N] | peers",
      "",
      "Examples:",
      "  osier cli --connect localhost:7400 --keyspace shop counter incr likes:42 3",
      "  osier cli --connect eu=localhost:7400,us=localhost:7410 --keyspace shop",
      "  osier cli --connect localhost:7400 hot 10"
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:done", "1:failed; the error is one line on standard error", "2:wrong usage"})
public final class CliCommand implements Callable<Integer> {
  @Option(
      names = "--connect",
      defaultValue = "127.0.0.1:7400",
      paramLabel = "[NAME=]HOST:PORT[,...]",
      description = "the datacenters' client addresses (default: ${DEFAULT-VALUE})")
  private String connect;

  @Option(
      names = "--keyspace",
      paramLabel = "NAME",
      description = "the keyspace (default: the only one, if there is one)")
  private String keyspace;

  @Option(names = "--json", description = "print JSON instead of text")
  private boolean json;

  @Option(
      names = "--timeout",
      defaultValue = "10",
      paramLabel = "SECONDS",
      description = "how long a command may take (default: ${DEFAULT-VALUE})")
  private int timeoutSeconds;

  @Parameters(paramLabel = "COMMAND", description = "the command and its arguments")
  private List<String> words;

  /** For picocli. */
  public CliCommand() {}

  @Override
  public Integer call() throws IOException {
    try (OsierClient client = connect()) {
      client.awaitConnected(Duration.ofSeconds(timeoutSeconds));
      Session session = client.session();
      CliSession cli = new CliSession(client, session, keyspace, json);
      if (words != null && !words.isEmpty()) {
        if (List.of("begin", "commit", "abort").contains(words.getFirst())) {
          throw new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              "a transaction takes several commands: use the interactive mode, or write them, a line"
                  + " each, to standard input");
        }
        System.out.println(cli.run(words));
        return 0;
      }
      return interactive(client, cli);
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      return 1;
    }
  }

  private OsierClient connect() {
    OsierClient.Builder builder =
        OsierClient.builder().name("osier cli").timeout(Duration.ofSeconds(timeoutSeconds));
    int number = 0;
    for (String endpoint : connect.split(",", -1)) {
      int equals = endpoint.indexOf('=');
      String name = equals > 0 ? endpoint.substring(0, equals) : "dc" + ++number;
      try {
        builder.endpoint(name, endpoint.substring(equals + 1));
      } catch (IllegalArgumentException e) {
        throw new OsierException(ErrorCode.INVALID_ARGUMENT, e.getMessage());
      }
    }
    return builder.build();
  }

  private static int interactive(OsierClient client, CliSession cli) throws IOException {
    try (Terminal terminal = TerminalBuilder.builder().dumb(true).build()) {
      LineReader reader =
          LineReaderBuilder.builder()
              .terminal(terminal)
              .completer(new StringsCompleter(cli.words()))
              .build();
      terminal.writer().println("connected to " + client.nearest().orElse("?") + "; try help");
      while (true) {
        String line;
        try {
          line = reader.readLine("osier> ");
        } catch (UserInterruptException e) {
          continue;
        } catch (EndOfFileException e) {
          return 0;
        }
        List<String> words = split(line);
        if (words.isEmpty()) {
          continue;
        }
        if (words.equals(List.of("exit")) || words.equals(List.of("quit"))) {
          return 0;
        }
        try {
          terminal.writer().println(cli.run(words));
        } catch (OsierException e) {
          terminal.writer().println("error " + e.code() + ": " + e.getMessage());
        }
        terminal.flush();
      }
    }
  }

  /** Words at blanks; double quotes keep blanks together. */
  static List<String> split(String line) {
    List<String> words = new java.util.ArrayList<>();
    StringBuilder word = new StringBuilder();
    boolean quoted = false;
    boolean started = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"') {
        quoted = !quoted;
        started = true;
      } else if (Character.isWhitespace(c) && !quoted) {
        if (started) {
          words.add(word.toString());
          word.setLength(0);
          started = false;
        }
      } else {
        word.append(c);
        started = true;
      }
    }
    if (started) {
      words.add(word.toString());
    }
    return words;
  }
}
