package io.osier.datacenter.forward;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.protocol.Call;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.protocol.WatchRequest;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Tells what forwarding needs to know of a request. Static and pure. */
public final class Forwardable {
  /** The kinds by which requests are counted. */
  enum Kind {
    READ,
    UPDATE,
    SCAN,
    WATCH,
    TRANSACT;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** Returns the kind's name in metrics. */
    String label() {
      return label;
    }
  }

  /** What follows when the answer to a request is lost. */
  enum Loss {
    /** The request may have been executed. */
    UNKNOWN,
    /** It was a step of a transaction, which has ended: nothing of it is done. */
    ENDED,
    /** It may be sent again. */
    NONE
  }

  private Forwardable() {}

  /**
   * Returns whether a request may be forwarded: it concerns one keyspace, and depends on nothing
   * else. A {@link ProgressRequest.Reach} travels in another form, and a script in its own.
   */
  public static boolean is(Request request) {
    return switch (request) {
      case ProgressRequest.Reach r -> false;
      case Request.Evaluate r ->
          ForwardedScript.of(r) != null
              || r.calls().stream().noneMatch(Call.Script.class::isInstance);
      default -> keyspace(request).isPresent();
    };
  }

  /**
   * Returns the request in the form in which it travels. A request that waits until a partition has
   * what was seen becomes a small read after that. The connection's next requests then come after
   * that, too, whichever holder gets them.
   *
   * @param partitions those of the keyspace
   */
  static Request travelling(Request request, Partitioning partitions) {
    if (!(request instanceof ProgressRequest.Reach r) || r.partition() >= partitions.count()) {
      return request;
    }
    Optional<Integer> wanted = Optional.of(r.partition());
    String home = Homes.home(r.keyspace());
    String inHome = home.isEmpty() ? "" : home + ":";
    for (int number = 0; ; number++) {
      Request read =
          new Request.Read(
              r.keyspace(),
              Key.of(inHome + number),
              Optional.of(CrdtType.EW_FLAG),
              new Query.Exists(),
              r.after(),
              false,
              r.waitMillis());
      if (partition(read, partitions).equals(wanted)) {
        return read;
      }
    }
  }

  /**
   * Returns whether the holder must speak {@link ForwardingHost#takesScripts a later version} for
   * this request.
   */
  static boolean isLater(Request request) {
    return request instanceof ProgressRequest.Spread || ForwardedScript.of(request) != null;
  }

  /** Returns what follows if the answer is lost. */
  static Loss loss(Request request) {
    if (request.isUpdate()) {
      return Loss.UNKNOWN;
    }
    return request instanceof Request.Transact t && t.step() > 1 ? Loss.ENDED : Loss.NONE;
  }

  /** Returns the transaction's step in a request; null if there is none. */
  public static Request.@Nullable Transact step(Request request) {
    return switch (request) {
      case Request.Transact t -> t;
      case Request.Repeat r -> r.step();
      default -> null;
    };
  }

  static Kind kind(Request request) {
    return switch (request) {
      case ScanRequest r -> Kind.SCAN;
      case WatchRequest r -> Kind.WATCH;
      case Request.Transact r -> Kind.TRANSACT;
      case Request.Repeat r -> Kind.TRANSACT;
      default -> request.isUpdate() ? Kind.UPDATE : Kind.READ;
    };
  }

  /** Returns the keyspace of a request; empty if it concerns none, or several. */
  public static Optional<String> keyspace(Request request) {
    return request instanceof Request.OfKeyspace of ? Optional.of(of.keyspace()) : Optional.empty();
  }

  /**
   * The one partition that it is about; empty if it is about all.
   *
   * @param partitioning the keyspace's
   */
  static Optional<Integer> partition(Request request, Partitioning partitioning) {
    if (step(request) != null) {
      return Optional.of(0); // in a causal keyspace, which has one
    }
    return request instanceof ProgressRequest.Spread r
        ? Optional.of(r.partition())
        : key(request).map(partitioning::of);
  }

  public static List<Key> keys(Request request) {
    return switch (request) {
      case Request.Read r -> List.of(r.key());
      case Request.Write r -> List.of(r.key());
      case Request.ReadAll r -> r.reads().stream().map(Request.Fetch::key).toList();
      case Request.WriteAll r -> r.updates().stream().map(Request.Update::key).toList();
      case Request.Evaluate r -> r.calls().stream().flatMap(c -> c.keys().stream()).toList();
      default -> List.of();
    };
  }

  private static Optional<Key> key(Request request) {
    return switch (request) {
      case Request.Read r -> Optional.of(r.key());
      case Request.Write r -> Optional.of(r.key());
      case Request.ReadAll r -> r.reads().stream().findFirst().map(Request.Fetch::key);
      case Request.WriteAll r -> r.updates().stream().findFirst().map(Request.Update::key);
      case Request.Evaluate r -> r.calls().stream().findFirst().map(Call::key);
      case WatchRequest r -> r.prefix() ? Optional.empty() : r.key();
      default -> Optional.empty();
    };
  }

  /**
   * Returns the request as of a session that has also seen these updates, and waits for them at
   * least this long.
   */
  static Request behind(Request request, VersionVector seen, int millisMin) {
    if (seen.isEmpty()) {
      return request;
    }
    VersionVector after = request.after().join(seen);
    int wait = Math.max(request.waitMillis(), millisMin);
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
      case Request.Transact r when r.begin().filter(b -> !b.past()).isPresent() ->
          new Request.Transact(
              r.keyspace(),
              r.transaction(),
              r.step(),
              r.begin().map(b -> new Request.Begin(after, false, wait, b.limitMillis())),
              r.updates(),
              r.reads(),
              r.end());
      default -> request;
    };
  }
}
