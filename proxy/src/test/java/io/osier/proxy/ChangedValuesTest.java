package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.session.SessionCore;
import io.osier.proxy.watch.ChangedValues;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is read of the keys of changes, and when reading ends. */
final class ChangedValuesTest {
  private static final int CHANGES = 5 * ChangedValues.KEYS_AT_ONCE;

  private final FakeInProcess eu = new FakeInProcess();
  private final OsierClient client = OsierClient.inProcess(eu);
  private final List<Key> asked = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    client.close();
  }

  private Map<Key, Found> read(Function<Request.Fetch, Reply> answer) {
    eu.handler =
        (request, reply) -> {
          if (request instanceof Request.ReadAll all) {
            all.reads().forEach(read -> asked.add(read.key()));
            reply.accept(new Reply.All(all.reads().stream().map(answer).toList()));
          }
        };
    List<Reply.Change> changes =
        IntStream.range(0, CHANGES)
            .mapToObj(i -> new Reply.Change(Key.of("k" + i), Optional.empty(), Optional.empty()))
            .toList();
    return ChangedValues.of(
            new SessionCore(client.core(), Optional.empty()),
            "shop",
            new Reply.Changes(changes, List.of(), true),
            1 << 20)
        .join();
  }

  private static Reply seven() {
    return new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(7), VersionVector.EMPTY);
  }

  @Test
  void whereOneCannotBeRead_theOthersAre() {
    Reply failure = new Reply.Failure(ErrorCode.FORBIDDEN, "not this one");
    Map<Key, Found> found = read(f -> f.key().equals(Key.of("k3")) ? failure : seven());
    assertThat(found).hasSize(CHANGES - 1).doesNotContainKey(Key.of("k3"));
    assertThat(asked).hasSize(CHANGES);
  }

  /** Each of them may take the whole time of a call, and the changes wait for it. */
  @Test
  void whereNoneCanBeRead_noMoreAreAskedFor() {
    assertThat(read(f -> new Reply.Failure(ErrorCode.FORBIDDEN, "none"))).isEmpty();
    assertThat(asked).hasSize(ChangedValues.KEYS_AT_ONCE);
  }
}
