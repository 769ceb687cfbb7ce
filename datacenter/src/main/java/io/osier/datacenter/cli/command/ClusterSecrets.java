package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.tls.PasswordFile;
import io.osier.core.tls.TlsName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The directory with a cluster's authority, the certificates that it has signed, and the first
 * user's password. {@code osier init} uses the existing files, and makes the missing ones.
 */
final class ClusterSecrets {
  private static final int AUTHORITY_DAYS = 3_650;
  private static final int CERTIFICATE_DAYS = 365;
  private static final int PASSWORD_BYTES = 18;

  private final Path dir;
  private final List<Path> made = new ArrayList<>();

  ClusterSecrets(Path dir) {
    this.dir = dir;
  }

  Path authority() {
    return dir.resolve("authority.pem");
  }

  Path certificate(String dc) {
    return dir.resolve(dc + ".pem");
  }

  Path key(String dc) {
    return dir.resolve(dc + ".key");
  }

  Path passwordFile(String user) {
    return dir.resolve(user + ".password");
  }

  List<Path> made() {
    return List.copyOf(made);
  }

  /**
   * Makes a datacenter's certificate, and the authority, unless they exist.
   *
   * @param joins whether the cluster exists already, so that it has an authority
   * @return whether the certificate was made; otherwise it existed
   * @throws OsierException CONFIGURATION if the authority is missing and the cluster exists, or a
   *     file cannot be made
   */
  boolean certify(String dc, String cluster, List<String> hosts, boolean joins) {
    if (Files.exists(certificate(dc)) && Files.exists(key(dc)) && Files.exists(authority())) {
      return false;
    }
    if (!Files.exists(authority())) {
      if (joins) {
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            "there is no authority in "
                + dir
                + "; copy the cluster's authority.pem into it, and authority.key or what it has"
                + " signed: "
                + certificate(dc).getFileName()
                + " and "
                + key(dc).getFileName());
      }
      made.addAll(CertificateMaker.authority(dir, cluster, AUTHORITY_DAYS));
    }
    made.addAll(
        CertificateMaker.signed(
            dir, dc, TlsName.ofDatacenter(cluster, dc), hosts, CERTIFICATE_DAYS));
    return true;
  }

  /**
   * Reads a user's password, or draws it and writes it to its file.
   *
   * @throws OsierException CONFIGURATION if its file cannot be read or written
   */
  char[] password(String user) {
    Path file = passwordFile(user);
    if (Files.exists(file)) {
      return PasswordFile.read(file, problem -> problem);
    }
    String password = CertificateMaker.drawn(PASSWORD_BYTES);
    try {
      Files.createDirectories(dir);
      CertificateMaker.writeSecret(file, password + '\n');
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, file + " cannot be written: " + e.getMessage(), e);
    }
    made.add(file);
    return password.toCharArray();
  }
}
