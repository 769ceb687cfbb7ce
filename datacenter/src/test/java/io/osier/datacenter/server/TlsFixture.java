package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.cli.command.CertificateMaker;
import io.osier.datacenter.cli.command.ExpiredCertificates;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.TlsOptions;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.Base64;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Certificates of one authority, and datacenters and clients that show them. */
abstract class TlsFixture {
  static final Duration LONG = Patience.LIMIT;
  static final List<String> LOOPBACK = List.of("localhost", "127.0.0.1");

  /** What all tests share: keytool takes a second for each. */
  @TempDir static Path certs;

  @TempDir private static Path foreign;

  @AutoClose final Opened open = new Opened();

  @BeforeAll
  static void make() {
    CertificateMaker.authority(certs, "osier", 10);
    sign(certs, "eu", "eu");
    sign(certs, "us", "us");
  }

  /** Makes one that not all tests need, if it is not there. */
  private static void need(String name) {
    if (Files.exists(certs.resolve(name + ".pem"))) {
      return;
    }
    switch (name) {
      case "cart" ->
          CertificateMaker.signed(certs, name, TlsName.ofClient("osier", name), List.of(), 10);
      case "old-cart" ->
          ExpiredCertificates.signed(certs, name, TlsName.ofClient("osier", "cart"), List.of());
      case "old-eu", "old-us" -> {
        String dc = name.replace("old-", "");
        ExpiredCertificates.signed(certs, name, TlsName.ofDatacenter("osier", dc), LOOPBACK);
      }
      default -> throw new IllegalArgumentException("no certificate is named " + name);
    }
  }

  /** Another authority, and one whom it trusts: us. */
  static Path foreign() {
    if (!Files.exists(foreign.resolve("us.pem"))) {
      CertificateMaker.authority(foreign, "osier", 10);
      sign(foreign, "us", "us");
    }
    return foreign;
  }

  static void sign(Path dir, String file, String dc) {
    CertificateMaker.signed(dir, file, TlsName.ofDatacenter("osier", dc), LOOPBACK, 10);
  }

  static String tls(Path certificates, Path authorities, String name, String more) {
    return """
    tls {
      certificate = "%s", key = "%s", authorities = "%s"
      %s
    }
    """
        .formatted(
            certificates.resolve(name + ".pem"),
            certificates.resolve(name + ".key"),
            authorities.resolve("authority.pem"),
            more);
  }

  Datacenter start(String dc, int peerPort, String peers, String more) {
    return open.add(
        TestCluster.one(
            """
            osier {
              dc = %s, store.dir = "", keyspaces { shop {} }, shutdown-timeout = 0s
              listen { client-port = 0, peer-port = %d }
              peers { %s }
              %s
            }
            """
                .formatted(dc, peerPort, peers, more)));
  }

  Datacenter alone(String more) {
    return start("eu", 0, "", tls(certs, certs, "eu", more));
  }

  static TlsOptions trusting() {
    return TlsOptions.DEFAULT.authorities(certs.resolve("authority.pem"));
  }

  static TlsOptions asCart() {
    need("cart");
    return trusting().certificate(certs.resolve("cart.pem"), certs.resolve("cart.key"));
  }

  OsierClient client(Datacenter of, Optional<TlsOptions> tls) {
    OsierClient.Builder builder = PatientClients.of("eu", of.clientPort());
    tls.ifPresent(builder::tls);
    return open.add(builder.build());
  }

  static long increment(OsierClient client) {
    client.awaitConnected(LONG);
    var counter = client.session().keyspace("shop").counter("c");
    counter.increment(1);
    return counter.get();
  }

  static void assertNotConnected(OsierClient client, String why) {
    await()
        .untilAsserted(
            () ->
                assertThat(client.status().getFirst().trouble())
                    .hasValueSatisfying(t -> assertThat(t).contains(why)));
    refused(ErrorCode.UNAVAILABLE, () -> client.awaitConnected(Duration.ofMillis(1)));
  }

  /** Of somebody who trusts the authority, and shows what there is in a file. */
  static SSLContext showing(String name) throws Exception {
    need(name);
    CertificateFactory x509 = CertificateFactory.getInstance("X.509");
    Certificate[] chain;
    try (var in = Files.newInputStream(certs.resolve(name + ".pem"))) {
      chain = x509.generateCertificates(in).toArray(new Certificate[0]);
    }
    byte[] key =
        Base64.getMimeDecoder()
            .decode(
                Files.readString(certs.resolve(name + ".key")).replaceAll("-----[^-]*-----", ""));
    KeyStore own = KeyStore.getInstance("PKCS12");
    own.load(null, null);
    own.setKeyEntry(
        "a",
        KeyFactory.getInstance(chain[0].getPublicKey().getAlgorithm())
            .generatePrivate(new PKCS8EncodedKeySpec(key)),
        new char[0],
        chain);
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(own, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trusted().getTrustManagers(), null);
    return context;
  }

  static SSLContext context() throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trusted().getTrustManagers(), null);
    return context;
  }

  static TrustManagerFactory trusted() throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    try (var in = Files.newInputStream(certs.resolve("authority.pem"))) {
      trusted.setCertificateEntry(
          "a", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory managers = TrustManagerFactory.getInstance("PKIX");
    managers.init(trusted);
    return managers;
  }

  final IdentityHashMap<Datacenter, String> settings = new IdentityHashMap<>();

  Datacenter start(int[] ports, int i, String setting) {
    String[] names = {"eu", "us"};
    Datacenter started =
        start(
            names[i],
            ports[i],
            names[1 - i] + " = \"127.0.0.1:" + ports[1 - i] + "\"",
            setting.isEmpty() ? "" : tls(certs, certs, names[i], setting));
    settings.put(started, setting);
    return started;
  }
}
