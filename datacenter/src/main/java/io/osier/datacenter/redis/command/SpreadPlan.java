package io.osier.datacenter.redis.command;

import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
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
    long number;
    Set<String> having = Set.of();

    Part(String keyspace, int partition) {
      this.keyspace = keyspace;
      this.partition = partition;
    }
  }

  public record Written(String keyspace, int partitions) {}

  /**
   * @param written where something was written
   * @param wanted how many datacenters are waited for
   * @param millis how long; 0 for ever
   * @param nanos a monotonic clock
   * @param answer what is answered when so many datacenters have all of it
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
        parts.add(new Part(of.keyspace, i));
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
          new Request.Spread(part.keyspace, part.partition, part.number, needed, (int) millis));
    }
    return new Plan.Ask(requests, replies -> told(some, replies));
  }

  private Plan told(List<Part> some, List<Reply> replies) {
    for (int i = 0; i < replies.size(); i++) {
      switch (replies.get(i)) {
        case Reply.Spread told -> {
          some.get(i).number = told.number();
          some.get(i).having = told.datacenters();
        }
        case Reply.Failure failure -> {
          return new Plan.Answer(RedisErrors.of(failure));
        }
        default -> throw new IllegalStateException("not asked for: " + replies.get(i));
      }
    }
    Set<String> all = new TreeSet<>();
    parts.forEach(part -> all.addAll(part.having));
    Set<String> common = new HashSet<>(all);
    parts.forEach(part -> common.retainAll(part.having));
    if (common.size() >= wanted || leftNanos() <= 0) {
      return new Plan.Answer(answer.apply(common.size()));
    }
    List<Part> few = parts.stream().filter(part -> part.having.size() < wanted).toList();
    return ask(
        few.isEmpty() ? parts.stream().filter(part -> !part.having.equals(all)).toList() : few,
        false);
  }
}
