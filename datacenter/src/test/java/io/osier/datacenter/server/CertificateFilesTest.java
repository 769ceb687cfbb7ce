package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.datacenter.cli.command.CertificateMaker;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TlsOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of certificates that are wrong, change or expire. */
final class CertificateFilesTest extends TlsFixture {
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
    refused(ErrorCode.CONFIGURATION, () -> start("eu", 0, "", settings)).hasMessageContaining(why);
  }
}
