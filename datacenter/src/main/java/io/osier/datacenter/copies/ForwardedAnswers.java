package io.osier.datacenter.copies;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.datacenter.forward.AnswerWitness;
import io.osier.datacenter.forward.Forwardable;
import io.osier.datacenter.forward.ShownVersions;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;

/** What copies learn of each answer to a forwarded request: what it shows, and that it was read. */
public record ForwardedAnswers(Copies copies) implements AnswerWitness {
  @Override
  public void answered(
      String dc, Request request, Optional<Integer> partition, Reply reply, int size) {
    String keyspace = Forwardable.keyspace(request).orElse(null);
    if (keyspace == null) {
      return;
    }
    if (reply instanceof Reply.Failure f) {
      if (f.code() == ErrorCode.SESSION_LOST && partition.isPresent()) {
        copies.lost(keyspace, partition.get());
      }
      return;
    }
    partition.ifPresent(p -> copies.answered(dc, keyspace, p));
    List<Key> keys = Forwardable.keys(request);
    if (partition.isEmpty()) {
      int each = 0;
      for (VersionVector seen : ShownVersions.seenOfAll(reply)) {
        copies.shown(keyspace, each++, seen);
      }
    } else {
      copies.shown(keyspace, partition.get(), Forwardable.after(request));
      if (keys.isEmpty()) {
        copies.shown(keyspace, partition.get(), ShownVersions.seen(reply));
      } else {
        copies.shown(keyspace, keys, ShownVersions.seen(reply));
      }
    }
    if (request instanceof Request.Read read && reply instanceof Reply.Answer answer) {
      copies.read(read, dc, answer, size);
    }
  }
}
