package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The rights to channels, of subscribers and of publishers. */
final class PubSubRightsTest extends PubSubConnections {
  @Test
  void rights_areThoseToKeysOfTheSameName() throws Exception {
    grant("read shop news:", "write shop news:sport");
    RawRedis redis = connect(true);
    assertThat(redis.ask("SUBSCRIBE news:a news:")).isEqualTo(">[subscribe, news:a, :1]");
    assertThat(redis.read()).isEqualTo(">[subscribe, news:, :2]");
    assertThat(redis.ask("PSUBSCRIBE news:*")).isEqualTo(">[psubscribe, news:*, :3]");
    String missing = "-NOPERM nothing was done: a right is missing: ";
    assertThat(redis.ask("SUBSCRIBE news:b other")).isEqualTo(missing + "read shop other");
    assertThat(redis.ask("PSUBSCRIBE n*")).isEqualTo(missing + "read shop n");
    assertThat(redis.ask("PSUBSCRIBE *")).isEqualTo(missing + "read shop");
    assertThat(redis.ask("PUBLISH news:a m")).isEqualTo(missing + "write shop news:a");
    assertThat(redis.ask("PUBLISH news:sport m")).isEqualTo(":1");
    assertThat(redis.read()).isEqualTo(">[pmessage, news:*, news:sport, m]");
    assertThat(redis.ask("PUBSUB CHANNELS")).isEqualTo(missing + "read shop");
    assertThat(redis.ask("PUBSUB CHANNELS news:?")).isEqualTo("[news:a]");
    assertThat(redis.ask("PUBSUB NUMSUB news:a x")).isEqualTo(missing + "read shop x");
    redis.ask("SELECT 1");
    assertThat(redis.ask("SUBSCRIBE news:a")).isEqualTo(missing + "read carts news:a");
    assertThat(redis.ask("UNSUBSCRIBE news:a")).isEqualTo(">[unsubscribe, news:a, :3]");
  }

  @Test
  void userThatLosesARight_isClosedIfItSubscribesToWhatThatWasFor() throws Exception {
    grant("read shop news:", "read shop sport");
    RawRedis news = connect(false);
    RawRedis pattern = connect(false);
    RawRedis sport = connect(false);
    news.ask("SUBSCRIBE sport news:a");
    pattern.ask("PSUBSCRIBE news:*");
    sport.ask("SUBSCRIBE sport");
    news.read();
    grant("read shop sport", "write shop");
    assertThat(news.hasEnded()).isTrue();
    assertThat(pattern.hasEnded()).isTrue();
    assertThat(sport.ask("PING")).isEqualTo("[pong, ]");
    all.publish("shop", "sport".getBytes(StandardCharsets.UTF_8), new byte[] {'m'});
    assertThat(sport.read()).isEqualTo("[message, sport, m]");
  }
}
