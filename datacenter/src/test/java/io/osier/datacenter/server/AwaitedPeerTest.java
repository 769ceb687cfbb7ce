package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.Ports;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A datacenter whose only peer has not come since its first start. */
final class AwaitedPeerTest {
  @AutoClose private final Opened open = new Opened();
  private final int admin = Ports.free();

  private Datacenter eu(String keyspaces) {
    return open.add(
        TestCluster.one(
            """
            osier {
              dc = eu, store { dir = "" }, shutdown-timeout = 1s
              admin { enabled = true, port = %d }
              listen { client-port = 0, peer-port = 0 }
              peers { us = "127.0.0.1:%d" }
              keyspaces { %s }
            }
            """
                .formatted(admin, Ports.free(), keyspaces)));
  }

  private OsierClient client(Datacenter of) {
    OsierClient client =
        open.add(
            OsierClient.builder()
                .endpoint("eu", "127.0.0.1:" + of.clientPort())
                .connectTimeout(Patience.LIMIT)
                .timeout(Duration.ofSeconds(2)) // for calls that are tried until then
                .build());
    client.awaitConnected(Patience.LIMIT);
    return client;
  }

  @Test
  void keyspaceWithHomesOfTheFile_waitsForIt_andAllSaySo() throws Exception {
    Datacenter eu = eu("shop {}, carts { homes = [eu, us] }");
    OsierClient client = client(eu);
    Keyspace shop = client.session().keyspace("shop");
    await().until(() -> eu.obstacles().stream().noneMatch(o -> o.startsWith("catching up")));
    await()
        .ignoreExceptionsInstanceOf(OsierException.class) // a busy machine may take its time
        .until(() -> shop.counter("c").get() >= 0);
    await().until(() -> eu.obstacles().toString().contains("not connected: us"));
    assertThat(eu.isReady()).isFalse();
    await() // before that _osier catches up
        .ignoreExceptionsInstanceOf(CompletionException.class)
        .untilAsserted(
            () ->
                assertThat(client.admin().listKeyspacesAsync().join())
                    .contains(
                        "keyspace 'carts' of the configuration file does not exist yet: eu has"
                            + " not heard"));
    HttpResponse<String> ready = AdminHttp.get(admin, "/readyz");
    assertThat(ready.statusCode()).isEqualTo(503);
    assertThat(ready.body())
        .contains("keyspace 'carts' of the configuration file does not exist yet", "why us");
    await()
        .untilAsserted(
            () ->
                refused(
                        ErrorCode.UNAVAILABLE,
                        () -> client.session().keyspace("carts").counter("eu:1").increment(1))
                    .hasMessageContainingAll(
                        "keyspace 'carts' of the configuration file does not exist yet",
                        "not connected: us"));
  }
}
