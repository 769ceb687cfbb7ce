package io.osier.datacenter.cli;

import io.osier.datacenter.cli.command.BackupCommand;
import io.osier.datacenter.cli.command.CertCommand;
import io.osier.datacenter.cli.command.CliCommand;
import io.osier.datacenter.cli.command.CredentialCommand;
import io.osier.datacenter.cli.command.InitCommand;
import io.osier.datacenter.cli.command.QuietLogs;
import io.osier.datacenter.cli.command.RebuildCommand;
import io.osier.datacenter.cli.command.RestoreCommand;
import io.osier.datacenter.cli.command.ServerCommand;
import io.osier.datacenter.cli.command.TrainCommand;
import io.osier.datacenter.cli.command.VerifyCommand;
import io.osier.datacenter.server.Build;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** The distribution's program: {@code osier COMMAND}. */
@Command(
    name = Main.PROGRAM,
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = "A geo-replicated store of CRDTs that ships operations or states, per object.",
    subcommands = {
      ServerCommand.class,
      InitCommand.class,
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
  static final String PROGRAM = "osier";

  /** Commands that print what there is to say, and log only if OSIER_LOG says what. */
  private static final List<String> QUIET = List.of("cli", "backup", "cert", "credential", "init");

  private static final String LOGGING = "logback.configurationFile";

  private Main() {}

  public static void main(String[] args) throws InterruptedException {
    System.exit(run(List.of(), args));
  }

  /**
   * What production needs, and the commands of a program that has more. If the first argument is a
   * command's name, it is that command alone: describing them all took a third of a start's
   * processor time.
   */
  public static CommandLine commandLine(List<Class<?>> further, String... args) {
    if (args.length > 0) {
      List<Class<?>> all = new ArrayList<>(further);
      all.addAll(List.of(Main.class.getAnnotation(Command.class).subcommands()));
      for (Class<?> command : all) {
        if (command.getAnnotation(Command.class).name().equals(args[0])
            && command != CommandLine.HelpCommand.class) {
          return new CommandLine(CommandSpec.create().name(PROGRAM)).addSubcommand(command);
        }
      }
    }
    CommandLine commands = new CommandLine(new Main());
    further.forEach(commands::addSubcommand);
    return commands;
  }

  /**
   * @param further commands beside those of production
   * @return the process's exit code
   */
  public static int run(List<Class<?>> further, String... args) throws InterruptedException {
    if (System.getProperty(LOGGING) == null) {
      // Not logback.xml at the top of the class path: that would also be the setting of whoever
      // embeds a datacenter.
      System.setProperty(LOGGING, "io/osier/datacenter/cli/logging.xml");
    }
    if (args.length > 0 && QUIET.contains(args[0]) && System.getenv("OSIER_LOG") == null) {
      QuietLogs.install();
    }
    if (isPlainServer(args)) {
      return new ServerCommand(new File(args[2]), System.getenv()).call();
    }
    if (args.length > 0 && args[0].equals("cli")) {
      Optional<CliCommand> plain = CliCommand.plain(List.of(args).subList(1, args.length));
      if (plain.isPresent()) {
        return plain.get().call();
      }
    }
    return execute(commandLine(further, args), args);
  }

  /** What nearly every server is started with: parsing it took a fifth of a start. */
  private static boolean isPlainServer(String... args) {
    return args.length == 3
        && args[0].equals("server")
        && args[1].equals("--config")
        && !args[2].startsWith("-");
  }

  /** Runs what arguments ask of commands; wrong ones are two lines; returns the exit code. */
  public static int execute(CommandLine commands, String... args) {
    return commands
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExpandAtFiles(false) // a value may begin so
        .setParameterExceptionHandler(Main::wrongUsage)
        .execute(args);
  }

  /** Two lines: what is wrong, and where to read on. */
  private static int wrongUsage(CommandLine.ParameterException e, String... args) {
    CommandLine command = e.getCommandLine();
    String message =
        String.valueOf(e.getMessage())
            .strip()
            .replaceFirst("^Error: ", "")
            .replaceAll("\\s*\\R\\s*", " ");
    if (e instanceof CommandLine.UnmatchedArgumentException unmatched) {
      List<String> similar = unmatched.getSuggestions();
      message += similar.isEmpty() ? "" : "; did you mean " + String.join(" or ", similar) + "?";
    }
    command.getErr().println("error: " + message);
    command.getErr().println("see: " + command.getCommandSpec().qualifiedName() + " --help");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

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
