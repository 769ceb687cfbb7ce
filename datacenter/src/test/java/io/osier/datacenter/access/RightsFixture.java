package io.osier.datacenter.access;

import io.osier.core.Grant;
import io.osier.core.Grant.Right;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Users with rights, and requests that need some. */
abstract class RightsFixture {
  static Request.Transact step(int number, List<Key> updates, List<Key> reads, Request.End end) {
    return new Request.Transact(
        "shop",
        new TransactionId(1, 2),
        number,
        number == 1
            ? Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 1_000))
            : Optional.empty(),
        updates.stream()
            .map(k -> new Request.Update(k, CrdtType.PN_COUNTER, new Operation.Increment(1)))
            .toList(),
        reads.stream().map(k -> new Request.Fetch(k, Optional.empty(), new Query.Whole())).toList(),
        end);
  }

  static User writer(String name, String... prefixes) {
    List<Grant> grants = new ArrayList<>();
    for (String prefix : prefixes) {
      grants.add(Grant.on(Right.WRITE, "shop", Key.of(prefix)));
    }
    return new User(name, Optional.empty(), grants);
  }
}
