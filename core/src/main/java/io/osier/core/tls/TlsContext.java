package io.osier.core.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OptionalSslHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.net.IDN;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Security;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.net.ssl.KeyManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The TLS 1.3 settings of one end: made of files, and made anew when they change. Open connections
 * go on with the settings with which they began. Thread-safe.
 */
public final class TlsContext {
  private static final String VERSION = "TLSv1.3";

  /**
   * A key store type of the Java runtime that neither encrypts with many rounds nor wraps another
   * type.
   */
  private static final String PLAIN = "CaseExactJKS";

  private static final char[] NO_PASSWORD = {};

  /** Which certificates the other end of a connection must show, and what they must name. */
  public enum Trust {
    /** For servers: clients need not show a certificate. */
    NOBODY,
    /**
     * For servers: clients need not show one, but one that is shown must be signed by an authority.
     */
    WHO_SHOWS_ONE,
    /** For servers: clients must show one that an authority has signed. */
    CLIENTS,
    /** For clients: the server's certificate must name the host that was dialled. */
    HOST,
    /** For clients: the server's must be signed by an authority, whatever it names. */
    AUTHORITY;

    boolean isServer() {
      return this == NOBODY || this == WHO_SHOWS_ONE || this == CLIENTS;
    }
  }

  public enum Provider {
    /** The Java runtime. */
    JDK,
    /** OpenSSL, if Netty's library for it is present. */
    OPENSSL
  }

  private record Made(List<String> stamp, PemFiles files, SslContext context) {}

  private final TlsFiles files;
  private final Trust trust;
  private final Provider provider;
  private final boolean required;
  private final Object refreshing = new Object();
  private volatile Made made;

  /** The state of the files when they could not be used; null if they could. */
  private @Nullable List<String> unusable;

  /**
   * Reads the files.
   *
   * @param required whether only TLS is spoken; otherwise the end that dials chooses, so that a
   *     cluster can change over one process at a time
   * @throws OsierException CONFIGURATION if a file cannot be used; the message names it, and why
   */
  public TlsContext(TlsFiles files, Trust trust, Provider provider, boolean required) {
    this.required = required;
    if (provider == Provider.OPENSSL && !OpenSsl.isAvailable()) {
      throw OsierException.of(
          ErrorCode.CONFIGURATION,
          "OpenSSL cannot be used: Netty's library for it (netty-tcnative-boringssl-static, for"
              + " this system) is not on the class path; add it, or use the provider jdk");
    }
    if (trust.isServer() && files.own().isEmpty()) {
      throw OsierException.of(
          ErrorCode.CONFIGURATION, "a server needs a certificate of its own, and its key");
    }
    this.files = files;
    this.trust = trust;
    this.provider = provider;
    this.made = make(files.stamp());
  }

  private Made make(List<String> stamp) {
    PemFiles pem = PemFiles.read(files);
    try {
      return new Made(stamp, pem, context(pem));
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw OsierException.of(
          ErrorCode.CONFIGURATION,
          "TLS cannot be set up with " + files.all() + ": " + e.getMessage(),
          e);
    }
  }

  private SslContext context(PemFiles pem) throws IOException, GeneralSecurityException {
    SslContextBuilder builder;
    if (trust.isServer()) {
      PemFiles.Own own = pem.own().orElseThrow();
      builder =
          (provider == Provider.JDK
                  ? SslContextBuilder.forServer(shown(own))
                  : SslContextBuilder.forServer(own.key(), own.chain()))
              .clientAuth(
                  switch (trust) {
                    case CLIENTS -> ClientAuth.REQUIRE;
                    case WHO_SHOWS_ONE -> ClientAuth.OPTIONAL;
                    default -> ClientAuth.NONE;
                  });
    } else {
      builder = SslContextBuilder.forClient();
      if (pem.own().isPresent()) {
        PemFiles.Own own = pem.own().get();
        if (provider == Provider.JDK) {
          builder.keyManager(shown(own));
        } else {
          builder.keyManager(own.key(), own.chain());
        }
      }
      builder.endpointIdentificationAlgorithm(trust == Trust.HOST ? "HTTPS" : "");
    }
    if (!pem.authorities().isEmpty()) {
      builder.trustManager(pem.authorities());
    }
    return builder
        .sslProvider(provider == Provider.JDK ? SslProvider.JDK : SslProvider.OPENSSL)
        .protocols(VERSION)
        .build();
  }

  /**
   * Returns the Java runtime's key manager for the own certificate. The key is only in memory. The
   * usual kind of store, PKCS #12, would encrypt and decrypt it with ten thousand rounds of a hash
   * for each context.
   */
  private static KeyManagerFactory shown(PemFiles.Own own)
      throws IOException, GeneralSecurityException {
    boolean isThere = Security.getAlgorithms("KeyStore").contains(PLAIN.toUpperCase(Locale.ROOT));
    KeyStore store = KeyStore.getInstance(isThere ? PLAIN : KeyStore.getDefaultType());
    store.load(null, null);
    store.setKeyEntry("own", own.key(), NO_PASSWORD, own.chain().toArray(new X509Certificate[0]));
    KeyManagerFactory shown =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    shown.init(store, NO_PASSWORD);
    return shown;
  }

  /**
   * Returns the first handler for the pipeline of an accepted connection.
   *
   * @param handshakeMillis how long the handshake may take
   */
  public ChannelHandler accept(ByteBufAllocator allocator, long handshakeMillis) {
    SslContext context = made.context;
    return required
        ? timed(context.newHandler(allocator), handshakeMillis)
        : new OptionalSslHandler(context) {
          @Override
          protected SslHandler newSslHandler(ChannelHandlerContext ctx, SslContext with) {
            return timed(with.newHandler(ctx.alloc()), handshakeMillis);
          }
        };
  }

  /** Whether only TLS is spoken. */
  public boolean isRequired() {
    return required;
  }

  /** Whether a connection over which bytes have come speaks TLS. */
  public static boolean isOn(Channel channel) {
    return channel.pipeline().get(SslHandler.class) != null;
  }

  /**
   * Returns the first handler for the pipeline of a dialled connection.
   *
   * @param host that was dialled, for the certificate's name
   * @param handshakeMillis how long the handshake may take
   */
  public SslHandler dial(ByteBufAllocator allocator, String host, int port, long handshakeMillis) {
    // A certificate's name has neither the dot behind a full name nor the interface of an address,
    // and is in ASCII.
    String named = IDN.toASCII(host.replaceFirst("(\\.|%.*)$", ""));
    return timed(made.context.newHandler(allocator, named, port), handshakeMillis);
  }

  private static SslHandler timed(SslHandler handler, long handshakeMillis) {
    handler.setHandshakeTimeoutMillis(handshakeMillis);
    return handler;
  }

  /**
   * Checks whether the files have changed, and uses the new ones for connections from now on. Files
   * that cannot be used are ignored until they change again: the former ones stay in use. Reads
   * files, so it is not for a connection's loop.
   *
   * @return whether they had changed
   * @throws OsierException CONFIGURATION if they have changed and cannot be used; once for each
   *     change
   */
  public boolean refresh() {
    synchronized (refreshing) {
      List<String> now;
      try {
        now = files.stamp();
      } catch (OsierException e) {
        now = List.of(String.valueOf(e.reason()));
        if (now.equals(unusable)) {
          return false;
        }
        unusable = now;
        throw e;
      }
      if (now.equals(made.stamp) || now.equals(unusable)) {
        return false;
      }
      try {
        made = make(now);
        unusable = null;
      } catch (OsierException e) {
        unusable = now;
        throw e;
      }
      return true;
    }
  }

  /**
   * Returns by its subject until when each certificate is valid, in seconds since 1970; of several
   * with one subject, the first to expire. The certificates are the own one, its chain, and
   * authorities.
   */
  public SortedMap<String, Long> expiries() {
    PemFiles read = made.files;
    SortedMap<String, Long> all = new TreeMap<>();
    List<X509Certificate> certificates = new ArrayList<>(read.authorities());
    read.own().ifPresent(own -> certificates.addAll(own.chain()));
    for (X509Certificate certificate : certificates) {
      all.merge(
          certificate.getSubjectX500Principal().getName(),
          certificate.getNotAfter().toInstant().getEpochSecond(),
          Math::min);
    }
    return all;
  }

  @Override
  public String toString() {
    return VERSION + " by " + provider.name().toLowerCase(Locale.ROOT) + " with " + files;
  }
}
