package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.net.Ports;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.TlsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;

/** Datacenters that speak TLS with each other, and those who try to without the right papers. */
final class TlsPeersTest extends TlsFixture {
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

  // ---------------------------------------------------------------- datacenters

  /** Starts both, and returns a client of eu. */
  private OsierClient pair(String atEu, String atUs) {
    int euPort = Ports.free();
    int usPort = Ports.free();
    Datacenter eu = start("eu", euPort, "us = \"127.0.0.1:%d\"".formatted(usPort), atEu);
    start("us", usPort, "eu = \"127.0.0.1:%d\"".formatted(euPort), atUs);
    return client(eu, Optional.of(trusting()));
  }

  /** A datacenter that is not let in is never connected with, and eu says why. */
  private void assertApart(String atUs, String why) {
    LoggedLines log = open.add(new LoggedLines("io.osier.propagation.net"));
    OsierClient eu = pair(tls(certs, certs, "eu", ""), atUs);
    await().until(() -> log.all().stream().anyMatch(line -> line.contains(why)));
    eu.awaitConnected(LONG);
    assertThat(eu.inspectAsync("eu", Request.Topic.PEERS, Optional.empty(), 10).join())
        .contains("\"connected\":false")
        .doesNotContain("\"connected\":true");
  }

  @Test
  void datacenter_withAnothersCertificate_isRefused() {
    assertApart(tls(certs, certs, "eu", ""), "names osier://osier/dc/eu, not osier://osier/dc/us");
  }

  @Test
  void datacenter_withAClientsCertificate_isRefused() {
    asCart(); // so that it is there
    assertApart(tls(certs, certs, "cart", ""), "names osier://osier/client/cart, not");
  }

  @Test
  void datacenter_ofAnotherAuthority_isRefused() {
    assertApart(tls(foreign(), certs, "us", ""), "no authority that is trusted here");
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
        trusting().certificate(foreign().resolve("us.pem"), foreign().resolve("us.key"));
    assertNotConnected(client(eu, Optional.of(stranger)), "other end");
    assertThat(increment(client(eu, Optional.of(asCart())))).isEqualTo(1);
  }
}
