package io.osier.datacenter.redis.command;

import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.EncodedText;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.SeenText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiFunction;

/**
 * The plans of OSIER.TOKEN and OSIER.AFTER, by which a session goes on at another datacenter; the
 * tokens are those of Osier's own clients. Static, for any thread.
 */
public final class SessionPlans {
  private SessionPlans() {}

  /**
   * Returns a plan that answers a token. The token names everything that the database shows here,
   * or at the holders that are asked: the session can have seen no more.
   *
   * @param keyspaces the database's homes, or its one keyspace
   * @param partitions the number of partitions of each
   * @param shown returns, by keyspace and partition, what other holders have shown to clients here
   */
  public static Plan token(
      List<String> keyspaces, int partitions, BiFunction<String, Integer, VersionVector> shown) {
    List<ProgressRequest.Through> asked = new ArrayList<>(keyspaces.size() * partitions);
    for (String keyspace : keyspaces) {
      for (int i = 0; i < partitions; i++) {
        asked.add(new ProgressRequest.Through(keyspace, i));
      }
    }
    return new Plan.Ask(
        List.copyOf(asked), replies -> new Plan.Answer(token(asked, replies, shown)));
  }

  private static RespValue token(
      List<ProgressRequest.Through> asked,
      List<Reply> replies,
      BiFunction<String, Integer, VersionVector> shown) {
    SortedMap<String, List<VersionVector>> seen = new TreeMap<>();
    for (int i = 0; i < asked.size(); i++) {
      if (replies.get(i) instanceof Reply.Failure failure) {
        return RedisErrors.of(failure);
      }
      ProgressRequest.Through of = asked.get(i);
      VersionVector through = ((Reply.Through) replies.get(i)).through();
      seen.computeIfAbsent(of.keyspace(), k -> new ArrayList<>())
          .add(through.join(shown.apply(of.keyspace(), of.partition())));
    }
    byte[] bytes = SeenText.bytes(seen);
    return bytes.length > EncodedText.BYTES_MAX
        ? new RespValue.Err("ERR a token of keyspace '" + seen.firstKey() + "' is too long")
        : RespValue.Bulk.of(EncodedText.of(bytes));
  }

  /**
   * Returns a plan that waits until everything is visible here that a token names.
   *
   * @param partitions the number of partitions of each keyspace that may be asked here
   * @param millis the longest wait, in milliseconds
   * @throws RedisException if the token is of another cluster, or no token
   */
  public static Plan after(String token, Map<String, Integer> partitions, int millis) {
    SortedMap<String, List<VersionVector>> seen = SeenText.read(token, "OSIER.TOKEN");
    List<Request> asked = new ArrayList<>();
    seen.forEach(
        (keyspace, vectors) -> {
          Integer here = partitions.get(keyspace);
          if (here == null) {
            throw new RedisException(
                "ERR the token is of keyspace '" + keyspace + "', and no database here is that");
          }
          if (here != vectors.size()) {
            throw new RedisException(
                "ERR the token is of another cluster: keyspace '"
                    + keyspace
                    + "' has "
                    + vectors.size()
                    + " partitions there, and "
                    + here
                    + " here");
          }
          for (int i = 0; i < here; i++) {
            if (!vectors.get(i).isEmpty()) {
              asked.add(new ProgressRequest.Reach(keyspace, i, vectors.get(i), millis));
            }
          }
        });
    return asked.isEmpty()
        ? new Plan.Answer(RespValue.OK)
        : new Plan.Ask(asked, replies -> new Plan.Answer(reached(replies)));
  }

  private static RespValue reached(List<Reply> replies) {
    for (Reply reply : replies) {
      if (reply instanceof Reply.Failure failure) {
        return failure.code() == ErrorCode.SESSION_BEHIND
            ? new RespValue.Err("BEHIND " + failure.message())
            : RedisErrors.of(failure);
      }
    }
    return RespValue.OK;
  }
}
