package io.osier.datacenter.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.datacenter.server.LoggedLines;
import io.osier.propagation.net.link.PortGuard;
import io.osier.propagation.net.link.PortLimits;
import io.osier.testing.Patience;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Who speaks something else than HTTP to the page's port. */
class StrangersAtAdminPortTest {
  private static final int AN_HOUR = 3_600_000;

  /** The beginning of a ClientHello. */
  private static final byte[] TLS = {0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01};

  @Test
  void tls_isClosedAtOnce_withALineThatSaysWhatHelps() throws IOException {
    try (LoggedLines lines = new LoggedLines(PortGuard.class.getName());
        HttpEndpoint endpoint =
            new HttpEndpoint(
                new InetSocketAddress("127.0.0.1", 0),
                new PortLimits(10, AN_HOUR, AN_HOUR), // so nothing else closes it in time
                Optional.empty(),
                new HostNames(Set.of()),
                Optional.empty(),
                Map.of());
        Socket stranger = new Socket("127.0.0.1", endpoint.port())) {
      stranger.setSoTimeout(Patience.MILLIS);
      stranger.getOutputStream().write(TLS);
      assertThat(stranger.getInputStream().read()).as("the end").isEqualTo(-1);
      await().until(() -> !lines.all().isEmpty());
      assertThat(lines.all().getFirst()).contains("it speaks TLS", "ask by http://", "osier.tls");
    }
  }
}
