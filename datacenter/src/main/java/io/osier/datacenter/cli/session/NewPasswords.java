package io.osier.datacenter.cli.session;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.tls.PasswordFile;
import java.io.Console;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Gets new passwords for users, from the terminal or a file, never from a command's argument. */
public final class NewPasswords {
  /** Asks for each password at the terminal, twice. */
  static final NewPasswords ASKED_FOR = new NewPasswords();

  @Option(
      names = "--new-password-file",
      paramLabel = "FILE",
      description = "user create, user passwd: the password is the first line of this file")
  private @Nullable Path file;

  @Option(
      names = "--no-password",
      description =
          "user create: no password, for a user with a certificate, and for the user default")
  private boolean none;

  public boolean areGiven() {
    return file != null || none;
  }

  /**
   * Gets the new password for a user; empty if it is to have none.
   *
   * @throws OsierException INVALID_ARGUMENT if no password can be asked for, or the options do not
   *     fit together; CONFIGURATION if the file cannot be read
   */
  Optional<char[]> of(String user) {
    if (file != null && (none || user.equals("default"))) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          none
              ? "--no-password does not go with --new-password-file"
              : "the user 'default' has no password: leave --new-password-file out");
    }
    if (none || user.equals("default")) {
      return Optional.empty();
    }
    if (file != null) {
      return Optional.of(PasswordFile.read(file, problem -> "--new-password-file: " + problem));
    }
    char[] first = typed("new password of " + user + ": ");
    char[] second = typed("once more: ");
    boolean same = Arrays.equals(first, second);
    Arrays.fill(second, '\0');
    if (!same) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "the two passwords differ; the user was not changed");
    }
    return Optional.of(first);
  }

  private static char[] typed(String prompt) {
    return typed(prompt, "--new-password-file");
  }

  /**
   * Reads a password at the terminal, without showing it.
   *
   * @param instead the option to use without a terminal, for the error
   * @throws OsierException INVALID_ARGUMENT if there is no terminal
   */
  @SuppressWarnings("SystemConsoleNull") // it is null with Java 21
  public static char[] typed(String prompt, String instead) {
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
