package io.osier.datacenter.redis.command;

import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * The plan of WAIT: asks partitions which other datacenters have everything that was written, until
 * enough of them have it or the time is over. Each request waits a second at most, so that no
 * request waits long for a connection that has ended. Not thread-safe.
 */
public final class SpreadPlan {
  /** The longest wait of one request, in milliseconds. */
  static final int SLICE_MILLIS = 1_000;

  private final List<Part> parts;
  private final int wanted;
  private final long beganNanos;
  private final long limitNanos;
  private final LongSupplier nanos;
  private final IntFunction<RespValue> answer;

  /** A partition, and its last answer. */
  private static final class Part {
    final String keyspace;
    final int partition;
    final IntFunction<VersionVector> shown;
    VersionVector seen;
    long number;
    Set<String> having = Set.of();

    Part(String keyspace, int partition, IntFunction<VersionVector> shown) {
      this.keyspace = keyspace;
      this.partition = partition;
      this.shown = shown;
      this.seen = shown.apply(partition);
    }

    /** Drops from the awaited updates those that were lost; returns whether there were any. */
    boolean forgets() {
      VersionVector before = seen;
      // Updates that were shown meanwhile are not waited for.
      seen = before.beyond(before.beyond(shown.apply(partition)));
      return !seen.equals(before);
    }
  }

  /**
   * A keyspace to which the connection has written.
   *
   * @param shown returns, by partition, what other holders have shown to clients here, without the
   *     updates that are known to be lost
   */
  public record Written(String keyspace, int partitions, IntFunction<VersionVector> shown) {}

  /**
   * @param written the keyspaces to which the connection has written
   * @param wanted how many datacenters are waited for
   * @param millis the longest wait, in milliseconds; 0 for no limit
   * @param nanos a monotonic clock, in nanoseconds
   * @param answer makes the answer from the number of datacenters that have everything. With
   *     several keyspaces that is the least number of any; they need not be the same datacenters
   */
  public SpreadPlan(
      List<Written> written,
      long wanted,
      long millis,
      LongSupplier nanos,
      IntFunction<RespValue> answer) {
    this.parts = new ArrayList<>();
    for (Written of : written) {
      for (int i = 0; i < of.partitions; i++) {
        parts.add(new Part(of.keyspace, i, of.shown));
      }
    }
    this.wanted = Math.toIntExact(Math.clamp(wanted, 0, Integer.MAX_VALUE));
    this.nanos = nanos;
    this.beganNanos = nanos.getAsLong();
    this.limitNanos = millis == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(millis);
    this.answer = answer;
  }

  /**
   * Returns the first step. If all keyspaces that were written to are gone, no datacenter has the
   * updates.
   */
  public Plan begin() {
    return parts.isEmpty() ? new Plan.Answer(answer.apply(0)) : ask(parts, true);
  }

  private long leftNanos() {
    return limitNanos - (nanos.getAsLong() - beganNanos);
  }

  private Plan ask(List<Part> some, boolean first) {
    long millis = Math.clamp(leftNanos() / 1_000_000 + 1, 0, SLICE_MILLIS);
    List<Request> requests = new ArrayList<>(some.size());
    for (Part part : some) {
      // A partition that has named enough datacenters already is asked for one more.
      int needed = first ? wanted : Math.max(wanted, part.having.size() + 1);
      requests.add(
          new ProgressRequest.Spread(
              part.keyspace, part.partition, part.number, part.seen, needed, (int) millis));
    }
    return new Plan.Ask(requests, replies -> told(some, replies));
  }

  private Plan told(List<Part> some, List<Reply> replies) {
    List<Part> anew = new ArrayList<>();
    for (int i = 0; i < replies.size(); i++) {
      Part part = some.get(i);
      switch (replies.get(i)) {
        case Reply.Spread told -> {
          part.number = told.number();
          part.having = told.datacenters();
        }
        case Reply.Failure failure when isLost(failure) && part.forgets() -> anew.add(part);
        case Reply.Failure failure -> {
          return new Plan.Answer(RedisErrors.of(failure));
        }
        default -> throw new IllegalStateException("not asked for: " + replies.get(i));
      }
    }
    if (!anew.isEmpty()) {
      return ask(anew, false); // ends, since each time fewer updates are awaited
    }
    Map<String, List<Part>> keyspaces = new TreeMap<>();
    parts.forEach(p -> keyspaces.computeIfAbsent(p.keyspace, k -> new ArrayList<>()).add(p));
    int having = Integer.MAX_VALUE;
    List<Part> few = new ArrayList<>();
    for (List<Part> of : keyspaces.values()) {
      Set<String> common = new HashSet<>(of.getFirst().having);
      of.forEach(part -> common.retainAll(part.having));
      having = Math.min(having, common.size());
      if (common.size() < wanted) {
        few.addAll(lacking(of));
      }
    }
    return having >= wanted || leftNanos() <= 0
        ? new Plan.Answer(answer.apply(having))
        : ask(few, false);
  }

  private static boolean isLost(Reply.Failure failure) {
    return failure.code() == ErrorCode.SESSION_LOST;
  }

  /**
   * Returns the partitions to ask again: those whose updates too few datacenters have; if there are
   * none, those that not the same datacenters have as the others.
   */
  private List<Part> lacking(List<Part> of) {
    List<Part> few = of.stream().filter(part -> part.having.size() < wanted).toList();
    Set<String> all = new HashSet<>();
    of.forEach(part -> all.addAll(part.having));
    return few.isEmpty() ? of.stream().filter(part -> !part.having.equals(all)).toList() : few;
  }
}
