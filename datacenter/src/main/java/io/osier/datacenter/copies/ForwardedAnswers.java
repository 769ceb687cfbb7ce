package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.datacenter.forward.AnswerWitness;
import io.osier.datacenter.forward.Forwardable;
import io.osier.datacenter.forward.ShownVersions;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;

/** What copies learn of each answer to a forwarded request: what it shows, and that it was read. */
public record ForwardedAnswers(Copies copies) implements AnswerWitness {
  @Override
  public void answered(String dc, Request request, Reply reply, int size) {
    String keyspace = Forwardable.keyspace(request).orElse(null);
    if (keyspace == null || reply instanceof Reply.Failure) {
      return;
    }
    List<Key> keys = Forwardable.keys(request);
    if (keys.isEmpty()) {
      int partition = 0;
      for (VersionVector seen : ShownVersions.seenOfAll(reply)) {
        copies.shown(keyspace, partition++, seen);
      }
    } else {
      copies.shown(keyspace, keys, Forwardable.after(request), ShownVersions.seen(reply));
    }
    if (request instanceof Request.Read read && reply instanceof Reply.Answer answer) {
      copies.read(read, dc, answer, size);
    }
  }
}
