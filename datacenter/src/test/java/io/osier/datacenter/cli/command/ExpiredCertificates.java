package io.osier.datacenter.cli.command;

import java.nio.file.Path;
import java.util.List;

/** Certificates that were valid once, which {@code osier cert} does not make. */
public final class ExpiredCertificates {
  private ExpiredCertificates() {}

  /** As {@link CertificateMaker#signed}; valid for a day, ten days ago. */
  public static void signed(Path dir, String name, String uri, List<String> hosts) {
    CertificateMaker.signed(dir, name, uri, hosts, 1, "-10d");
  }
}
