package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.OsierException;
import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsFiles;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How a client speaks TLS 1.3 with datacenters. Immutable. The files are read when the client is
 * built, and again before it connects anew, if they have changed.
 *
 * @param files the certificates and keys
 * @param hostChecked whether a datacenter's certificate must name the host that was dialled
 */
public record TlsOptions(TlsFiles files, boolean hostChecked) {
  /** Trusts the authorities that the Java runtime trusts; shows no certificate; checks the host. */
  public static final TlsOptions DEFAULT =
      new TlsOptions(new TlsFiles(Optional.empty(), Optional.empty()), true);

  /**
   * Trusts the authorities of a file, and no others.
   *
   * @param pem their certificates
   */
  public TlsOptions authorities(Path pem) {
    return new TlsOptions(
        new TlsFiles(files.own(), Optional.of(present(pem, "the authorities' file"))), hostChecked);
  }

  /**
   * Shows a certificate, where a datacenter asks for one.
   *
   * @param certificate in PEM form, with those that lead to an authority's behind it
   * @param key its private key in PEM form: PKCS #8, not encrypted
   */
  public TlsOptions certificate(Path certificate, Path key) {
    TlsFiles.Own own =
        new TlsFiles.Own(present(certificate, "a certificate"), present(key, "its key"));
    return new TlsOptions(new TlsFiles(Optional.of(own), files.authorities()), hostChecked);
  }

  /**
   * Accepts a certificate whatever host it names, if a trusted authority has signed it: for
   * authorities that sign for datacenters only, reached through tunnels and proxies.
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
