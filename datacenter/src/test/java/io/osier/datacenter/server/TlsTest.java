package io.osier.datacenter.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.net.Ports;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.cli.command.CertificateMaker;
import io.osier.proxy.TlsOptions;
import io.osier.testing.Patience;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;

/** Ports that speak TLS, and clients who try to get in without the right papers. */
final class TlsTest extends TlsFixture {
  // ---------------------------------------------------------------- clients

  @Test
  void client_withoutTls_isNotServed_andIsToldWhatMayBeWrong() {
    assertNotConnected(client(alone(""), Optional.empty()), "without TLS");
  }

  @Test
  void client_thatDoesNotTrustTheAuthority_doesNotTalk() {
    TlsOptions other = TlsOptions.DEFAULT.authorities(foreign().resolve("authority.pem"));
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
    assertNotConnected(client(strict, Optional.of(trusting())), "requires a certificate");
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
    assertThat(AdminHttp.get(port, "/livez").body()).isEqualTo("alive\n");
  }
}
