package io.osier.datacenter.cli.session;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.tls.PasswordFile;
import io.osier.proxy.OsierClient;
import java.io.Console;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * As whom a command logs in. There is no option for the password itself: everybody on the machine
 * sees a command's arguments, and the shell's history keeps them.
 */
public final class UserArguments {
  /** The variable that may hold a password. */
  static final String VARIABLE = "OSIER_PASSWORD";

  @Option(
      names = "--user",
      paramLabel = "NAME",
      description =
          "log in as this user; the password is asked for, unless --password-file or the variable "
              + VARIABLE
              + " has it")
  private @Nullable String user;

  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description = "the user's password is the first line of this file")
  private @Nullable Path passwordFile;

  public void setUser(String name) {
    user = name;
  }

  public void setPasswordFile(Path file) {
    passwordFile = file;
  }

  /**
   * Sets what was given; asks for the password.
   *
   * @throws OsierException INVALID_ARGUMENT if something is missing; CONFIGURATION if the file
   *     cannot be read
   */
  public void applyTo(OsierClient.Builder builder) {
    if (user == null) {
      if (passwordFile != null) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, "--password-file is a user's; add --user");
      }
      return;
    }
    builder.user(user, password("password of " + user + ": ", Optional.ofNullable(passwordFile)));
  }

  /**
   * A password: of the file, the variable, or whoever sits at the terminal.
   *
   * @throws OsierException INVALID_ARGUMENT if there is none; CONFIGURATION if the file cannot be
   *     read
   */
  public static char[] password(String prompt, Optional<Path> file) {
    if (file.isPresent()) {
      return PasswordFile.read(file.get(), problem -> "--password-file: " + problem);
    }
    String variable = System.getenv(VARIABLE);
    return variable != null
        ? variable.toCharArray()
        : typed(prompt, "--password-file or " + VARIABLE);
  }

  public static boolean isGiven() {
    return System.getenv(VARIABLE) != null;
  }

  /**
   * What somebody types at the terminal, unseen.
   *
   * @param instead what to use where there is no terminal
   * @throws OsierException INVALID_ARGUMENT if there is none
   */
  @SuppressWarnings("SystemConsoleNull") // it is, with Java 21
  static char[] typed(String prompt, String instead) {
    Console console = System.console();
    char[] typed = console == null ? null : console.readPassword("%s", prompt);
    if (typed == null) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "there is no terminal to ask for the password: use " + instead);
    }
    return typed;
  }
}
