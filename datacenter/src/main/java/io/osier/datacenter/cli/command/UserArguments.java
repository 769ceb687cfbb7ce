package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.tls.PasswordFile;
import io.osier.datacenter.cli.session.NewPasswords;
import io.osier.proxy.OsierClient;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options of a command's login. There is no option for the password itself: everybody on the
 * machine can see a command's arguments, and the shell's history keeps them.
 */
public final class UserArguments {
  /** The environment variable that may hold a password. */
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
   * Sets the user in a client's builder, and gets the password.
   *
   * @throws OsierException INVALID_ARGUMENT if an option is missing; CONFIGURATION if the file
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
   * Gets a password from the file, the environment variable or the terminal.
   *
   * @throws OsierException INVALID_ARGUMENT if there is no terminal; CONFIGURATION if the file
   *     cannot be read
   */
  public static char[] password(String prompt, Optional<Path> file) {
    if (file.isPresent()) {
      return PasswordFile.read(file.get(), problem -> "--password-file: " + problem);
    }
    String variable = System.getenv(VARIABLE);
    return variable != null
        ? variable.toCharArray()
        : NewPasswords.typed(prompt, "--password-file or " + VARIABLE);
  }

  public static boolean isGiven() {
    return System.getenv(VARIABLE) != null;
  }
}
