package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.propagation.host.StreamSettings;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a snapshot shows of an object that everybody has forgotten is still found by a scan. */
final class DroppedObjectsTest {
  private static final StreamSettings FORGET_AT_ONCE =
      new StreamSettings(1 << 20, 1 << 16, 1_000, 200, 1_000, 0);

  private final Cluster cluster =
      new Cluster(
          KeyspacePolicy.causal("k", Duration.ofMillis(100)).withHistory(Duration.ofSeconds(2)),
          FORGET_AT_ONCE,
          "eu",
          "us");
  private final Cluster.Dc eu = cluster.dc("eu");
  private final TransactionId open = new TransactionId(7, 7);

  private List<String> dropped(String from, String to, int limit) {
    long ticket =
        eu.submit(
            new ScanRequest(
                "k",
                Optional.of(Key.of(from)),
                Optional.of(Key.of(to)),
                Optional.empty(),
                new Query.Exists(),
                limit,
                ScanRequest.Want.KNOWN));
    Reply.Page page = (Reply.Page) requireNonNull(eu.replies.get(ticket));
    assertThat(page.rows()).allMatch(row -> row.reading().equals(new Reading.Flag(false)));
    List<String> keys = page.rows().stream().map(row -> row.key() + ":" + row.type()).toList();
    return page.next().isEmpty()
        ? keys
        : java.util.stream.Stream.concat(keys.stream(), page.next().map(k -> "… " + k).stream())
            .toList();
  }

  private void make(String key) {
    eu.write(key, CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  private void clear(String key) {
    eu.write(key, CrdtType.PN_COUNTER, new Operation.Clear());
  }

  private boolean isStored(String key) {
    return eu.store.get(new ObjectId(Key.of(key), CrdtType.PN_COUNTER)) != null;
  }

  @Test
  void droppedObject_isToldOf_asLongAsASnapshotMayShowIt() {
    for (String key : List.of("a", "b", "c", "d")) {
      make(key);
    }
    cluster.run(1_000);
    eu.transact(open, 1, Request.End.OPEN);
    assertThat(dropped("a", "z", 10)).isEmpty();
    for (String key : List.of("b", "c", "d")) {
      clear(key);
    }
    cluster.run(10_000); // beyond the history: the open transaction alone keeps it
    assertThat(isStored("b")).as("the store has forgotten it").isFalse();
    assertThat(dropped("a", "z", 10)).containsExactly("b:counter", "c:counter", "d:counter");
    assertThat(dropped("b", "d", 10)).containsExactly("b:counter", "c:counter");
    assertThat(dropped("a", "z", 2)).containsExactly("b:counter", "c:counter", "… d");
    Reply.Transacted read = (Reply.Transacted) eu.transact(open, 2, Request.End.OPEN);
    assertThat(read.answers()).isEmpty();
    eu.transact(open, 3, Request.End.ABORT);
    cluster.run(3_000);
    assertThat(dropped("a", "z", 10)).as("nobody can see it any more").isEmpty();
  }

  @Test
  void sessionKeyspace_hasNone() {
    Cluster session =
        new Cluster(
            KeyspacePolicy.session("k", Duration.ofMillis(100)), FORGET_AT_ONCE, "eu", "us");
    long ticket =
        session
            .dc("eu")
            .submit(
                new ScanRequest(
                    "k",
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    new Query.Exists(),
                    10,
                    ScanRequest.Want.KNOWN));
    Reply.Page page = (Reply.Page) requireNonNull(session.dc("eu").replies.get(ticket));
    assertThat(page.rows()).isEmpty();
  }
}
