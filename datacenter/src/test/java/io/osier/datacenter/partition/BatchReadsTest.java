package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.StoredKey;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An answer to a batch of reads is bounded, and holds one part at least. */
final class BatchReadsTest {
  private static CrdtState register(int bytes) {
    CrdtState none = CrdtState.bottom(CrdtType.LWW_REGISTER);
    Operation assign = new Operation.Assign(Value.of(new byte[bytes]));
    return none.join(none.prepare(assign, new ReplicaId("eu", 1), 1, 0, 1, 0));
  }

  private static StoredKey key(CrdtState state) {
    return () -> List.of(state);
  }

  private static Request.Fetch read(String key, Query query) {
    return new Request.Fetch(Key.of(key), Optional.empty(), query);
  }

  @Test
  void answer_endsBeforeItIsTooLarge() {
    StoredKey large = key(register(1_000_000));
    List<Request.Fetch> whole = Collections.nCopies(20, read("k", new Query.Whole()));
    assertThat(Reads.all(whole, key -> large, () -> 0).parts()).hasSizeBetween(3, 4);
    List<Request.Fetch> bare = Collections.nCopies(20, read("k", new Query.Exists()));
    assertThat(Reads.all(bare, key -> large, () -> 0).parts())
        .as("values take no room")
        .hasSize(20);
  }

  @Test
  void partThatIsTooLarge_isAlone() {
    StoredKey huge = key(register(10_000_000));
    StoredKey small = key(register(1));
    List<Request.Fetch> reads = new ArrayList<>();
    reads.add(read("small", new Query.Whole()));
    reads.add(read("huge", new Query.Whole()));
    reads.add(read("small", new Query.Whole()));
    Reply.All first = Reads.all(reads, key -> key.equals(Key.of("huge")) ? huge : small, () -> 0);
    assertThat(first.parts()).hasSize(1);
    Reply.All second =
        Reads.all(reads.subList(1, 3), key -> key.equals(Key.of("huge")) ? huge : small, () -> 0);
    assertThat(second.parts()).hasSize(1);
  }

  @Test
  void partThatCannotBeRead_failsByItself() {
    StoredKey register = key(register(1));
    List<Reply> parts =
        Reads.all(
                List.of(
                    read("k", new Query.Whole()),
                    read("k", new Query.Size()),
                    read("k", new Query.Exists())),
                key -> register,
                () -> 0)
            .parts();
    assertThat(parts.get(0)).isInstanceOf(Reply.Answer.class);
    assertThat(parts.get(1)).isInstanceOf(Reply.Failure.class);
    assertThat(parts.get(2)).isInstanceOf(Reply.Answer.class);
  }
}
