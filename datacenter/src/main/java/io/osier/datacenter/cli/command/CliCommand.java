package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.cli.session.CliSession;
import io.osier.datacenter.cli.session.CliShell;
import io.osier.datacenter.cli.session.CommandRunner;
import io.osier.datacenter.cli.session.Grammar;
import io.osier.datacenter.cli.session.NewPasswords;
import io.osier.datacenter.words.Word;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs {@code osier cli}: one command, or many in a session. */
@Command(
    name = "cli",
    mixinStandardHelpOptions = true,
    description = {
      "Reads and updates objects, and shows what a datacenter is doing. Without a command it reads"
          + " commands from the terminal, or from standard input, one a line.",
      ""
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:done", "1:failed; the error is one line on standard error", "2:wrong usage"},
    footer = {
      "",
      "Examples:",
      "  osier cli help",
      "  osier cli --keyspace shop counter incr likes:42 3",
      "  osier cli --connect eu=localhost:7400,us=localhost:7410 top",
      "",
      "'osier cli help' names all commands, 'osier cli help WORD' those with a word."
    })
public final class CliCommand implements Callable<Integer> {
  private static final int WRONG_USAGE = 2;

  /** The commands that give a user a password. */
  private static final String PASSWORDS = "(?s)user (create|passwd)\\b.*";

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--connect",
      paramLabel = "[NAME=]HOST:PORT[,...]",
      description = "the datacenters' client addresses (default: 127.0.0.1:7400)")
  private String connect = "127.0.0.1:7400";

  @Option(
      names = "--keyspace",
      paramLabel = "NAME",
      description = "the keyspace (default: the only one, if there is one)")
  private @Nullable String keyspace;

  @Option(names = "--json", description = "print JSON instead of text")
  private boolean json;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "the time limit of a command (default: 10)")
  private int timeoutSeconds = 10;

  @Mixin private TlsArguments tls = new TlsArguments();

  @Mixin private UserArguments user = new UserArguments();

  @Mixin private NewPasswords newPasswords = new NewPasswords();

  @Parameters(paramLabel = "COMMAND", description = "the command and its arguments")
  private @Nullable List<String> words;

  /**
   * Parses the usual arguments without picocli, whose classes the start cache cannot hold: parsing
   * with it takes as much processor time as all the rest of a call.
   *
   * @return empty if picocli must parse them: for rarer options, mistakes and --help
   */
  public static Optional<CliCommand> plain(List<String> arguments) {
    CliCommand command = new CliCommand();
    List<String> words = new ArrayList<>();
    Set<String> given = new HashSet<>();
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (!isLikeAnOption(argument) || Grammar.isOption(words, argument)) {
        words.add(argument);
        continue;
      }
      int equals = argument.indexOf('=');
      String name = equals < 0 ? argument : argument.substring(0, equals);
      if (!given.add(name)) {
        return Optional.empty();
      }
      if (name.equals("--json") && equals < 0) {
        command.json = true;
      } else if (equals < 0 && i + 1 == arguments.size()) {
        return Optional.empty();
      } else if (!command.set(
          name, equals < 0 ? arguments.get(++i) : argument.substring(equals + 1))) {
        return Optional.empty();
      }
    }
    command.words = words.isEmpty() ? null : words;
    return Optional.of(command);
  }

  private boolean set(String option, String value) {
    if (value.startsWith("-") || value.isEmpty()) {
      return false;
    }
    switch (option) {
      case "--connect" -> connect = value;
      case "--keyspace" -> keyspace = value;
      case "--timeout" -> {
        if (!value.matches("[0-9]{1,6}")) {
          return false;
        }
        timeoutSeconds = Integer.parseInt(value);
      }
      case "--authorities" -> tls = new TlsArguments(Path.of(value));
      case "--user" -> user.setUser(value);
      case "--password-file" -> user.setPasswordFile(Path.of(value));
      default -> {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns whether a word is an option, perhaps mistyped: a dash and a letter; amounts may be
   * negative.
   */
  private static boolean isLikeAnOption(String word) {
    return word.matches("--?\\p{Alpha}.*") || word.equals("--");
  }

  /** Sets what annotations cannot express. Called by picocli. */
  @Spec
  void specify(CommandSpec ofThis) {
    ofThis.parser().unmatchedOptionsArePositionalParams(true); // -3 is an amount
  }

  @Override
  public Integer call() {
    try {
      return run();
    } catch (WrongUsage e) {
      Consumer<String> err =
          spec == null ? System.err::println : spec.commandLine().getErr()::println;
      err.accept("error: " + e.getMessage());
      err.accept("see: osier cli --help");
      return WRONG_USAGE;
    } catch (OsierException e) {
      System.err.println(CliSession.error(e, json));
      return 1;
    } catch (IOException e) {
      System.err.println("error: the terminal or standard input cannot be read: " + e.getMessage());
      return 1;
    }
  }

  private int run() throws IOException {
    checkOptions();
    List<Word> command = words == null ? List.of() : words.stream().map(Word::ofArgument).toList();
    if (!command.isEmpty() && Grammar.parse(command) instanceof Grammar.Help help) {
      System.out.println(help.text()); // needs no datacenter
      return 0;
    }
    try (OsierClient client = connect()) {
      CliSession cli =
          new CliSession(
              client, client.session(), Optional.ofNullable(keyspace), json, newPasswords);
      client.awaitConnected(Duration.ofSeconds(timeoutSeconds));
      CommandRunner runner = new CommandRunner(client, cli, System.out);
      if (command.isEmpty()) {
        return CliShell.run(client, cli, runner);
      }
      runner.runAlone(command);
      return 0;
    }
  }

  private void checkOptions() {
    if (timeoutSeconds < 1) {
      throw new WrongUsage("--timeout must be at least 1 second");
    }
    if (newPasswords.areGiven() && words != null && !String.join(" ", words).matches(PASSWORDS)) {
      throw new WrongUsage(
          "--new-password-file and --no-password are for user create and user passwd");
    }
    if (words != null
        && (spec == null || !spec.commandLine().getParseResult().originalArgs().contains("--"))) {
      for (int i = 0; i < words.size(); i++) {
        String word = words.get(i);
        if (isLikeAnOption(word) && !Grammar.isOption(words.subList(0, i), word)) {
          throw new WrongUsage(
              "Unknown option: '"
                  + word
                  + "' (a word of the command that begins so comes after --)");
        }
      }
    }
  }

  /**
   * Returns the pause between two signs of life that are asked for. After four of them without one
   * a connection is lost, and perhaps the outcome of its command; so who waits longer for a command
   * than by default waits longer for that, too.
   */
  static Duration pause(int timeoutSeconds) {
    return Duration.ofMillis(Math.max(500, timeoutSeconds * 50L));
  }

  private OsierClient connect() {
    OsierClient.Builder builder =
        OsierClient.builder()
            .name("osier cli")
            .timeout(Duration.ofSeconds(timeoutSeconds))
            .pingInterval(pause(timeoutSeconds));
    Set<String> names = new HashSet<>();
    for (String endpoint : connect.split(",", -1)) {
      int equals = endpoint.indexOf('=');
      String name = equals > 0 ? endpoint.substring(0, equals).strip() : "dc" + (names.size() + 1);
      if (!names.add(name)) {
        throw new WrongUsage("--connect names " + name + " twice");
      }
      try {
        builder.endpoint(name, endpoint.substring(equals + 1));
      } catch (OsierException e) {
        throw new WrongUsage("--connect: " + e.reason());
      } catch (IllegalArgumentException e) {
        throw new WrongUsage("--connect: " + e.getMessage());
      }
    }
    return usage(
        "",
        () -> {
          tls.applyTo(builder);
          user.applyTo(builder);
          return usage("--connect: ", builder::build);
        });
  }

  /**
   * Turns errors of arguments into usage errors; an unreadable file is none, as the usage would not
   * help.
   */
  private static <T> T usage(String before, Supplier<T> step) {
    try {
      return step.get();
    } catch (OsierException e) {
      if (e.code() == ErrorCode.CONFIGURATION) {
        throw e;
      }
      throw new WrongUsage(before + e.reason());
    }
  }

  private static final class WrongUsage extends RuntimeException {
    private static final long serialVersionUID = 1;

    WrongUsage(String message) {
      super(message);
    }
  }
}
