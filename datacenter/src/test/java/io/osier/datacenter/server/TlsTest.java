package io.osier.datacenter.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.Ports;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.cli.command.CertificateMaker;
import io.osier.datacenter.cli.command.ExpiredCertificates;
import io.osier.datacenter.config.ConfigReader;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.TlsOptions;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.Base64;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Datacenters and clients that speak TLS, and those who try to get in without the right papers. */
final class TlsTest {
  private static final Duration LONG = Patience.LIMIT;
  private static final List<String> LOOPBACK = List.of("localhost", "127.0.0.1");

  /** What all tests share: keytool takes a second for each. */
  @TempDir private static Path certs;

  @TempDir private static Path foreign;

  @AutoClose private final Opened open = new Opened();

  @BeforeAll
  static void make() {
    CertificateMaker.authority(certs, "osier", 10);
    sign(certs, "eu", "eu");
    sign(certs, "us", "us");
    CertificateMaker.signed(certs, "cart", TlsName.ofClient("osier", "cart"), List.of(), 10);
    ExpiredCertificates.signed(certs, "old-eu", TlsName.ofDatacenter("osier", "eu"), LOOPBACK);
    ExpiredCertificates.signed(certs, "old-us", TlsName.ofDatacenter("osier", "us"), LOOPBACK);
    ExpiredCertificates.signed(certs, "old-cart", TlsName.ofClient("osier", "cart"), List.of());
    CertificateMaker.authority(foreign, "osier", 10);
    sign(foreign, "us", "us");
  }

  private static void sign(Path dir, String file, String dc) {
    CertificateMaker.signed(dir, file, TlsName.ofDatacenter("osier", dc), LOOPBACK, 10);
  }

  private static String tls(Path certificates, Path authorities, String name, String more) {
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

  private Datacenter start(String dc, int peerPort, String peers, String more) {
    return open.add(
        Datacenter.start(
            ConfigReader.read(
                dc,
                """
                osier {
                  dc = %s, store.dir = "", keyspaces { shop {} }, shutdown-timeout = 0s
                  listen { client-port = 0, peer-port = %d }
                  peers { %s }
                  %s
                }
                """
                    .formatted(dc, peerPort, peers, more),
                Map.of())));
  }

  private Datacenter alone(String more) {
    return start("eu", 0, "", tls(certs, certs, "eu", more));
  }

  private static TlsOptions trusting() {
    return TlsOptions.DEFAULT.authorities(certs.resolve("authority.pem"));
  }

  private static TlsOptions asCart() {
    return trusting().certificate(certs.resolve("cart.pem"), certs.resolve("cart.key"));
  }

  private OsierClient client(Datacenter of, Optional<TlsOptions> tls) {
    OsierClient.Builder builder = PatientClients.of("eu", of.clientPort());
    tls.ifPresent(builder::tls);
    return open.add(builder.build());
  }

  private static long increment(OsierClient client) {
    client.awaitConnected(LONG);
    var counter = client.session().keyspace("shop").counter("c");
    counter.increment(1);
    return counter.get();
  }

  private static void assertNotConnected(OsierClient client, String why) {
    await()
        .untilAsserted(
            () ->
                assertThat(client.status().getFirst().trouble())
                    .hasValueSatisfying(t -> assertThat(t).contains(why)));
    assertThatThrownBy(() -> client.awaitConnected(Duration.ofMillis(1)))
        .is(Refused.with(ErrorCode.UNAVAILABLE));
  }

  // ---------------------------------------------------------------- clients

  @Test
  void client_withoutTls_isNotServed_andIsToldWhatMayBeWrong() {
    assertNotConnected(client(alone(""), Optional.empty()), "without TLS");
  }

  @Test
  void client_thatDoesNotTrustTheAuthority_doesNotTalk() {
    TlsOptions other = TlsOptions.DEFAULT.authorities(foreign.resolve("authority.pem"));
    assertNotConnected(client(alone(""), Optional.of(other)), "no authority that is trusted here");
    assertNotConnected(
        client(alone(""), Optional.of(TlsOptions.DEFAULT)), "no authority that is trusted here");
  }

  @Test
  void client_wantsTheHostThatItDialled_unlessToldOtherwise() {
    if (!Files.exists(certs.resolve("elsewhere.pem"))) {
      CertificateMaker.signed(
          certs,
          "elsewhere",
          TlsName.ofDatacenter("osier", "eu"),
          List.of("eu.example", "10.1.2.3"),
          10);
    }
    Datacenter elsewhere = start("eu", 0, "", tls(certs, certs, "elsewhere", ""));
    assertNotConnected(client(elsewhere, Optional.of(trusting())), "127.0.0.1");
    assertThat(increment(client(elsewhere, Optional.of(trusting().anyHost())))).isEqualTo(1);
  }

  @Test
  void client_withTls_ofADatacenterWithoutIt_isToldSo() {
    Datacenter plain = start("eu", 0, "", "");
    assertNotConnected(client(plain, Optional.of(trusting())), "with TLS");
  }

  @Test
  void clientCertificates_areAskedFor_ifTheSettingSaysSo() {
    Datacenter strict = alone("client-certificates = true");
    assertNotConnected(client(strict, Optional.of(trusting())), "wants a certificate");
    assertThat(increment(client(strict, Optional.of(asCart())))).isEqualTo(1);
  }

  /** Whoever has an expired certificate may show it all the same, and hears that it is none. */
  @Test
  void expiredCertificate_isRefused_onEachPort() throws Exception {
    Datacenter strict = alone("client-certificates = true");
    LoggedLines log = open.add(new LoggedLines("io.osier.propagation.net"));
    for (String[] who :
        new String[][] {
          {"old-cart", String.valueOf(strict.clientPort())},
          {"old-us", String.valueOf(strict.peerPort())}
        }) {
      try (SSLSocket socket =
          (SSLSocket)
              showing(who[0])
                  .getSocketFactory()
                  .createSocket("127.0.0.1", Integer.parseInt(who[1]))) {
        socket.setSoTimeout(Patience.MILLIS);
        assertThatThrownBy(
                () -> {
                  socket.startHandshake();
                  socket.getInputStream().read();
                })
            .as(who[0])
            .satisfiesAnyOf(
                e ->
                    assertThat(e)
                        .isInstanceOf(SSLException.class)
                        .hasMessageContaining("fatal alert: certificate_"),
                e -> assertThat(e).isInstanceOf(SocketException.class)); // closed while we sent
      }
    }
    await()
        .untilAsserted(
            () ->
                assertThat(log.all())
                    .filteredOn(line -> line.contains("the other end's certificate has expired"))
                    .hasSize(2));
    assertThat(increment(client(strict, Optional.of(asCart())))).isEqualTo(1);
  }

  @Test
  void datacenterThatShowsAnExpiredCertificate_isNotTalkedTo() throws Exception {
    try (SSLServerSocket old = impostor("old-eu");
        OsierClient client = PatientClients.of("eu", old.getLocalPort()).tls(trusting()).build()) {
      assertNotConnected(client, "expired");
    }
    LoggedLines log = open.add(new LoggedLines("io.osier.propagation.net"));
    try (SSLServerSocket old = impostor("old-us")) {
      start("eu", 0, "us = \"127.0.0.1:" + old.getLocalPort() + "\"", tls(certs, certs, "eu", ""));
      await().until(() -> log.all().stream().anyMatch(line -> line.contains("expired")));
    }
  }

  /** Takes connections and shows a certificate, until it is closed. */
  private static SSLServerSocket impostor(String name) throws Exception {
    SSLServerSocket socket =
        (SSLServerSocket)
            showing(name)
                .getServerSocketFactory()
                .createServerSocket(0, 10, InetAddress.getLoopbackAddress());
    Thread.ofPlatform()
        .daemon(true)
        .start(
            () -> {
              while (!socket.isClosed()) {
                try (SSLSocket one = (SSLSocket) socket.accept()) {
                  one.startHandshake();
                  one.getInputStream().read();
                } catch (IOException e) {
                  // The other end has seen through it, or it is over.
                }
              }
            });
    return socket;
  }

  // ---------------------------------------------------------------- the Redis protocol

  /** What is answered to a command on a line, up to the end of the connection. */
  private static String askRedis(Socket socket, String command) throws IOException {
    socket.setSoTimeout(Patience.MILLIS);
    socket.getOutputStream().write((command + "\r\nQUIT\r\n").getBytes(US_ASCII));
    return new String(socket.getInputStream().readAllBytes(), US_ASCII);
  }

  @Test
  void redisPort_takesTlsAlone_andKnowsWhoShowsACertificate() throws Exception {
    CertificateMaker.signed(certs, "user", TlsName.ofUser("osier", "cart"), List.of(), 10);
    Datacenter eu =
        start(
            "eu",
            0,
            "",
            tls(certs, certs, "eu", "client-certificates = optional")
                + "listen.redis-port = 0\n"
                + "users { cart { rights = [\"read shop\"] } }");
    int port = eu.redisPort().orElseThrow();
    try (Socket plain = new Socket("127.0.0.1", port)) {
      assertThat(askRedis(plain, "PING")).doesNotContain("PONG", "NOAUTH");
    } catch (SocketException e) {
      // It was closed while we sent.
    }
    try (Socket nobody = context().getSocketFactory().createSocket("127.0.0.1", port)) {
      assertThat(askRedis(nobody, "GET k")).startsWith("-NOAUTH ").endsWith("+OK\r\n");
    }
    try (Socket cart = showing("user").getSocketFactory().createSocket("127.0.0.1", port)) {
      assertThat(askRedis(cart, "ACL WHOAMI")).isEqualTo("$4\r\ncart\r\n+OK\r\n");
    }
    try (Socket cart = showing("user").getSocketFactory().createSocket("127.0.0.1", port)) {
      assertThat(askRedis(cart, "SET k v")).startsWith("-NOPERM ");
    }
    try (Socket stranger = showing("old-cart").getSocketFactory().createSocket("127.0.0.1", port)) {
      assertThatThrownBy(() -> askRedis(stranger, "GET k")).isInstanceOf(IOException.class);
    }
  }

  /** Of somebody who trusts the authority, and shows what there is in a file. */
  private static SSLContext showing(String name) throws Exception {
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

  @Test
  void olderProtocol_isRefused_onEachPort() throws Exception {
    Datacenter eu = alone("");
    SSLContext context = context();
    for (int port : new int[] {eu.clientPort(), eu.peerPort()}) {
      for (String[] offered : new String[][] {{"TLSv1.2"}, {"TLSv1.2", "TLSv1.1"}}) {
        try (SSLSocket socket =
            (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port)) {
          socket.setEnabledProtocols(offered);
          assertThatThrownBy(socket::startHandshake)
              .isInstanceOf(SSLException.class)
              .hasMessageContaining("protocol_version");
        }
      }
    }
    try (SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", eu.clientPort())) {
      socket.startHandshake();
      assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
    }
  }

  private static SSLContext context() throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trusted().getTrustManagers(), null);
    return context;
  }

  private static TrustManagerFactory trusted() throws Exception {
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

  @Test
  void adminPort_speaksTls() throws Exception {
    int port = Ports.free();
    start(
        "eu", 0, "", tls(certs, certs, "eu", "") + "admin { enabled = true, port = " + port + "}");
    try (HttpClient http = HttpClient.newBuilder().sslContext(context()).build()) {
      HttpResponse<String> livez =
          http.send(
              HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + "/livez")).build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(livez.body()).isEqualTo("alive\n");
    }
    try (Socket plain = new Socket("127.0.0.1", port)) {
      plain.setSoTimeout(Patience.MILLIS);
      plain.getOutputStream().write("GET /livez HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
      assertThat(new String(plain.getInputStream().readAllBytes(), US_ASCII))
          .doesNotContain("alive");
    }
  }

  @Test
  void adminPort_canBeLeftAsItWas() throws Exception {
    int port = Ports.free();
    start(
        "eu",
        0,
        "",
        tls(certs, certs, "eu", "admin = false") + "admin { enabled = true, port = " + port + "}");
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> livez =
          http.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/livez")).build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(livez.body()).isEqualTo("alive\n");
    }
  }

  // ---------------------------------------------------------------- files that change

  @Test
  void newCertificate_isUsedWithoutARestart_andOpenConnectionsGoOn(@TempDir Path own)
      throws Exception {
    copy(certs, "eu", own);
    Files.copy(certs.resolve("authority.pem"), own.resolve("authority.pem"));
    Datacenter eu = start("eu", 0, "", tls(own, own, "eu", ""));
    OsierClient before = client(eu, Optional.of(trusting()));
    assertThat(increment(before)).isEqualTo(1);
    String first = shown(eu);

    Files.writeString(own.resolve("eu.key"), "damaged"); // as one that is being written
    CertificateMaker.authority(own.resolve("new"), "osier", 10);
    sign(own.resolve("new"), "eu", "eu");
    assertThat(increment(before)).isEqualTo(2);
    Files.copy(
        own.resolve("new/eu.pem"), own.resolve("eu.pem"), StandardCopyOption.REPLACE_EXISTING);
    assertThat(shown(eu)).isEqualTo(first); // the key is damaged still

    Files.copy(
        own.resolve("new/eu.key"), own.resolve("eu.key"), StandardCopyOption.REPLACE_EXISTING);
    await().until(() -> !shown(eu).equals(first));
    assertThat(increment(before)).isEqualTo(3); // it does not even trust the new one
    TlsOptions trustsNew = TlsOptions.DEFAULT.authorities(own.resolve("new/authority.pem"));
    assertThat(increment(client(eu, Optional.of(trustsNew)))).isEqualTo(4);
  }

  @Test
  void certificatesThatExpireSoon_areNamedInTheLog_andInStat() {
    LoggedLines log = open.add(new LoggedLines(Certificates.class.getName()));
    OsierClient client = client(alone(""), Optional.of(trusting())); // of 10 days
    client.awaitConnected(LONG);
    String stat = client.inspectAsync("eu", Request.Topic.STAT, Optional.empty(), 0).join();
    assertThat(stat).containsPattern("\"certificates\":\\{\"[^}]*\":\"20[0-9-]+T");
    await().until(() -> log.all().size() >= 2);
    assertThat(log.all())
        .allSatisfy(line -> assertThat(line).contains("expires in 9 days"))
        .as("its own and the authority's, once a day")
        .hasSize(2);
  }

  /** The number of the certificate that a datacenter shows at this moment. */
  private static String shown(Datacenter of) throws Exception {
    TrustManager anybody =
        new X509TrustManager() {
          @Override
          public void checkClientTrusted(X509Certificate[] chain, String type) {}

          @Override
          public void checkServerTrusted(X509Certificate[] chain, String type) {}

          @Override
          public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
          }
        };
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {anybody}, null);
    try (SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", of.clientPort())) {
      socket.startHandshake();
      return ((X509Certificate) socket.getSession().getPeerCertificates()[0])
          .getSerialNumber()
          .toString();
    }
  }

  private static void copy(Path from, String name, Path to) throws IOException {
    Files.copy(from.resolve(name + ".pem"), to.resolve(name + ".pem"));
    Files.copy(from.resolve(name + ".key"), to.resolve(name + ".key"));
  }

  // ---------------------------------------------------------------- datacenters

  private OsierClient[] pair(String atEu, String atUs) {
    int euPort = Ports.free();
    int usPort = Ports.free();
    Datacenter eu = start("eu", euPort, "us = \"127.0.0.1:%d\"".formatted(usPort), atEu);
    Datacenter us = start("us", usPort, "eu = \"127.0.0.1:%d\"".formatted(euPort), atUs);
    boolean encrypted = atUs.contains("tls");
    return new OsierClient[] {
      client(eu, Optional.of(trusting())),
      client(us, encrypted ? Optional.of(trusting().anyHost()) : Optional.empty())
    };
  }

  /** Nothing is replicated with a datacenter that is not let in, and eu says why. */
  private void assertApart(String atUs, String why) {
    LoggedLines log = open.add(new LoggedLines("io.osier.propagation.net"));
    OsierClient[] at = pair(tls(certs, certs, "eu", ""), atUs);
    increment(at[0]);
    await().until(() -> log.all().stream().anyMatch(line -> line.contains(why)));
    assertThat(at[0].inspectAsync("eu", Request.Topic.PEERS, Optional.empty(), 10).join())
        .contains("\"connected\":false")
        .doesNotContain("\"connected\":true");
  }

  @Test
  void datacenter_withAnothersCertificate_isRefused() {
    assertApart(tls(certs, certs, "eu", ""), "names osier://osier/dc/eu, not osier://osier/dc/us");
  }

  @Test
  void datacenter_withAClientsCertificate_isRefused() {
    assertApart(tls(certs, certs, "cart", ""), "names osier://osier/client/cart, not");
  }

  @Test
  void datacenter_ofAnotherAuthority_isRefused() {
    assertApart(tls(foreign, certs, "us", ""), "no authority that is trusted here");
  }

  @Test
  void datacenter_withoutTls_isRefused() {
    assertApart("", "does not speak TLS");
  }

  /** One process after the other; the other one serves meanwhile, and both replicate. */
  @Test
  void clusterChangesOverToTls_andBack_oneDatacenterAfterTheOther() throws Exception {
    int[] ports = {Ports.free(), Ports.free()};
    String plain = "";
    String either = "required = false";
    String strict = "required = true";
    Datacenter[] at = {start(ports, 0, plain), start(ports, 1, plain)};
    long sum = replicates(at, false, false, 0);
    for (String[] step :
        List.of(
            new String[] {either, plain},
            new String[] {either, either},
            new String[] {strict, either},
            new String[] {strict, strict},
            new String[] {strict, either},
            new String[] {either, either},
            new String[] {either, plain})) {
      for (int i = 0; i < 2; i++) {
        at[i] = changed(at[i], ports, i, step[i]);
      }
      sum = replicates(at, step[0].equals(strict), step[1].equals(strict), sum);
    }
    assertThat(increment(client(at[0], Optional.empty()))).as("without TLS").isEqualTo(sum + 1);
    assertThat(increment(client(at[0], Optional.of(trusting())))).as("with it").isEqualTo(sum + 2);
  }

  private final IdentityHashMap<Datacenter, String> settings = new IdentityHashMap<>();

  private Datacenter start(int[] ports, int i, String setting) {
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

  private Datacenter changed(Datacenter now, int[] ports, int i, String setting) {
    if (setting.equals(settings.get(now))) {
      return now;
    }
    now.close();
    return start(ports, i, setting);
  }

  /** Increments at both and sees the sum at both. */
  private long replicates(Datacenter[] at, boolean tlsAtEu, boolean tlsAtUs, long before) {
    OsierClient[] clients = {
      client(at[0], tlsAtEu ? Optional.of(trusting()) : Optional.empty()),
      client(at[1], tlsAtUs ? Optional.of(trusting().anyHost()) : Optional.empty())
    };
    for (OsierClient client : clients) {
      increment(client);
    }
    for (OsierClient client : clients) {
      await().until(() -> client.session().keyspace("shop").counter("c").get() == before + 2);
    }
    return before + 2;
  }

  @Test
  void otherCertificates_areRefused_whereTlsIsNotRequired_too() {
    Datacenter eu = alone("required = false, client-certificates = true");
    TlsOptions stranger =
        trusting().certificate(foreign.resolve("us.pem"), foreign.resolve("us.key"));
    assertNotConnected(client(eu, Optional.of(stranger)), "other end");
    assertThat(increment(client(eu, Optional.of(asCart())))).isEqualTo(1);
  }

  // ---------------------------------------------------------------- wrong files

  @Test
  void wrongFiles_stopTheStart_withWhatWouldBeRight(@TempDir Path dir) throws Exception {
    assertRefused(tls(dir, certs, "eu", ""), "there is no " + dir.resolve("eu.pem"));
    copy(certs, "eu", dir);
    Files.copy(certs.resolve("us.key"), dir.resolve("eu.key"), StandardCopyOption.REPLACE_EXISTING);
    assertRefused(tls(dir, certs, "eu", ""), "not the one of the certificate");
    Files.writeString(
        dir.resolve("eu.key"),
        "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----");
    assertRefused(tls(dir, certs, "eu", ""), "openssl pkcs8 -topk8 -nocrypt");
    Files.writeString(dir.resolve("eu.pem"), "nothing");
    assertRefused(tls(dir, certs, "eu", ""), "there is no certificate in it");
    assertRefused("tls { certificate = \"x.pem\" }", "osier.tls.key must be a file in PEM form");
    assertRefused("tls { key = \"x.pem\" }", "osier.tls.certificate must be a file in PEM form");
    assertRefused(tls(certs, certs, "eu", "provider = openssl"), "netty-tcnative");
  }

  private void assertRefused(String settings, String why) {
    assertThatThrownBy(() -> start("eu", 0, "", settings))
        .isInstanceOfSatisfying(
            OsierException.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.CONFIGURATION);
              assertThat(e.getMessage()).contains(why);
            });
  }
}
