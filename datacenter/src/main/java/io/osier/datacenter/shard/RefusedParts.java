package io.osier.datacenter.shard;

import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Parts of a batch that are refused before the others are done, by their numbers from 0. Immutable.
 */
public record RefusedParts(SortedMap<Integer, Reply.Failure> parts) {
  public static final RefusedParts NONE = new RefusedParts(new TreeMap<>());

  /** What is left of a {@link Request.ReadAll} or {@link Request.WriteAll}. */
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

  /** Puts what is refused between what the others are answered. */
  public Consumer<Reply> with(Consumer<Reply> reply) {
    return parts.isEmpty()
        ? reply
        : answer -> reply.accept(answer instanceof Reply.All others ? together(others) : answer);
  }

  /** Ends where the next one was not answered. */
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
