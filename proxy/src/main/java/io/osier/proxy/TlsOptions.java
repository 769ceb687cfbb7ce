package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.OsierException;
import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsFiles;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How a client speaks TLS 1.3 with datacenters. Immutable. The files are read when the client is
 * built, and again before each new connection if they have changed.
 *
 * @param files the certificates and keys
 * @param hostChecked whether a datacenter's certificate must name the dialled host
 */
public record TlsOptions(TlsFiles files, boolean hostChecked) {
  /** Trusts the Java runtime's authorities, presents no certificate, checks the host. */
  public static final TlsOptions DEFAULT =
      new TlsOptions(new TlsFiles(Optional.empty(), Optional.empty()), true);

  /**
   * Returns these options, trusting only the authorities of a file.
   *
   * @param pem the authorities' certificates, in PEM form
   */
  public TlsOptions authorities(Path pem) {
    return new TlsOptions(
        new TlsFiles(files.own(), Optional.of(present(pem, "the authorities' file"))), hostChecked);
  }

  /**
   * Returns these options with a certificate that the client presents if a datacenter asks for one.
   *
   * @param certificate the certificate in PEM form, followed by its chain up to an authority
   * @param key its private key in PEM form: PKCS #8, not encrypted
   */
  public TlsOptions certificate(Path certificate, Path key) {
    TlsFiles.Own own =
        new TlsFiles.Own(present(certificate, "a certificate"), present(key, "its key"));
    return new TlsOptions(new TlsFiles(Optional.of(own), files.authorities()), hostChecked);
  }

  /**
   * Returns these options without the check of the host: accepts each certificate that a trusted
   * authority has signed. For authorities that only sign for datacenters, where these are reached
   * through tunnels and proxies.
   */
  public TlsOptions anyHost() {
    return new TlsOptions(files, false);
  }

  /**
   * Reads the files.
   *
   * @throws OsierException CONFIGURATION if one cannot be used
   */
  TlsContext context() {
    TlsContext.Trust trust = hostChecked ? TlsContext.Trust.HOST : TlsContext.Trust.AUTHORITY;
    return new TlsContext(files, trust, TlsContext.Provider.JDK, true);
  }
}
