package io.osier.datacenter.cli.session;

import io.osier.core.OsierException;
import io.osier.datacenter.words.Word;
import io.osier.datacenter.words.Words;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/**
 * Runs commands from arguments, a pipe or a terminal, and prints their answers. Not thread-safe.
 */
public final class CommandRunner {
  private final OsierClient client;
  private final CliSession cli;
  private final PrintStream out;

  public CommandRunner(OsierClient client, CliSession cli, PrintStream out) {
    this.client = client;
    this.cli = cli;
    this.out = out;
  }

  /**
   * Runs a command.
   *
   * @return whether to go on with further commands
   * @throws OsierException if the command is malformed or fails
   */
  public boolean run(List<Word> words) throws IOException {
    switch (Grammar.parse(words)) {
      case Grammar.Help help -> out.println(help.text());
      case Grammar.Exit exit -> {
        return false;
      }
      case Grammar.Watch watch ->
          new Watcher(cli.keyspace(), cli.answers().asJson(), out).run(watch);
      case Grammar.Top top -> top(top);
      case Grammar.Action action -> {
        String answer = cli.answer(action);
        if (!answer.isEmpty()) { // empty for an empty set printed by lines
          out.println(answer);
        }
      }
    }
    return true;
  }

  /**
   * Runs the only command of a session.
   *
   * @throws OsierException also if the command only affects later ones
   */
  public void runAlone(List<Word> words) throws IOException {
    Grammar.Command command = Grammar.parse(words);
    if (command instanceof Grammar.Transact
        || command instanceof Grammar.Program
        || (command instanceof Grammar.Use use && use.keyspace().isPresent())) {
      throw Words.bad(
          "'"
              + words.getFirst().text()
              + "' is for several commands: use the interactive mode, or write them, a line each,"
              + " to standard input");
    }
    run(words);
  }

  private void top(Grammar.Top how) throws IOException {
    Top top = new Top(client);
    if (how.once() || cli.answers().asJson()) {
      out.println(ValueText.harmless(top.once(cli.answers().asJson())));
    } else {
      top.run();
    }
  }
}
