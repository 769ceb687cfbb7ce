package io.osier.datacenter.config;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.security.User;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A user of the configuration.
 *
 * @param passwordFile whose first line is the password; empty if there is none
 * @param credential what was made of the password; empty if there is none
 */
public record UserSettings(
    String name,
    Optional<Path> passwordFile,
    Optional<ScramCredential> credential,
    List<Grant> grants) {
  /** A file with a password has no more bytes. */
  private static final long FILE_BYTES_MAX = 8 << 10;

  public UserSettings {
    grants = List.copyOf(grants);
  }

  /**
   * The user; reads the file.
   *
   * @param salt the salt for a password from a file
   * @throws OsierException CONFIGURATION if the file cannot be read, or has no password
   */
  public User user(byte[] salt) {
    return new User(name, passwordFile.map(f -> credential(f, salt)).or(this::credential), grants);
  }

  private ScramCredential credential(Path file, byte[] salt) {
    char[] password = password(file, problem -> "osier.users." + name + ": " + problem);
    try {
      return ScramCredential.of(password, salt, ScramCredential.ITERATIONS);
    } catch (OsierException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, "osier.users." + name + ": " + file + ": " + e.getMessage());
    } finally {
      Arrays.fill(password, '\0');
    }
  }

  /**
   * The first line of a file.
   *
   * @param told says where the file was named, around what is wrong
   * @throws OsierException CONFIGURATION
   */
  public static char[] password(Path file, UnaryOperator<String> told) {
    try {
      if (Files.size(file) > FILE_BYTES_MAX) {
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            told.apply(file + " is too large to be a file with a password in its first line"));
      }
      String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
      return text.lines().findFirst().orElse("").toCharArray();
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          told.apply(file + " cannot be read (" + e.getMessage() + ")"),
          e);
    }
  }
}
