package io.osier.datacenter.shard;

import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The parts of a batch that were refused before the others were executed, by their index from 0.
 * Immutable.
 */
public record RefusedParts(SortedMap<Integer, Reply.Failure> parts) {
  public static final RefusedParts NONE = new RefusedParts(new TreeMap<>());

  /** Returns the other parts of a {@link Request.ReadAll} or {@link Request.WriteAll}. */
  public Request without(Request batch) {
    if (parts.isEmpty()) {
      return batch;
    }
    return switch (batch) {
      case Request.ReadAll r ->
          new Request.ReadAll(
              r.keyspace(), others(r.reads()), r.after(), r.ordered(), r.waitMillis());
      case Request.WriteAll w ->
          new Request.WriteAll(w.keyspace(), others(w.updates()), w.after(), w.waitMillis());
      default -> throw new IllegalArgumentException("no batch: " + batch);
    };
  }

  private <T> List<T> others(List<T> all) {
    List<T> others = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      if (!parts.containsKey(i)) {
        others.add(all.get(i));
      }
    }
    return others;
  }

  /** Returns a receiver that puts the refusals between the answers to the other parts. */
  public Consumer<Reply> with(Consumer<Reply> reply) {
    return parts.isEmpty()
        ? reply
        : answer -> reply.accept(answer instanceof Reply.All others ? together(others) : answer);
  }

  /** Puts the answers together; ends at the first part that was not answered. */
  private Reply.All together(Reply.All others) {
    List<Reply> all = new ArrayList<>();
    int next = 0;
    while (true) {
      Reply.Failure refused = parts.get(all.size());
      if (refused != null) {
        all.add(refused);
      } else if (next < others.parts().size()) {
        all.add(others.parts().get(next++));
      } else {
        return new Reply.All(all);
      }
    }
  }
}
