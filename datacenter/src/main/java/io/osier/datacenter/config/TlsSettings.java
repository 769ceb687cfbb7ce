package io.osier.datacenter.config;

import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsFiles;

/**
 * How a datacenter speaks TLS on its ports.
 *
 * @param files its certificate and key, and the authorities that sign the other datacenters'
 * @param clientCertificates whether clients, also those of the admin port, must show a certificate
 * @param admin whether the admin port speaks it, too
 * @param required whether nothing else is spoken; otherwise either, while a cluster changes over
 */
public record TlsSettings(
    TlsFiles files,
    Certificates clientCertificates,
    boolean admin,
    boolean required,
    TlsContext.Provider provider) {
  /** Whether clients show certificates. */
  public enum Certificates {
    FALSE,
    /** A client that has a certificate shows it. */
    OPTIONAL,
    /** Clients must show one. */
    TRUE
  }
}
