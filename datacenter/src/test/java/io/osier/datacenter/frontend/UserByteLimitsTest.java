package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.server.RawClient;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the requests of one user that are under way may take. */
final class UserByteLimitsTest extends UserLimitsFixture {
  @Test
  void bytesUnderWay_areCounted_alsoOfWhatIsStillComing() throws Exception {
    ClientServer server = server(limits(MANY, MANY, 200_000));
    RawClient first = connect(server).greet();
    RawClient cart = cart(server);
    for (int id = 1; id <= 3; id++) {
      int sent = id;
      first.send(write(id, 60_000)); // one after the other: what lies in its buffer counts, too
      await().until(() -> waiting.size() == sent);
    }
    for (int bytes : new int[] {60_000, 150_000}) {
      first.send(write(9, bytes));
      refused(
          first.reply().message(),
          ErrorCode.OVERLOADED,
          "all of user 'default' that are under way may have 200000 bytes",
          "osier.user-limits.bytes");
    }
    first.send(write(9, 300_000));
    refused(first.reply().message(), ErrorCode.VALUE_TOO_LARGE, "osier.user-limits.bytes");
    // Half of a large one is not answered, and counts.
    byte[] large = write(1, 190_000);
    cart.send(Arrays.copyOf(large, 180_000));
    await().until(() -> bytesOf(server, "cart") > 60_000);
    RawClient alsoCart = cart(server);
    alsoCart.send(write(2, 190_000));
    refused(alsoCart.reply().message(), ErrorCode.OVERLOADED, "user 'cart'");
    assertServed(alsoCart);
    assertThat(server.figures().limited()).containsEntry("bytes", 4L);
    waiting.forEach(reply -> reply.accept(new Reply.Pong()));
    for (int i = 0; i < 3; i++) {
      assertThat(first.reply().message()).isEqualTo(new Reply.Pong());
    }
    assertServed(first);
  }

  /** It is not open anywhere, and nobody would say so. */
  @Test
  void transactionThatFindsNoRoom_leavesNothing() throws Exception {
    ClientServer server = server(limits(MANY, 2, 200_000));
    RawClient client = connect(server).greet();
    client.send(begin(1, 190_000));
    await().until(() -> waiting.size() == 1);
    assertThat(access.transactionsKept()).isOne();
    client.send(begin(2, 50_000));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.bytes");
    assertThat(access.transactionsKept()).isOne();
    client.send(begin(3, 1));
    await().until(() -> waiting.size() == 2);
    client.send(begin(4, 1));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.requests");
    assertThat(access.transactionsKept()).isEqualTo(2);
  }

  /** Three bytes of a key are a hundred in the heap. */
  @Test
  void requestThatIsLargerInTheHeap_countsWhatItTakesThere() throws Exception {
    ClientServer server = server(limits(MANY, MANY, 1_500_000));
    List<Request.Fetch> reads = new ArrayList<>();
    for (int i = 0; i < Request.BATCH_MAX; i++) {
      reads.add(
          new Request.Fetch(
              Key.of(String.valueOf(i % 900 + 100)), Optional.empty(), new Query.Exists()));
    }
    Request.ReadAll batch = new Request.ReadAll("shop", reads, VersionVector.EMPTY, false, 0);
    byte[] frame = RawClient.frame(1, batch);
    assertThat(20L * frame.length).isGreaterThan(MessageHeap.bytes(batch));
    assertThat(5L * frame.length).isLessThan(MessageHeap.bytes(batch));
    RawClient client = connect(server).greet();
    client.send(frame);
    await().until(() -> waiting.size() == 1);
    assertThat(bytesOf(server, "default")).isGreaterThan(MessageHeap.bytes(batch));
    client.send(frame);
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.bytes");
    assertServed(client);
    waiting.peek().accept(new Reply.Pong());
    assertThat(client.reply().message()).isEqualTo(new Reply.Pong());
    assertThat(bytesOf(server, "default")).isZero();
  }

  /** As it was with its bytes alone: what may come must not be too large once it has come. */
  @Test
  void requestThatIsLargerInTheHeapThanAllThereIs_isTakenAlone() throws Exception {
    ClientServer server = server(limits(MANY, MANY, 100_000));
    List<Request.Fetch> reads =
        Collections.nCopies(
            5_000, new Request.Fetch(Key.of("key"), Optional.empty(), new Query.Exists()));
    RawClient client = connect(server).greet();
    client.send(
        RawClient.frame(1, new Request.ReadAll("shop", reads, VersionVector.EMPTY, false, 0)));
    await().until(() -> waiting.size() == 1);
    assertThat(bytesOf(server, "default")).isEqualTo(100_000);
    client.send(write(2, 1));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.bytes");
    waiting.poll().accept(new Reply.Pong());
    assertThat(client.reply().message()).isEqualTo(new Reply.Pong());
    assertServed(client);
  }

  private static long bytesOf(ClientServer server, String user) {
    return server.figures().users().stream()
        .filter(u -> u.user().equals(user))
        .mapToLong(Snapshot.UserLoad::bytes)
        .sum();
  }
}
