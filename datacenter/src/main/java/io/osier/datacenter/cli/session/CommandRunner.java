package io.osier.datacenter.cli.session;

import io.osier.core.OsierException;
import io.osier.datacenter.words.Word;
import io.osier.datacenter.words.Words;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/**
 * Runs commands and prints what they answer, be they arguments, lines of a pipe or typed. Not
 * thread-safe.
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
   * @return whether more are to follow
   * @throws OsierException if it cannot be understood or fails
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
        if (!answer.isEmpty()) { // a set without elements, an element a line
          out.println(answer);
        }
      }
    }
    return true;
  }

  /**
   * Runs the only command of a session.
   *
   * @throws OsierException also if it is one that has a meaning only for those that follow it
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
