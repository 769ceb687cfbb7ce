package io.osier.datacenter.forward;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.protocol.Call;
import io.osier.protocol.Request;
import java.util.Locale;
import java.util.Optional;

/** What a request is about, as far as forwarding it goes. Static and pure. */
public final class Forwardable {
  /** What requests are counted by. */
  enum Kind {
    READ,
    UPDATE,
    SCAN,
    WATCH;

    /** As metrics name it. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private Forwardable() {}

  /** Whether it may be forwarded: it is about one keyspace, and depends on nothing but itself. */
  public static boolean is(Request request) {
    return switch (request) {
      case Request.Read r -> true;
      case Request.Write r -> true;
      case Request.ReadAll r -> true;
      case Request.WriteAll r -> true;
      case Request.Evaluate r -> r.calls().stream().noneMatch(Call.Script.class::isInstance);
      case Request.Scan r -> true;
      case Request.Watch r -> true;
      case Request.Through r -> true;
      default -> false;
    };
  }

  /** Whether something may be done of it. */
  static boolean isUpdate(Request request) {
    return switch (request) {
      case Request.Write r -> true;
      case Request.WriteAll r -> true;
      case Request.Evaluate r -> r.isUpdate();
      default -> false;
    };
  }

  static Kind kind(Request request) {
    return switch (request) {
      case Request.Scan r -> Kind.SCAN;
      case Request.Watch r -> Kind.WATCH;
      default -> isUpdate(request) ? Kind.UPDATE : Kind.READ;
    };
  }

  /** The keyspace that a request is about; empty if it is about none, or about several. */
  public static Optional<String> keyspace(Request request) {
    return switch (request) {
      case Request.Read r -> Optional.of(r.keyspace());
      case Request.Write r -> Optional.of(r.keyspace());
      case Request.ReadAll r -> Optional.of(r.keyspace());
      case Request.WriteAll r -> Optional.of(r.keyspace());
      case Request.Evaluate r -> Optional.of(r.keyspace());
      case Request.Scan r -> Optional.of(r.keyspace());
      case Request.Watch r -> Optional.of(r.keyspace());
      case Request.Through r -> Optional.of(r.keyspace());
      case Request.Transact r -> Optional.of(r.keyspace());
      case Request.Repeat r -> Optional.of(r.step().keyspace());
      case Request.Spread r -> Optional.of(r.keyspace());
      case Request.Reach r -> Optional.of(r.keyspace());
      default -> Optional.empty();
    };
  }

  /** A key of the one partition that it is about; empty if it is about all, or of no key. */
  static Optional<Key> key(Request request) {
    return switch (request) {
      case Request.Read r -> Optional.of(r.key());
      case Request.Write r -> Optional.of(r.key());
      case Request.ReadAll r -> r.reads().stream().findFirst().map(Request.Fetch::key);
      case Request.WriteAll r -> r.updates().stream().findFirst().map(Request.Update::key);
      case Request.Evaluate r -> r.calls().stream().findFirst().map(Call::key);
      case Request.Watch r -> r.prefix() ? Optional.empty() : r.key();
      default -> Optional.empty();
    };
  }

  /** What the session has seen that asks. */
  static VersionVector after(Request request) {
    return switch (request) {
      case Request.Read r -> r.after();
      case Request.Write r -> r.after();
      case Request.ReadAll r -> r.after();
      case Request.WriteAll r -> r.after();
      case Request.Evaluate r -> r.after();
      default -> VersionVector.EMPTY;
    };
  }

  /** How long it may wait for what it needs. */
  static int waitMillis(Request request) {
    return switch (request) {
      case Request.Read r -> r.waitMillis();
      case Request.Write r -> r.waitMillis();
      case Request.ReadAll r -> r.waitMillis();
      case Request.WriteAll r -> r.waitMillis();
      case Request.Evaluate r -> r.waitMillis();
      case Request.Watch r -> r.waitMillis();
      default -> 0;
    };
  }

  /** The same of a session that has seen this, too, and waits for it at least so long. */
  static Request behind(Request request, VersionVector seen, int millisMin) {
    if (seen.isEmpty()) {
      return request;
    }
    VersionVector after = after(request).join(seen);
    int wait = Math.max(waitMillis(request), millisMin);
    return switch (request) {
      case Request.Read r ->
          new Request.Read(r.keyspace(), r.key(), r.type(), r.query(), after, r.ordered(), wait);
      case Request.Write r ->
          new Request.Write(
              r.keyspace(), r.key(), r.type(), r.operation(), after, wait, r.ask(), r.condition());
      case Request.ReadAll r ->
          new Request.ReadAll(r.keyspace(), r.reads(), after, r.ordered(), wait);
      case Request.WriteAll r -> new Request.WriteAll(r.keyspace(), r.updates(), after, wait);
      case Request.Evaluate r ->
          new Request.Evaluate(r.keyspace(), r.calls(), r.guards(), after, wait);
      default -> request;
    };
  }
}
