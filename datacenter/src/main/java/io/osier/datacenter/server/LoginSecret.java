package io.osier.datacenter.server;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.access.DecoyCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Optional;

/**
 * The secret from which the challenges of unknown users are made. It is drawn once and kept beside
 * the store, so that these challenges stay the same after a restart.
 */
final class LoginSecret {
  private static final String FILE = "login.secret";

  private LoginSecret() {}

  /**
   * Reads the secret, or draws and writes it.
   *
   * @param dir the directory where it is kept; empty to draw another one at each start
   * @throws OsierException CONFIGURATION if the file cannot be read or written
   */
  static byte[] of(Optional<Path> dir) {
    byte[] drawn = new byte[DecoyCredentials.SECRET_BYTES];
    new SecureRandom().nextBytes(drawn);
    if (dir.isEmpty()) {
      return drawn;
    }
    Path file = dir.get().resolve(FILE);
    try {
      if (Files.exists(file)) {
        byte[] kept = Files.readAllBytes(file);
        if (kept.length == DecoyCredentials.SECRET_BYTES) {
          return kept;
        }
      }
      write(file, drawn);
      return drawn;
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, file + " cannot be read or written (" + e.getMessage() + ")", e);
    }
  }

  private static void write(Path file, byte[] secret) throws IOException {
    Files.deleteIfExists(file);
    try {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    } catch (UnsupportedOperationException e) {
      Files.createFile(file); // the file system has no such permissions
    }
    Files.write(file, secret, StandardOpenOption.WRITE);
  }
}
