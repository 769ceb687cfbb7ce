package io.osier.core.tls;

import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.PKIXReason;
import java.util.Optional;
import javax.net.ssl.SSLException;

/** Explains errors of TLS in words. */
public final class TlsTrouble {
  private static final String UNTRUSTED =
      "no authority that is trusted here has signed the other end's certificate";
  private static final String ALERT = "Received fatal alert: ";

  private TlsTrouble() {}

  /** Returns what went wrong, in words; empty if it has nothing to do with TLS. */
  public static Optional<String> inWords(Throwable error) {
    boolean tls = false;
    for (Throwable e = error; e != null; e = e.getCause()) {
      switch (e) {
        case NotSslRecordException n -> {
          return Optional.of("the other end does not speak TLS, and this one does");
        }
        case SslHandshakeTimeoutException n -> {
          return Optional.of("the TLS handshake took too long");
        }
        case CertPathBuilderException n -> {
          return Optional.of(UNTRUSTED);
        }
        case CertificateExpiredException n -> {
          return Optional.of("the other end's certificate has expired: " + n.getMessage());
        }
        case CertPathValidatorException n -> {
          tls = true;
          if (n.getReason() == PKIXReason.NO_TRUST_ANCHOR) {
            return Optional.of(UNTRUSTED);
          }
        }
        case CertificateException n -> tls = true;
        case SSLException n -> {
          tls = true;
          String message = String.valueOf(n.getMessage());
          if (message.contains(ALERT)) {
            return Optional.of(alert(message.substring(message.indexOf(ALERT) + ALERT.length())));
          }
        }
        default -> {}
      }
    }
    return tls ? Optional.of("TLS failed: " + last(error)) : Optional.empty();
  }

  private static String alert(String name) {
    return switch (name) {
      case "certificate_required", "bad_certificate" ->
          "the other end requires a certificate of this end: none is configured, or it rejected the"
              + " one that is";
      case "certificate_unknown", "unknown_ca" ->
          "the other end rejected the certificate of this end (its log says why): it does not trust"
              + " the authority that signed it, or the certificate has expired, or it names"
              + " something else";
      case "certificate_expired" ->
          "the other end says that the certificate of this end has expired";
      case "protocol_version" -> "the other end does not speak TLS 1.3";
      default -> "the other end has refused the TLS handshake: " + name;
    };
  }

  private static String last(Throwable error) {
    Throwable e = error;
    while (e.getCause() != null) {
      e = e.getCause();
    }
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }
}
