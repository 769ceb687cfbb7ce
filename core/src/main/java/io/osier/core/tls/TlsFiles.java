package io.osier.core.tls;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The paths of the certificates and keys of one end of a connection: files in PEM form.
 *
 * @param own the certificate that this end shows; empty for none
 * @param authorities certificates of the authorities that are trusted to sign the other end's;
 *     empty for those that the Java runtime knows
 */
public record TlsFiles(Optional<Own> own, Optional<Path> authorities) {
  /**
   * An end's own certificate.
   *
   * @param certificate the certificate, followed by those that lead to an authority's
   * @param key its private key: PKCS #8, not encrypted
   */
  public record Own(Path certificate, Path key) {
    public Own {
      requireNonNull(certificate, "certificate");
      requireNonNull(key, "key");
    }
  }

  public TlsFiles {
    requireNonNull(own, "own");
    requireNonNull(authorities, "authorities");
  }

  List<Path> all() {
    List<Path> all = new ArrayList<>();
    own.ifPresent(
        o -> {
          all.add(o.certificate());
          all.add(o.key());
        });
    authorities.ifPresent(all::add);
    return all;
  }

  /**
   * Returns a text for each file that changes when the file does. Links are followed: container
   * platforms replace a whole directory by switching a link.
   *
   * @throws OsierException CONFIGURATION if a file does not exist or cannot be read
   */
  List<String> stamp() {
    List<String> stamp = new ArrayList<>();
    for (Path file : all()) {
      try {
        BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
        if (!now.isRegularFile() || !Files.isReadable(file)) {
          throw OsierException.of(
              ErrorCode.CONFIGURATION, file + " cannot be read; it must be a file in PEM form");
        }
        stamp.add(now.lastModifiedTime() + " " + now.size() + " " + now.fileKey());
      } catch (IOException e) {
        throw OsierException.of(
            ErrorCode.CONFIGURATION,
            "there is no " + file + ", or it cannot be looked at (" + e.getMessage() + ")",
            e);
      }
    }
    return stamp;
  }
}
