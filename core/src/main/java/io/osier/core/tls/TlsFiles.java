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
 * Where the certificates and keys of one end of a connection are: files in PEM form.
 *
 * @param own what this end shows of itself; empty for nothing
 * @param authorities certificates of the authorities whose word is taken for the other end; empty
 *     for those that the Java runtime knows
 */
public record TlsFiles(Optional<Own> own, Optional<Path> authorities) {
  /**
   * An end's own certificate.
   *
   * @param certificate the certificate, and behind it those that lead to an authority's
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
   * By what a change of the files is noticed. Links are followed: container platforms replace a
   * whole directory by turning a link.
   *
   * @throws OsierException CONFIGURATION if a file is not there or cannot be read
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
