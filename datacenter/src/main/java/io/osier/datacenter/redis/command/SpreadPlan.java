package io.osier.datacenter.redis.command;

import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.datacenter.redis.RespValue;
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
 * Asks partitions which other datacenters have what was written, until enough have all of it or the
 * time is over. Each question is for a short time, so that nobody waits long for a connection that
 * is not there any more. Not thread-safe.
 */
public final class SpreadPlan {
  /** So long one question waits at most, in milliseconds. */
  static final int SLICE_MILLIS = 1_000;

  private final List<Part> parts;
  private final int wanted;
  private final long beganNanos;
  private final long limitNanos;
  private final LongSupplier nanos;
  private final IntFunction<RespValue> answer;

  /** A partition, and what it has told. */
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

    /** Something of what was shown is lost; whether some of that is waited for no more. */
    boolean forgets() {
      VersionVector before = seen;
      // What was shown meanwhile is not waited for.
      seen = before.beyond(before.beyond(shown.apply(partition)));
      return !seen.equals(before);
    }
  }

  /**
   * Where something was written.
   *
   * @param shown by partition, what other holders have shown here, without what is lost of that as
   *     far as it was found out
   */
  public record Written(String keyspace, int partitions, IntFunction<VersionVector> shown) {}

  /**
   * @param written where something was written
   * @param wanted how many datacenters are waited for
   * @param millis how long; 0 for ever
   * @param nanos a monotonic clock
   * @param answer what is answered when so many datacenters have all of it: of several keyspaces so
   *     many have each, which need not be the same ones
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

  /** The first step; where nothing is left of what was written, nobody has it. */
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
      // One that has told of as many as are wanted is asked for one more.
      int needed = first ? wanted : Math.max(wanted, part.having.size() + 1);
      requests.add(
          new Request.Spread(
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
      return ask(anew, false); // each time less is left of what was shown
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

  /** Those of a keyspace's partitions that too few have, or else that not all have who have any. */
  private List<Part> lacking(List<Part> of) {
    List<Part> few = of.stream().filter(part -> part.having.size() < wanted).toList();
    Set<String> all = new HashSet<>();
    of.forEach(part -> all.addAll(part.having));
    return few.isEmpty() ? of.stream().filter(part -> !part.having.equals(all)).toList() : few;
  }
}
