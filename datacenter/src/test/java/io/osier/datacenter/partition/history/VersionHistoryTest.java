package io.osier.datacenter.partition.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.partition.Cluster;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Snapshots of the past, for clocks of every kind. */
final class VersionHistoryTest {
  private static Request.Update assign(String key, long value) {
    return new Request.Update(
        Key.of(key), CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(value)));
  }

  private static List<Long> values(Reply reply) {
    List<Long> values = new ArrayList<>();
    for (Reply.Answer answer : ((Reply.Transacted) reply).answers()) {
      Reading.Single single = (Reading.Single) answer.reading().orElseThrow();
      values.add(single.value().map(v -> ((Value.Int) v).content()).orElse(0L));
    }
    return values;
  }

  @Test
  void clockThatEndsWithinATransaction_showsAllOfIt() {
    // Whoever reads one object of a transaction has seen its number, and not the transaction's
    // last.
    Cluster cluster =
        new Cluster(KeyspacePolicy.causal("k", Duration.ofMillis(100)), "eu", "us", "ap");
    Cluster.Dc eu = cluster.dc("eu");
    for (long i = 1; i <= 4; i++) {
      eu.transact(assign("a", i), assign("b", i), assign("c", i));
      eu.write("a", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(i * 10)));
      cluster.run(300);
    }
    for (int number = 1; number <= 16; number++) {
      long transaction = (number + 3L) / 4;
      long a = number % 4 == 0 ? transaction * 10 : transaction;
      assertThat(values(eu.past(VersionVector.of(eu.self, number), "a", "b", "c")))
          .as("at %d", number)
          .containsExactly(a, transaction, transaction);
      for (String dc : List.of("us", "ap")) {
        List<Long> there =
            values(cluster.dc(dc).past(VersionVector.of(eu.self, number), "a", "b", "c"));
        assertThat(there.get(1)).as("at %d, %s", number, dc).isEqualTo(transaction);
        assertThat(there.get(2)).isEqualTo(transaction);
        assertThat(there.get(0)).isIn(a, transaction * 10);
      }
    }
  }
}
