package io.osier.datacenter.cli.command;

import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Prints the credential of a password, which a datacenter keeps in its place. */
@Command(
    name = "credential",
    mixinStandardHelpOptions = true,
    description =
        "Asks for a password, and prints what a datacenter keeps of it: a line for "
            + "osier.users.NAME.credential. The password cannot be found out from it, but by "
            + "guessing.")
public final class CredentialCommand implements Callable<Integer> {
  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description = "the password is the first line of this file")
  private @Nullable Path passwordFile;

  @Override
  public Integer call() {
    try {
      char[] password = UserArguments.password("password: ", Optional.ofNullable(passwordFile));
      System.out.println(make(password).line());
      Arrays.fill(password, '\0');
      return 0;
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    }
  }

  /** Makes the credential of a password, with a random salt. */
  static ScramCredential make(char[] password) {
    byte[] salt = new byte[ScramCredential.SALT_BYTES];
    new SecureRandom().nextBytes(salt);
    return ScramCredential.of(password, salt, ScramCredential.ITERATIONS);
  }
}
