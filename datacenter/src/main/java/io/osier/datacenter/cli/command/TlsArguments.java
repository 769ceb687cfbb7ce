package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TlsOptions;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The TLS options of a command that connects to a datacenter. */
public final class TlsArguments {
  @Option(names = "--tls", description = "speak TLS; trusts the authorities that Java trusts")
  private boolean tls;

  @Option(
      names = "--authorities",
      paramLabel = "FILE",
      description = "speak TLS; trusts the authorities in this PEM file and no others")
  private @Nullable Path authorities;

  @Option(
      names = "--certificate",
      paramLabel = "FILE",
      description = "speak TLS; shows this certificate (PEM), with --key")
  private @Nullable Path certificate;

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "the certificate's key (PEM, PKCS #8)")
  private @Nullable Path key;

  @Option(names = "--any-host", description = "accept a trusted certificate whatever host it names")
  private boolean anyHost;

  /** For picocli, or for no options. */
  public TlsArguments() {}

  TlsArguments(Path authorities) {
    this.authorities = authorities;
  }

  /**
   * Sets the options in a client's builder; throws INVALID_ARGUMENT if one of two that belong
   * together is missing.
   */
  void applyTo(OsierClient.Builder builder) {
    if ((certificate == null) != (key == null)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "--certificate and --key belong together; one is missing");
    }
    if (!tls && authorities == null && certificate == null) {
      if (anyHost) {
        throw new OsierException(ErrorCode.INVALID_ARGUMENT, "--any-host is for TLS; add --tls");
      }
      return;
    }
    TlsOptions options = TlsOptions.DEFAULT;
    if (authorities != null) {
      options = options.authorities(authorities);
    }
    if (certificate != null && key != null) {
      options = options.certificate(certificate, key);
    }
    builder.tls(anyHost ? options.anyHost() : options);
  }
}
