package io.osier.bench.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanQuality;
import io.osier.core.net.Ports;
import io.osier.datacenter.server.Datacenter;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import io.osier.proxy.SessionToken;
import io.osier.testing.Patience;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Clients of Redis wait until a datacenter has what was written at another one. */
final class LettuceWaitTest {
  private static final WanQuality QUALITY = new WanQuality(2, 0, 0);

  /** What the client does not know by itself. */
  @SuppressWarnings("deprecation") // name(), which has another meaning there
  private enum Keyword implements ProtocolKeyword {
    WAITAOF,
    OSIER_TOKEN,
    OSIER_AFTER;

    @Override
    public byte[] getBytes() {
      return name().replace('_', '.').getBytes(StandardCharsets.US_ASCII);
    }
  }

  private static Datacenter start(WanEmulator wan, String dc, String peer, int port, int peerPort) {
    InetSocketAddress at = new InetSocketAddress("127.0.0.1", peerPort);
    return RedisDatacenter.start(
        dc,
        port,
        """
        peers { %s = "127.0.0.1:%d" }
        streams { retry = 300ms, heal = 600ms }
        redis { databases { 0 = shop, 1 = carts } }
        keyspaces { shop { partitions = 3 }, carts { partitions = 1 } }
        """
            .formatted(peer, wan.open(dc, 0, at, QUALITY, QUALITY).port()));
  }

  private static List<Object> waitDurably(
      RedisCommands<String, String> redis, int local, int others) {
    return redis.dispatch(
        Keyword.WAITAOF,
        new ArrayOutput<>(StringCodec.UTF8),
        new CommandArgs<>(StringCodec.UTF8).add(local).add(others).add(0));
  }

  private static RedisClient client(Datacenter of) {
    return RedisClient.create(RedisDatacenter.uri(of));
  }

  @Test
  void wait_isAnsweredWhenTheOtherDatacenterHasIt_andAtACutLinkWhenTheTimeIsOver()
      throws Exception {
    int euPort = Ports.free();
    int usPort = Ports.free();
    try (WanEmulator wan = new WanEmulator(1);
        Datacenter eu = start(wan, "eu", "us", euPort, usPort);
        Datacenter us = start(wan, "us", "eu", usPort, euPort);
        RedisClient client = client(eu);
        StatefulRedisConnection<String, String> connection = client.connect()) {
      await().until(() -> eu.isReady() && us.isReady());
      RedisCommands<String, String> redis = connection.sync();
      redis.mset(Map.of("a", "1", "b", "2", "c", "3")); // of several partitions
      redis.select(1);
      redis.set("d", "4");
      assertThat(redis.waitForReplication(1, 0)).isEqualTo(1);
      assertThat(waitDurably(redis, 0, 1)).containsExactly(0L, 1L);
      assertThatThrownBy(() -> waitDurably(redis, 1, 1)).hasMessageContaining("in memory only");
      wan.link("eu").cut();
      wan.link("us").cut();
      assertThat(redis.waitForReplication(1, 0)).as("it has all there is").isEqualTo(1);
      redis.set("d", "5");
      assertThat(redis.waitForReplication(0, 0)).isZero();
      assertThat(redis.waitForReplication(1, 100)).isZero();
      RedisFuture<Long> waits = connection.async().waitForReplication(1, 0);
      RedisFuture<String> behind = connection.async().get("d");
      wan.link("eu").heal();
      wan.link("us").heal();
      assertThat(waits.get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(1);
      assertThat(behind.get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo("5");
    }
  }

  @Test
  void sessionOfAnyClient_goesOnAtTheOtherDatacenter_onceAllIsThereThatItHasSeen()
      throws Exception {
    int euPort = Ports.free();
    int usPort = Ports.free();
    try (WanEmulator wan = new WanEmulator(1);
        Datacenter eu = start(wan, "eu", "us", euPort, usPort);
        Datacenter us = start(wan, "us", "eu", usPort, euPort);
        OsierClient java =
            OsierClient.builder()
                .endpoint("eu", "127.0.0.1:" + eu.clientPort())
                .timeout(Patience.LIMIT) // no datacenter is taken for dead that is only slow
                .pingInterval(Patience.LIMIT.dividedBy(4))
                .build();
        RedisClient atEu = client(eu);
        RedisClient atUs = client(us);
        StatefulRedisConnection<String, String> first = atEu.connect();
        StatefulRedisConnection<String, String> second = atUs.connect()) {
      await().until(() -> eu.isReady() && us.isReady());
      java.awaitConnected(Patience.LIMIT);
      wan.link("eu").cut();
      wan.link("us").cut();
      Session session = java.session();
      session.keyspace("shop").counter("n").increment(3);
      first.sync().set("a", "v");
      String token =
          first.sync().dispatch(Keyword.OSIER_TOKEN, new ValueOutput<>(StringCodec.UTF8));
      assertThat(SessionToken.decode(token).keyspaces()).containsExactly("shop");
      for (String of : List.of(session.token().encode(), token)) {
        assertThatThrownBy(
                () ->
                    second
                        .sync()
                        .dispatch(
                            Keyword.OSIER_AFTER,
                            new StatusOutput<>(StringCodec.UTF8),
                            new CommandArgs<>(StringCodec.UTF8).add(of).add(1)))
            .hasMessageStartingWith("BEHIND us has not yet received");
      }
      RedisFuture<String> after =
          second
              .async()
              .dispatch(
                  Keyword.OSIER_AFTER,
                  new StatusOutput<>(StringCodec.UTF8),
                  new CommandArgs<>(StringCodec.UTF8).add(token).add(60_000));
      RedisFuture<String> text = second.async().get("a");
      RedisFuture<String> count = second.async().get("n");
      wan.link("eu").heal();
      wan.link("us").heal();
      assertThat(after.get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo("OK");
      assertThat(text.get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo("v");
      assertThat(count.get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo("3");
    }
  }
}
