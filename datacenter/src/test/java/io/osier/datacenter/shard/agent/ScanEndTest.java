package io.osier.datacenter.shard.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.crdt.Query;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.host.StoredObjects;
import io.osier.protocol.Reply;
import io.osier.protocol.ScanRequest;
import io.osier.testing.Faked;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What lies behind a scan's end is nobody's business, and may be the tombstones of a million. */
final class ScanEndTest {
  private final List<Object> ends = new ArrayList<>();

  private ObjectStore store() {
    return Faked.of(
        ObjectStore.class,
        (proxy, method, arguments) -> {
          if (method.getName().equals("pageDurable")) {
            ends.add(arguments[1]);
            return new StoredObjects.Page(List.of(), true);
          }
          return null;
        });
  }

  @Test
  void scan_tellsEachPartitionsStoreWhereItEnds() {
    for (ScanRequest.Want want : List.of(ScanRequest.Want.ROWS, ScanRequest.Want.COUNT)) {
      Optional<Key> to = Optional.of(Key.of("b"));
      ScanRequest scan =
          new ScanRequest(
              "shop", Optional.of(Key.of("a")), to, Optional.empty(), new Query.Exists(), 10, want);
      Reply reply = KeyspaceScan.of(List.of(store(), store()), scan, () -> 0);
      assertThat(reply).isNotInstanceOf(Reply.Failure.class);
      assertThat(ends).isEqualTo(List.of(to, to));
      ends.clear();
    }
  }
}
