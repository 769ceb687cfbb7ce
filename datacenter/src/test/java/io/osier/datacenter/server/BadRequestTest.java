package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Envelope;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What is wrong in one request harms no other one of its connection. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class BadRequestTest {
  @AutoClose private final TestCluster cluster = new TestCluster("eu");

  private static Request.Write increment(String key) {
    return write(key, CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  private static Request.Write write(String key, CrdtType type, Operation operation) {
    return Requests.write("shop", Key.of(key), type, operation);
  }

  private static Operation nested(int depth) {
    Operation operation = new Operation.Assign(Value.of("v"));
    CrdtType type = CrdtType.LWW_REGISTER;
    for (int i = 0; i < depth; i++) {
      operation = new Operation.UpdateFields(new FieldId("f", type), operation);
      type = CrdtType.OR_MAP;
    }
    return operation;
  }

  @Test
  void mapPathThatIsTooDeep_failsAlone() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    int requests = 1_000;
    for (int id = 1; id <= requests; id++) {
      all.writeBytes(
          RawClient.frame(
              id,
              id == requests / 2
                  ? write("deep", CrdtType.OR_MAP, nested(20))
                  : increment("c" + id % 10)));
    }
    try (RawClient client = new RawClient(cluster.clientPort("eu")).greet()) {
      client.send(all.toByteArray());
      Map<Long, Reply> replies = new TreeMap<>();
      for (int i = 0; i < requests; i++) {
        Envelope<Reply> reply = client.reply();
        replies.put(reply.id(), reply.message());
      }
      assertThat(replies).hasSize(requests);
      assertThat(replies.remove(500L)).is(Failed.with(ErrorCode.MALFORMED, "16 levels deep"));
      assertThat(replies.values()).allMatch(Reply.Done.class::isInstance);
    }
  }

  /** Whatever follows the id of a request, that request is answered, and so is the next. */
  @Test
  void damagedRequests_failAlone() throws IOException {
    byte[] good = ProtocolCodec.encode(1, write("map", CrdtType.OR_MAP, nested(3)));
    Random random = new Random(1);
    try (RawClient client = new RawClient(cluster.clientPort("eu")).greet()) {
      for (int i = 0; i < 300; i++) {
        byte[] bad = good.clone();
        switch (random.nextInt(3)) {
          case 0 -> bad = Arrays.copyOf(bad, 2 + random.nextInt(bad.length - 2)); // cut off
          case 1 -> bad = Arrays.copyOf(bad, bad.length + 1 + random.nextInt(10)); // too long
          default -> bad[2 + random.nextInt(bad.length - 2)] ^= (byte) (1 << random.nextInt(8));
        }
        client.send(RawClient.frame(bad)).send(RawClient.frame(2, new Request.Ping()));
        Reply first = client.reply().message();
        Reply second = client.reply().message(); // in any order
        assertThat(List.of(first, second)).anyMatch(Reply.Pong.class::isInstance);
      }
      client.send(RawClient.frame(3, increment("after")));
      assertThat(client.reply().message()).isInstanceOf(Reply.Done.class);
    }
  }

  private Reply answer(RawClient client, Request request) throws IOException {
    client.send(RawClient.frame(7, request));
    return client.reply().message();
  }

  private static Request.WriteAll batch(List<String> keys) {
    List<Request.Update> updates =
        keys.stream()
            .map(
                k -> new Request.Update(Key.of(k), CrdtType.PN_COUNTER, new Operation.Increment(1)))
            .toList();
    return new Request.WriteAll("shop", updates, VersionVector.EMPTY, 0);
  }

  private static Request.ReadAll read(List<String> keys) {
    List<Request.Fetch> reads =
        keys.stream()
            .map(k -> new Request.Fetch(Key.of(k), Optional.empty(), new Query.Whole()))
            .toList();
    return new Request.ReadAll("shop", reads, VersionVector.EMPTY, false, 0);
  }

  private static void refused(Reply reply, String words) {
    assertThat(reply).is(Failed.with(ErrorCode.INVALID_ARGUMENT, words));
  }

  @Test
  void batch_isOfOnePartition_andBounded() throws IOException {
    List<String> many = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      many.add("many" + i);
    }
    List<String> tooMany = Collections.nCopies(Request.BATCH_MAX + 1, "one");
    try (RawClient client = new RawClient(cluster.clientPort("eu")).greet()) {
      for (List<String> keys : List.of(List.<String>of(), tooMany)) {
        refused(answer(client, batch(keys)), "1 to 10000");
        refused(answer(client, read(keys)), "1 to 10000");
      }
      refused(answer(client, batch(many)), "one partition");
      refused(answer(client, read(many)), "one partition");
      Reply.All most =
          (Reply.All) answer(client, batch(Collections.nCopies(Request.BATCH_MAX, "one")));
      assertThat(most.parts()).hasSize(Request.BATCH_MAX).allMatch(Reply.Done.class::isInstance);
      Reply.All read = (Reply.All) answer(client, read(List.of("one")));
      assertThat(((Reply.Answer) read.parts().getFirst()).reading())
          .contains(new Reading.Count(Request.BATCH_MAX));
      Reply.All none = (Reply.All) answer(client, read(List.of("x".repeat(65))));
      assertThat(none.parts().getFirst()).is(Failed.with(ErrorCode.KEY_TOO_LARGE));
    }
  }

  private static ScanRequest scan(String from, String to, int limit, ScanRequest.Want want) {
    return new ScanRequest(
        "shop",
        Optional.of(Key.of(from)),
        Optional.of(Key.of(to)),
        Optional.empty(),
        new Query.Whole(),
        limit,
        want);
  }

  /** A place is no more than a key: none that is made up does any harm. */
  @Test
  void scan_isBounded_andItsPlaceMayBeAnyKey() throws IOException {
    try (RawClient client = new RawClient(cluster.clientPort("eu")).greet()) {
      for (int i = 0; i < 5; i++) {
        answer(client, increment("place" + i));
      }
      for (ScanRequest.Want want : ScanRequest.Want.values()) {
        refused(answer(client, scan("a", "z", 0, want)), "1 to 10000");
        refused(answer(client, scan("a", "z", 10_001, want)), "1 to 10000");
        refused(answer(client, scan("a", "z", Integer.MAX_VALUE, want)), "1 to 10000");
      }
      Reply.Page backwards = (Reply.Page) answer(client, scan("z", "a", 10, ScanRequest.Want.ROWS));
      assertThat(backwards.rows()).isEmpty();
      assertThat(backwards.next()).isEmpty();
      Reply.Counted none =
          (Reply.Counted) answer(client, scan("z", "a", 10, ScanRequest.Want.COUNT));
      assertThat(none.objects()).isZero();
      Reply.Page rest =
          (Reply.Page) answer(client, scan("place2x", "place4", 10, ScanRequest.Want.ROWS));
      assertThat(rest.rows().stream().map(row -> row.key().toString())).containsExactly("place3");
      Reply.Counted counted =
          (Reply.Counted) answer(client, scan("place", "placf", 1, ScanRequest.Want.COUNT));
      assertThat(counted.objects()).isEqualTo(5);
      Reply.Page known =
          (Reply.Page) answer(client, scan("place", "placf", 10, ScanRequest.Want.KNOWN));
      assertThat(known.rows()).as("in a session keyspace: what is there").hasSize(5);
    }
  }

  @Test
  void frameWithoutId_closesTheConnection() throws IOException {
    for (byte[] content : List.of(new byte[0], new byte[] {9, 1, 2}, new byte[] {1, -1})) {
      try (RawClient client = new RawClient(cluster.clientPort("eu")).greet()) {
        client.send(RawClient.frame(content));
        assertThat(client.isEnded()).isTrue();
      }
    }
  }

  @Test
  void greetingThatCannotBeRead_isAnsweredAndCloses() throws IOException {
    try (RawClient client = new RawClient(cluster.clientPort("eu"))) {
      client.send(RawClient.frame((byte) 1, (byte) 0, (byte) 99));
      assertThat(client.reply().message()).is(Failed.with(ErrorCode.MALFORMED));
      assertThat(client.isEnded()).isTrue();
    }
  }
}
