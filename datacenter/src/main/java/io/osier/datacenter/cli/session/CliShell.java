package io.osier.datacenter.cli.session;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.words.Word;
import io.osier.proxy.OsierClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jspecify.annotations.Nullable;

/** Runs many commands: typed at a terminal, or read as lines from a file or a pipe. */
public final class CliShell {
  /** The file of the command history, in the home directory. */
  private static final String HISTORY = ".osier_history";

  /**
   * The launcher's property that says that standard input is no terminal: looking for one loads a
   * large library.
   */
  private static final String PIPED = "osier.piped";

  private CliShell() {}

  /**
   * Runs commands until the input ends.
   *
   * @return the exit code: at a terminal 0, otherwise 1 if any command failed
   * @throws OsierException if the input cannot be read, or ends in a program or transaction
   */
  public static int run(OsierClient client, CliSession cli, CommandRunner runner)
      throws IOException {
    if (Boolean.getBoolean(PIPED)) {
      return piped(cli, runner);
    }
    try (Terminal terminal = TerminalBuilder.builder().dumb(true).build()) {
      if (!terminal.getType().startsWith(Terminal.TYPE_DUMB)) {
        return typed(terminal, client, cli);
      }
    }
    return piped(cli, runner);
  }

  private static int typed(Terminal terminal, OsierClient client, CliSession cli)
      throws IOException {
    LineReader reader =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .completer(new CliCompleter(cli))
            .variable(LineReader.HISTORY_FILE, Path.of(System.getProperty("user.home"), HISTORY))
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true) // ! has no special meaning
            .option(LineReader.Option.HISTORY_IGNORE_DUPS, true)
            .build();
    PrintStream out = new PrintStream(terminal.output(), true, terminal.encoding());
    CommandRunner runner = new CommandRunner(client, cli, out);
    terminal.writer().println(connected(client) + "; try help");
    Thread shell = Thread.currentThread();
    terminal.handle(Terminal.Signal.INT, signal -> shell.interrupt()); // ends one command only
    boolean goesOn = true;
    while (goesOn) {
      String line;
      try {
        line = reader.readLine(cli.prompt());
      } catch (UserInterruptException e) {
        continue;
      } catch (EndOfFileException e) {
        return 0;
      }
      try {
        List<Word> words = Word.split(line);
        goesOn = words.isEmpty() || runner.run(words);
      } catch (OsierException e) {
        terminal.writer().println(cli.answers().error(e));
      } finally {
        Thread.interrupted();
      }
      terminal.flush();
    }
    return 0;
  }

  private static String connected(OsierClient client) {
    return client.status().stream()
        .filter(OsierClient.Status::connected)
        .map(s -> s.name() + " (" + s.address() + ")")
        .collect(Collectors.joining(", ", "connected to ", ""));
  }

  /**
   * Runs commands from a pipe; after a failed command the following ones are run, as at a terminal.
   */
  private static int piped(CliSession cli, CommandRunner runner) throws IOException {
    BufferedReader lines =
        new BufferedReader( // a decoder, to refuse text that is not UTF-8
            new InputStreamReader(System.in, StandardCharsets.UTF_8.newDecoder()));
    int code = 0;
    int number = 0;
    boolean goesOn = true;
    for (String line = next(lines); goesOn && line != null; line = goesOn ? next(lines) : null) {
      number++;
      try {
        List<Word> words = Word.split(line);
        goesOn = words.isEmpty() || runner.run(words);
      } catch (OsierException e) {
        code = 1;
        System.err.println(cli.answers().error(e, number, line));
      }
    }
    cli.checkNothingBegun();
    return cli.hasFailed() ? 1 : code;
  }

  private static @Nullable String next(BufferedReader lines) throws IOException {
    try {
      return lines.readLine();
    } catch (CharacterCodingException e) {
      throw new OsierException(ErrorCode.INVALID_ARGUMENT, "standard input is not UTF-8", e);
    }
  }
}
