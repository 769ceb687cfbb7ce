package io.osier.proxy.watch;

import io.osier.core.Key;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.call.BatchCall;
import io.osier.proxy.call.BatchOutcome;
import io.osier.proxy.future.Calls;
import io.osier.proxy.session.SessionCore;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Reads the values of changed keys, some keys in a request, until all are read, the limit of bytes
 * is reached, or no key of a request can be read. A key that cannot be read has no value.
 */
public final class ChangedValues {
  /** The number of keys in one request. */
  public static final int KEYS_AT_ONCE = 32;

  private final SessionCore session;
  private final String keyspace;
  private final List<Key> keys;
  private final Map<Key, Found> found = new LinkedHashMap<>();
  private long bytesLeft;

  private ChangedValues(SessionCore session, String keyspace, List<Key> keys, long bytesMax) {
    this.session = session;
    this.keyspace = keyspace;
    this.keys = keys;
    this.bytesLeft = bytesMax;
  }

  /**
   * Reads what the changed keys hold, in a session that has seen the changes.
   *
   * @param bytesMax the bytes of keys and values after which no more are read; 0 to read nothing
   */
  public static CompletableFuture<Map<Key, Found>> of(
      SessionCore session, String keyspace, Reply.Changes told, long bytesMax) {
    List<Key> keys = told.changes().stream().map(c -> c.key()).distinct().toList();
    ChangedValues values = new ChangedValues(session, keyspace, keys, bytesMax);
    return Calls.oneByOne(0, values::isEnd, values::some).thenApply(end -> values.found);
  }

  private boolean isEnd(int next) {
    return next >= keys.size() || bytesLeft <= 0;
  }

  private CompletableFuture<Integer> some(int from) {
    int to = Math.min(keys.size(), from + KEYS_AT_ONCE);
    List<Keyspace.Get> reads = new ArrayList<>();
    for (Key key : keys.subList(from, to)) {
      reads.add(new Keyspace.Get(key, Optional.empty(), new Query.Whole()));
    }
    return BatchCall.read(session, keyspace, reads, true, BatchOutcome::found)
        .handle(
            (read, error) -> {
              boolean any = false;
              for (int i = 0; error == null && i < read.length; i++) {
                Found one = read[i];
                if (one != null) {
                  any = true;
                  take(keys.get(from + i), one);
                }
              }
              return any ? to : keys.size(); // unreachable, or given up
            });
  }

  private void take(Key key, Found one) {
    bytesLeft -= key.length() + one.reading().map(Reading::heapBytes).orElse(0L);
    found.put(key, one);
  }
}
