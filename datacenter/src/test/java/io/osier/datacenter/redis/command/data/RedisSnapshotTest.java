package io.osier.datacenter.redis.command.data;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.partition.Cluster;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.CommandList;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.transaction.Snapshot;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Transactions of several steps, OSIER.BEGIN to OSIER.COMMIT. */
final class RedisSnapshotTest {
  private static final int LIMIT_MILLIS = 5_000;

  private final Cluster cluster =
      new Cluster(KeyspacePolicy.causal("k", Duration.ofMillis(100)), "eu", "us");
  private final RedisNode eu = new RedisNode(cluster, "eu", 1);
  private final RedisNode us = new RedisNode(cluster, "us", 1);
  private final Snapshot snapshot = new Snapshot();
  private long ids;

  private static String text(RedisNode node, String call) {
    return node.text(call.split(" "));
  }

  /** What the connection is answered that has the transaction. */
  private String within(String call) {
    String[] words = call.split(" ");
    return Texted.text(
        eu.follow(
            () -> {
              snapshot.check(command(words[0]));
              return switch (words[0]) {
                case "OSIER.BEGIN" ->
                    snapshot.begin("k", new TransactionId(0, ++ids), LIMIT_MILLIS);
                case "OSIER.COMMIT" -> snapshot.end(Request.End.COMMIT);
                case "OSIER.ABORT" -> snapshot.end(Request.End.ABORT);
                case "RESET" -> snapshot.abandon(() -> new Plan.Answer(RespValue.OK));
                default -> {
                  assertThat(snapshot.takes(command(words[0]))).isTrue();
                  yield snapshot.within(planned(words));
                }
              };
            }));
  }

  private static RedisCommand command(String name) {
    return CommandList.named(name, (scope, words) -> Plan.ok());
  }

  private Plan planned(String... words) {
    byte[][] bytes = Stream.of(words).map(w -> w.getBytes(ISO_8859_1)).toArray(byte[][]::new);
    return RedisNode.command(words[0]).does().plan(eu.scope(), bytes);
  }

  @Test
  void steps_seeTheSnapshotAndTheirOwn_andOthersSeeThemTogetherOnceCommitted() {
    text(eu, "INCR a");
    assertThat(within("OSIER.BEGIN")).isEqualTo("+OK");
    text(eu, "INCR a");
    assertThat(within("OSIER.READ string get a")).isEqualTo("$1");
    assertThat(within("OSIER.UPDATE counter incr b 5")).isEqualTo("+OK");
    assertThat(within("OSIER.UPDATE map set c f=x")).isEqualTo("+OK");
    assertThat(within("OSIER.READ counter get b")).isEqualTo(":5");
    assertThat(text(eu, "EXISTS b c")).isEqualTo(":0");
    assertThat(within("OSIER.COMMIT")).isEqualTo("+OK");
    assertThat(text(eu, "MGET a b")).isEqualTo("[$2 $5]");
    assertThat(text(eu, "HGET c f")).isEqualTo("$x");
    cluster.run(2_000);
    assertThat(text(us, "MGET a b")).isEqualTo("[$2 $5]");
    assertThat(within("OSIER.COMMIT")).startsWith("-ERR no transaction is open");
  }

  @Test
  void abort_forgetsAll_andAnotherOneCanBegin() {
    within("OSIER.BEGIN");
    within("OSIER.UPDATE counter incr b 5");
    assertThat(within("OSIER.ABORT")).isEqualTo("+OK");
    assertThat(text(eu, "EXISTS b")).isEqualTo(":0");
    assertThat(within("OSIER.BEGIN")).isEqualTo("+OK");
    assertThat(within("OSIER.COMMIT")).isEqualTo("+OK");
  }

  @Test
  void stepThatFails_isNotDone_andTheNextOneIs() {
    text(eu, "OSIER.BCREATE stock 0 - 4");
    cluster.run(1_000);
    within("OSIER.BEGIN");
    assertThat(within("OSIER.BDECR stock 9")).startsWith("-NORIGHTS");
    assertThat(within("OSIER.UPDATE counter incr k x"))
        .isEqualTo("-ERR 'x' must be a whole number");
    assertThat(within("OSIER.BDECR stock")).isEqualTo(":3");
    assertThat(within("OSIER.COMMIT")).isEqualTo("+OK");
    assertThat(text(eu, "OSIER.READ bcounter get stock")).isEqualTo(":3");
  }

  @Test
  void reset_endsTheTransactionAtOnce() {
    assertThat(within("RESET")).isEqualTo("+OK");
    within("OSIER.BEGIN");
    within("OSIER.UPDATE counter incr b 5");
    Snapshot sameOne = new Snapshot();
    Texted.text(eu.follow(() -> sameOne.begin("k", new TransactionId(0, ids), LIMIT_MILLIS)));
    assertThat(sameOne.takes(command("OSIER.READ"))).as("as long as it is open").isFalse();
    assertThat(within("RESET")).isEqualTo("+OK");
    assertThat(snapshot.takes(command("OSIER.READ"))).isFalse();
    String again =
        Texted.text(eu.follow(() -> sameOne.begin("k", new TransactionId(0, ids), LIMIT_MILLIS)));
    assertThat(again).startsWith("-ERR transaction ").contains("aborted");
    assertThat(text(eu, "EXISTS b")).isEqualTo(":0");
  }

  @Test
  void updatesWithWordsInFront_dependOnTheSnapshotAndTheirOwn() {
    text(eu, "OSIER.UPDATE register set r 1");
    within("OSIER.BEGIN");
    text(eu, "OSIER.UPDATE register set r 2");
    assertThat(within("OSIER.UPDATE ifvalue 2 register set r 3")).isEqualTo("(nil)");
    assertThat(within("OSIER.UPDATE ifvalue 1 register set r 4")).isEqualTo("+OK");
    assertThat(within("OSIER.UPDATE returning register set r 5")).isEqualTo(":4");
    assertThat(within("OSIER.UPDATE ifabsent counter incr c 5")).isEqualTo("+OK");
    assertThat(within("OSIER.UPDATE ifabsent counter incr c 5")).isEqualTo("(nil)");
    assertThat(within("OSIER.UPDATE returning counter incr c 2")).isEqualTo(":7");
    assertThat(within("OSIER.COMMIT")).isEqualTo("+OK");
    assertThat(text(eu, "OSIER.READ register get r")).isEqualTo(":5");
    assertThat(text(eu, "OSIER.READ counter get c")).isEqualTo(":7");
  }

  @Test
  void commandThatIsNoStep_isRefused() {
    within("OSIER.BEGIN");
    for (String call : new String[] {"GET", "SET", "MULTI", "SELECT", "OSIER.BEGIN"}) {
      assertThat(within(call)).as(call).contains("is no step of a transaction");
    }
    assertThat(within("OSIER.READ counter get b")).isEqualTo(":0");
  }

  @Test
  void transactionWhoseTimeIsOver_hasEnded() {
    within("OSIER.BEGIN");
    within("OSIER.UPDATE counter incr b 5");
    cluster.run(LIMIT_MILLIS + 1_000);
    assertThat(within("OSIER.COMMIT")).startsWith("-ERR transaction ").contains("ran out");
    assertThat(within("OSIER.COMMIT")).startsWith("-ERR no transaction is open");
    assertThat(text(eu, "EXISTS b")).isEqualTo(":0");
  }

  @Test
  void begin_inASessionKeyspace_isRefused() {
    RedisNode node = RedisNode.alone();
    String answer =
        Texted.text(node.follow(() -> snapshot.begin("k", new TransactionId(0, 1), LIMIT_MILLIS)));
    assertThat(answer).startsWith("-ERR ").contains("causal");
    assertThat(snapshot.takes(command("OSIER.READ"))).isFalse();
  }
}
