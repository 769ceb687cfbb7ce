package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.partition.Cluster;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.SessionPlans;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A session goes on at another datacenter. */
final class RedisSessionsTest {
  private final Cluster cluster =
      new Cluster(KeyspacePolicy.session("k", Duration.ofMillis(100)), "eu", "us");
  private final RedisNode eu = new RedisNode(cluster, "eu", 1);
  private final RedisNode us = new RedisNode(cluster, "us", 1);

  private String token() {
    return token(VersionVector.EMPTY);
  }

  private String token(VersionVector shown) {
    return Texted.text(eu.follow(() -> SessionPlans.token(List.of("k"), 1, (k, i) -> shown)))
        .substring(1);
  }

  private String after(String token, int millis) {
    return Texted.text(us.follow(() -> SessionPlans.after(token, Map.of("k", 1), millis)));
  }

  /** Else who goes on elsewhere by a token would read backwards. */
  @Test
  void token_namesWhatOtherHoldersHaveShown() {
    cluster.run(1_000);
    assertThat(after(token(VersionVector.of(new ReplicaId("ap", 1), 7)), 0)).startsWith("-BEHIND");
  }

  @Test
  void after_isAnsweredWhenAllIsHere_orTheTimeIsOver() {
    cluster.run(1_000);
    assertThat(after(token(), 0)).isEqualTo("+OK");
    cluster.cut("eu", "us");
    String before = token();
    eu.text("SET", "a", "v");
    String token = token();
    cluster.run(1_000);
    assertThat(after(before, 0)).isEqualTo("+OK");
    assertThat(after(token, 0)).startsWith("-BEHIND us has not yet received");
    assertThat(us.text("GET", "a")).isEqualTo("(nil)");
    cluster.heal("eu", "us");
    cluster.run(3_000);
    assertThat(after(token, 0)).isEqualTo("+OK");
    assertThat(us.text("GET", "a")).isEqualTo("$v");
  }

  @Test
  void token_ofAnotherCluster_isRefusedByName() {
    String token = token();
    assertThatThrownBy(() -> SessionPlans.after(token, Map.of("shop", 1), 0))
        .isInstanceOf(RedisException.class)
        .hasMessageContaining("of keyspace 'k', and no database here is that");
    assertThatThrownBy(() -> SessionPlans.after(token, Map.of("k", 8), 0))
        .isInstanceOf(RedisException.class)
        .hasMessageContaining(
            "of another cluster: keyspace 'k' has 1 partitions there, and 8 here");
    for (String none : new String[] {"", "x", token + "A", token.substring(2)}) {
      assertThatThrownBy(() -> SessionPlans.after(none, Map.of("k", 1), 0))
          .as(none)
          .isInstanceOf(OsierException.class)
          .hasMessageContaining("this is no session token");
    }
  }
}
