package io.osier.datacenter.config;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.core.tls.PasswordFile;
import io.osier.datacenter.access.User;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

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
    char[] password = PasswordFile.read(file, problem -> "osier.users." + name + ": " + problem);
    try {
      return ScramCredential.of(password, salt, ScramCredential.ITERATIONS);
    } catch (OsierException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, "osier.users." + name + ": " + file + ": " + e.reason());
    } finally {
      Arrays.fill(password, '\0');
    }
  }
}
