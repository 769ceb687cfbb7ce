package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.cli.session.CliSession;
import io.osier.datacenter.cli.session.CliShell;
import io.osier.datacenter.cli.session.Grammar;
import io.osier.datacenter.cli.session.NewPasswords;
import io.osier.datacenter.cli.session.Top;
import io.osier.datacenter.cli.session.UserArguments;
import io.osier.datacenter.cli.session.ValueText;
import io.osier.datacenter.cli.session.Watcher;
import io.osier.datacenter.cli.session.Word;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Talks to datacenters from a shell: one command, or many in an interactive session. */
@Command(
    name = "cli",
    mixinStandardHelpOptions = true,
    description = {
      "Reads and updates objects, and shows what a datacenter is doing.",
      "With a command it runs that one; without, it reads commands from the terminal.",
      ""
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:done", "1:failed; the error is one line on standard error", "2:wrong usage"})
public final class CliCommand implements Callable<Integer> {
  private static final List<String> EXAMPLES =
      List.of(
          "",
          "Examples:",
          "  osier cli --connect localhost:7400 --keyspace shop counter incr likes:42 3",
          "  osier cli --connect eu=localhost:7400,us=localhost:7410 --keyspace shop",
          "  osier cli --connect localhost:7400 hot 10");

  private CommandSpec spec;

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
  private @Nullable String keyspace;

  @Option(names = "--json", description = "print JSON instead of text")
  private boolean json;

  @Option(names = "--once", description = "top: print one picture, of a second, and end")
  private boolean once;

  @Option(
      names = "--timeout",
      defaultValue = "10",
      paramLabel = "SECONDS",
      description = "how long a command may take (default: ${DEFAULT-VALUE})")
  private int timeoutSeconds;

  @Mixin private TlsArguments tls;

  @Mixin private UserArguments user;

  @Mixin private NewPasswords newPasswords;

  @Parameters(paramLabel = "COMMAND", description = "the command and its arguments")
  private @Nullable List<String> words;

  /** For picocli. */
  public CliCommand() {}

  /**
   * Completes what annotations cannot say. Called by picocli.
   *
   * @param ofThis the command's own specification
   */
  @Spec
  void specify(CommandSpec ofThis) {
    spec = ofThis;
    List<String> footer = new ArrayList<>(List.of("", "Commands:"));
    Grammar.HELP.forEach(line -> footer.add(line.isEmpty() ? "" : "  " + line));
    footer.addAll(EXAMPLES);
    spec.usageMessage().footer(footer.toArray(String[]::new));
    spec.parser().unmatchedOptionsArePositionalParams(true); // -3 is an amount
  }

  @Override
  public Integer call() throws IOException {
    checkOptions();
    OsierClient connected;
    try {
      connected = connect();
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    }
    try (OsierClient client = connected) {
      CliSession cli =
          new CliSession(
              client, client.session(), Optional.ofNullable(keyspace), json, newPasswords);
      try {
        client.awaitConnected(Duration.ofSeconds(timeoutSeconds));
        if (words == null || words.isEmpty()) {
          return CliShell.run(client, cli);
        }
        if (words.equals(List.of("top"))) {
          return top(new Top(client));
        }
        if (words.getFirst().equals("watch")) {
          return new Watcher(cli.chosen(), json, System.out).run(words);
        }
        if (List.of("begin", "commit", "abort", "use").contains(words.getFirst())) {
          throw new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              "'"
                  + words.getFirst()
                  + "' is for several commands: use the interactive mode, or write them, a line"
                  + " each, to standard input");
        }
        System.out.println(cli.run(words.stream().map(Word::ofArgument).toList()));
        return 0;
      } catch (OsierException e) {
        System.err.println(cli.error(e));
        return 1;
      }
    }
  }

  private int top(Top top) throws IOException {
    if (once || json) {
      System.out.println(ValueText.harmless(top.once(json)));
    } else {
      top.run();
    }
    return 0;
  }

  /** Amounts may be negative, but a word with a letter behind its dash is a mistyped option. */
  private void checkOptions() {
    List<String> given = spec.commandLine().getParseResult().originalArgs();
    if (words != null && !given.contains("--")) {
      for (String word : words) {
        if (word.matches("--?\\p{Alpha}.*") && !Grammar.isOption(words, word)) {
          throw new ParameterException(
              spec.commandLine(),
              "Unknown option: '"
                  + word
                  + "' (a word of the command that begins so comes after --)");
        }
      }
    }
  }

  private OsierClient connect() {
    if (timeoutSeconds < 1) {
      throw new ParameterException(spec.commandLine(), "--timeout must be at least 1 second");
    }
    OsierClient.Builder builder =
        OsierClient.builder().name("osier cli").timeout(Duration.ofSeconds(timeoutSeconds));
    Set<String> names = new HashSet<>();
    for (String endpoint : connect.split(",", -1)) {
      int equals = endpoint.indexOf('=');
      String name = equals > 0 ? endpoint.substring(0, equals).strip() : "dc" + (names.size() + 1);
      if (!names.add(name)) {
        throw new ParameterException(spec.commandLine(), "--connect names " + name + " twice");
      }
      try {
        builder.endpoint(name, endpoint.substring(equals + 1));
      } catch (IllegalArgumentException | OsierException e) {
        throw new ParameterException(spec.commandLine(), "--connect: " + e.getMessage());
      }
    }
    try {
      tls.applyTo(builder);
      user.applyTo(builder);
    } catch (OsierException e) {
      if (e.code() == ErrorCode.CONFIGURATION) {
        throw e; // a file, which the usage does not help to mend
      }
      throw new ParameterException(spec.commandLine(), e.reason());
    }
    try {
      return builder.build();
    } catch (OsierException e) {
      if (e.code() == ErrorCode.CONFIGURATION) {
        throw e; // a file, which the usage does not help to mend
      }
      throw new ParameterException(spec.commandLine(), "--connect: " + e.reason());
    }
  }
}
