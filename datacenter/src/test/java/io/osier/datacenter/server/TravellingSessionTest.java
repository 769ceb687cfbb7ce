package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import io.osier.proxy.SessionOptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Sessions that are pinned, move by choice, and take their past along. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class TravellingSessionTest {
  @AutoClose
  private final TestCluster cluster =
      new TestCluster(
          "shop { sla = 400ms, partitions = 4 }, bank { consistency = causal, sla = 400ms }",
          new String[] {"eu", "us"});

  private final OsierClient client = cluster.client("eu");

  @Test
  void pinnedSession_staysWhereItIs_andMovesWhenToldTo_withItsPast() {
    Session session = client.session(SessionOptions.DEFAULT.at("us"));
    for (int i = 0; i < 40; i++) {
      session.pin(i % 2 == 0 ? "us" : "eu");
      session.keyspace("shop").counter("moving").increment(1);
      session.keyspace("bank").counter("moving").increment(1);
      assertThat(session.datacenter()).contains(i % 2 == 0 ? "us" : "eu");
      session.pin(i % 2 == 0 ? "eu" : "us");
      assertThat(session.keyspace("shop").counter("moving").get()).isEqualTo(i + 1);
      assertThat(session.keyspace("bank").counter("moving").get()).isEqualTo(i + 1);
    }
    session.unpin();
    session.keyspace("shop").counter("moving").get();
    assertThat(session.datacenter()).as("the preferred one").contains("eu");
    refused(ErrorCode.INVALID_ARGUMENT, () -> session.pin("mars"));
  }

  @Test
  void token_takesThePastOfAllPartitions_toAnotherClient() {
    try (OsierClient there = cluster.client("us")) {
      for (int round = 0; round < 20; round++) {
        Session here = client.session();
        for (int key = 0; key < 10; key++) {
          here.keyspace("shop").counter("token-" + key).increment(1);
        }
        here.keyspace("bank").counter("token").increment(1);
        Session other = there.session(SessionOptions.DEFAULT.at("us").after(here.token().encode()));
        for (int key = 0; key < 10; key++) {
          assertThat(other.keyspace("shop").counter("token-" + key).get()).isEqualTo(round + 1);
        }
        assertThat(other.keyspace("bank").counter("token").get()).isEqualTo(round + 1);
        assertThat(here.keyspace("bank").token().keyspaces()).containsExactly("bank");
        assertThat(other.token()).isNotEqualTo(client.session().token());
      }
    }
  }

  @Test
  void tokenOfAnotherNumberOfPartitions_isRefused() {
    Session session = client.session();
    session.keyspace("shop").counter("c").increment(1);
    String ofShop = session.keyspace("shop").token().encode();
    try (TestCluster elsewhere =
            new TestCluster("shop { sla = 400ms, partitions = 2 }", new String[] {"eu"});
        OsierClient stranger = elsewhere.client("eu")) {
      Session misled = stranger.session(SessionOptions.DEFAULT.after(ofShop));
      refused(ErrorCode.INVALID_ARGUMENT, () -> misled.keyspace("shop").counter("c").get());
      misled.forget();
      assertThat(misled.keyspace("shop").counter("c").get()).isZero();
    }
  }
}
