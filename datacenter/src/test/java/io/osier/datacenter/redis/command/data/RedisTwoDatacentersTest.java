package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.partition.Cluster;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What two datacenters do at the same time, and what both have afterwards. */
class RedisTwoDatacentersTest {
  private final Cluster cluster =
      new Cluster(KeyspacePolicy.session("k", Duration.ofMillis(100)), "eu", "us");
  private final RedisNode eu = new RedisNode(cluster, "eu", 1);
  private final RedisNode us = new RedisNode(cluster, "us", 1);

  private void settle() {
    cluster.run(1_000);
  }

  private static String text(RedisNode node, String call) {
    return node.text(call.split(" "));
  }

  /** What both answer. */
  private String both(String call) {
    String answer = text(eu, call);
    assertThat(text(us, call)).isEqualTo(answer);
    return answer;
  }

  @BeforeEach
  void both() {
    text(eu, "SET s 10");
    text(eu, "HSET h f 1 g 2");
    text(eu, "SADD t a b");
    settle();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          SET s a          | SET s b            | GET s          | $b
          INCR s           | INCRBY s 5         | GET s          | $16
          INCRBYFLOAT s 1.5 | INCRBYFLOAT s 2   | GET s          | $13.5
          SET s 20         | INCRBY s 5         | GET s          | $25
          APPEND s x       | APPEND s y         | GET s          | $10y
          SETRANGE s 0 x   | SETBIT s 0 1       | STRLEN s       | :2
          HSET h f a       | HSET h f b         | HGET h f       | $b
          HSET h f a       | HSET h e b         | HLEN h         | :3
          HINCRBY h f 1    | HINCRBY h f 5      | HGET h f       | $7
          HDEL h f         | HSET h f b         | HGET h f       | $b
          HDEL h f g       | HSET h e b         | HGETALL h      | [$e $b]
          SREM t a         | SADD t a           | SMEMBERS t     | [$a $b]
          SADD t c         | SADD t d           | SCARD t        | :4
          DEL s            | INCRBY s 5         | GET s          | $5
          DEL t            | SADD t c           | SMEMBERS t     | [$c]
          EXPIRE s 10      | EXPIRE s 500       | TTL s          | :499
          EXPIRE s 10      | EXPIRE s 20 NX     | TTL s          | :19
          HEXPIRE h 9 FIELDS 1 f | HEXPIRE h 500 FIELDS 1 f | HTTL h FIELDS 1 f | [:499]
          RENAME s r       | INCRBY s 5         | MGET s r       | [$5 $10]
          RENAME t u       | SADD t c           | SMEMBERS t     | [$c]
          """)
  void concurrentCommands_oneOutcome(String here, String there, String look, String expected) {
    text(eu, here);
    cluster.run(1); // the other one is later
    text(us, there);
    settle();
    assertThat(both(look)).isEqualTo(expected);
  }

  @Test
  void persistAndExpire_persistWins() {
    text(eu, "EXPIRE s 500");
    settle();
    text(eu, "PERSIST s");
    text(us, "EXPIRE s 900");
    settle();
    assertThat(both("TTL s")).isEqualTo(":-1");
  }

  @Test
  void poppedAtBoth_givenTwice() {
    text(eu, "SREM t b");
    settle();
    assertThat(text(eu, "SPOP t")).isEqualTo("$a");
    assertThat(text(us, "SPOP t")).isEqualTo("$a");
    settle();
    assertThat(both("EXISTS t")).isEqualTo(":0");
  }

  @Test
  void twoTypes_deletedTogether() {
    text(eu, "SADD n a");
    text(us, "SET n a");
    settle();
    assertThat(both("TYPE n")).isEqualTo("+set");
    assertThat(text(us, "DEL n")).isEqualTo(":1");
    settle();
    assertThat(both("TYPE n")).isEqualTo("+none");
  }

  @Test
  void claimedAtBoth_laterStays() {
    assertThat(text(eu, "SET lock eu NX")).isEqualTo("+OK");
    cluster.run(1);
    assertThat(text(us, "SET lock us NX")).isEqualTo("+OK"); // it has not come yet
    settle();
    assertThat(both("GET lock")).isEqualTo("$us");
  }
}
