package io.osier.bench.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.osier.core.net.Ports;
import io.osier.datacenter.server.Datacenter;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client of Redis subscribes at one datacenter, and another one publishes at another. */
final class LettucePubSubTest {
  private static Datacenter start(String dc, String peer, int port, int peerPort) {
    return RedisDatacenter.start(
        dc,
        port,
        """
        peers { %s = "127.0.0.1:%d" }
        redis { databases { 0 = shop, 1 = own } }
        keyspaces { shop { partitions = 1 }, own { partitions = 1, replicas = [eu] } }
        """
            .formatted(peer, peerPort));
  }

  private static RedisClient client(Datacenter at, ProtocolVersion version) {
    return RedisDatacenter.client(RedisDatacenter.uri(at), version);
  }

  @ParameterizedTest
  @EnumSource(names = {"RESP2", "RESP3"})
  void messages_areHeardAtTheOtherDatacenter_inTheirOrder(ProtocolVersion version)
      throws Exception {
    int euPort = Ports.free();
    int usPort = Ports.free();
    try (Datacenter eu = start("eu", "us", euPort, usPort);
        Datacenter us = start("us", "eu", usPort, euPort);
        RedisClient atEu = client(eu, version);
        RedisClient atUs = client(us, version);
        StatefulRedisPubSubConnection<String, String> listening = atUs.connectPubSub()) {
      BlockingQueue<String> heard = new LinkedBlockingQueue<>();
      listening.addListener(
          new RedisPubSubAdapter<>() {
            @Override
            public void message(String channel, String message) {
              heard.add(channel + " " + message);
            }

            @Override
            public void message(String pattern, String channel, String message) {
              heard.add(pattern + " " + channel + " " + message);
            }
          });
      listening.sync().subscribe("news");
      listening.sync().psubscribe("n?ws.*");
      RedisCommands<String, String> publisher = atEu.connect().sync();
      await()
          .until(
              () -> {
                publisher.publish("news", "are they connected?");
                return !heard.isEmpty();
              });
      publisher.publish("news.sport", "m");
      String next;
      do {
        next = heard.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      } while ("news are they connected?".equals(next));
      assertThat(next).isEqualTo("n?ws.* news.sport m");
      List<String> expected = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        assertThat(publisher.publish("news", "m" + i)).as("nobody listens here").isZero();
        expected.add("news m" + i);
      }
      List<String> all = new ArrayList<>();
      for (int i = 0; i < expected.size(); i++) {
        all.add(heard.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS));
      }
      assertThat(all).isEqualTo(expected);
      publisher.select(1);
      publisher.publish("news", "for a keyspace that is not there");
      publisher.select(0);
      publisher.publish("news", "last");
      assertThat(heard.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
          .isEqualTo("news last");
      listening.sync().unsubscribe("news");
      assertThat(atUs.connect().sync().pubsubChannels()).isEmpty();
    }
  }
}
