package io.osier.bench.sim.transport;

import io.osier.bench.sim.world.SimConnection;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import org.jspecify.annotations.Nullable;

/** One request of an application, and what has become of it. */
final class AppRequest {
  final AppWay by;

  /** The connection that was up when it was sent; null if none was. */
  final @Nullable SimConnection over;

  final Request request;

  /** Larger than those of all requests before it. */
  final long number;

  /** Whether it has come to the datacenter. */
  boolean came;

  /** Whether the application was told what became of it. */
  boolean told;

  /** What the datacenter answered; null before. */
  @Nullable Reply reply;

  AppRequest(AppWay by, @Nullable SimConnection over, Request request, long number) {
    this.by = by;
    this.over = over;
    this.request = request;
    this.number = number;
  }
}
