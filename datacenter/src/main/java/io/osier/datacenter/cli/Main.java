package io.osier.datacenter.cli;

import io.osier.datacenter.server.Build;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The distribution's program: {@code osier COMMAND}. */
@Command(
    name = "osier",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = "A geo-replicated store of CRDTs that ships operations or states, per object.",
    subcommands = {
      ServerCommand.class,
      CliCommand.class,
      BackupCommand.class,
      RestoreCommand.class,
      RebuildCommand.class,
      VerifyCommand.class,
      CertCommand.class,
      CredentialCommand.class,
      TrainCommand.class,
      CommandLine.HelpCommand.class
    })
public final class Main {
  private static final String LOGGING = "logback.configurationFile";

  private Main() {}

  /** Runs a command and exits with its code. */
  public static void main(String[] args) {
    System.exit(run(commandLine(), args));
  }

  /** What production needs; a program that has more adds its own commands. */
  public static CommandLine commandLine() {
    return new CommandLine(new Main());
  }

  /**
   * Runs a command.
   *
   * @return the process's exit code
   */
  public static int run(CommandLine commands, String... args) {
    if (System.getProperty(LOGGING) == null) {
      // Not logback.xml at the top of the class path: that would also be the setting of whoever
      // embeds a datacenter.
      System.setProperty(LOGGING, "io/osier/datacenter/cli/logging.xml");
    }
    return commands
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(Main::wrongUsage)
        .execute(args);
  }

  /** Two lines: what is wrong, and where to read on. */
  private static int wrongUsage(CommandLine.ParameterException e, String... args) {
    CommandLine command = e.getCommandLine();
    String message = String.valueOf(e.getMessage()).strip().replaceAll("\\s*\\R\\s*", " ");
    if (e instanceof CommandLine.UnmatchedArgumentException unmatched) {
      List<String> similar = unmatched.getSuggestions();
      message += similar.isEmpty() ? "" : "; did you mean " + String.join(" or ", similar) + "?";
    }
    command.getErr().println("error: " + message);
    command.getErr().println("see: " + command.getCommandSpec().qualifiedName() + " --help");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** What {@code --version} prints. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {
        "osier " + Build.ofThisProgram(),
        "Java ${java.version} (${java.vendor}), ${os.name} ${os.arch}"
      };
    }
  }
}
