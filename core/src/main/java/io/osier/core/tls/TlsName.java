package io.osier.core.tls;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import javax.net.ssl.SSLPeerUnverifiedException;

/**
 * Reads and writes the name of a certificate's owner: a URI among its alternative names.
 *
 * <pre>
 *   osier://CLUSTER/dc/NAME        a datacenter
 *   osier://CLUSTER/client/NAME    a client, which is no user by that
 *   osier://CLUSTER/user/NAME      a user, who is logged in by it
 * </pre>
 */
public final class TlsName {
  private static final String SCHEME = "osier://";

  /** The kind of an alternative name that is a URI: RFC 5280, 4.2.1.6. */
  private static final int URI = 6;

  private TlsName() {}

  public static String ofDatacenter(String cluster, String dc) {
    return of(cluster, "dc", dc);
  }

  public static String ofClient(String cluster, String name) {
    return of(cluster, "client", name);
  }

  public static String ofUser(String cluster, String name) {
    return of(cluster, "user", name);
  }

  /**
   * Returns the user that a certificate's names name; empty if they name none, or several.
   *
   * @param names see {@link #ofOtherEnd}
   */
  public static Optional<String> user(Set<String> names, String cluster) {
    String before = ofUser(cluster, "");
    List<String> users = names.stream().filter(n -> n.startsWith(before)).toList();
    if (users.size() != 1) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          URLDecoder.decode(
              users.getFirst().substring(before.length()).replace("+", "%2B"),
              StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // it is not percent-encoded correctly
    }
  }

  private static String of(String cluster, String kind, String name) {
    return SCHEME + encode(cluster) + "/" + kind + "/" + encode(name);
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Returns the names of this scheme in a certificate. */
  public static Set<String> of(X509Certificate certificate) {
    Set<String> names = new TreeSet<>();
    try {
      Collection<List<?>> all = certificate.getSubjectAlternativeNames();
      if (all != null) {
        for (List<?> name : all) {
          if (name.getFirst().equals(URI) && name.get(1).toString().startsWith(SCHEME)) {
            names.add(name.get(1).toString());
          }
        }
      }
    } catch (CertificateParsingException e) {
      return Set.of(); // names that cannot be read are ignored
    }
    return names;
  }

  /** Returns the names in the certificate that the other end of a connection has shown, if any. */
  public static Set<String> ofOtherEnd(Channel channel) {
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    if (tls == null) {
      return Set.of();
    }
    try {
      return of((X509Certificate) tls.engine().getSession().getPeerCertificates()[0]);
    } catch (SSLPeerUnverifiedException e) {
      return Set.of();
    }
  }
}
