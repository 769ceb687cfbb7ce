package io.osier.datacenter.trace;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.TraceId;
import io.osier.core.codec.MalformedException;
import io.osier.datacenter.config.TraceSettings;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.propagation.host.UpdateObserver;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A datacenter's part of the traces that follow single updates.
 *
 * <p>Whether an update is traced, and the ids of its trace and root span, are functions of its name
 * ({@link io.osier.core.trace.TraceStream}), so each datacenter computes them by itself. The root
 * span is the update at its origin, from the request's arrival to its answer. Below it are spans
 * for how long it was held, when it was shipped to each peer and, made by the peers themselves,
 * when it was visible there. A {@link TraceNote} tells which updates are in a shipment of joined
 * updates.
 *
 * <p>Bounds: at most {@link #UPDATES_MAX} updates are traced at one time; beyond that the oldest of
 * the partition is given up and counted. Spans wait in the sink, which has its own bound.
 * Thread-safe.
 */
public final class Traces implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Traces.class);

  /** Traces nothing. */
  public static final Traces OFF =
      new Traces(
          new ReplicaId("off", 1), TraceSettings.OFF, SpanSink.NONE, (dc, note) -> {}, Time.SYSTEM);

  /** Most updates that are traced at one time; each takes about a KiB, and its key. */
  static final int UPDATES_MAX = 4_096;

  /** The clocks of spans. */
  interface Time {
    Time SYSTEM =
        new Time() {
          @Override
          public long nanos() {
            return System.nanoTime();
          }

          @Override
          public long epochNanos() {
            Instant now = Instant.now();
            return now.getEpochSecond() * 1_000_000_000 + now.getNano();
          }
        };

    /** Returns the time of the monotonic clock that partitions use. */
    long nanos();

    /** Returns the time of the wall clock, in nanoseconds since 1970. */
    long epochNanos();
  }

  private final ReplicaId self;
  private final TraceSettings settings;
  private final SpanSink sink;
  private final BiConsumer<String, byte[]> notes;
  private final Time time;
  private final AtomicInteger underWay = new AtomicInteger();

  private final Map<String, List<PartitionTraces>> keyspaces = new ConcurrentHashMap<>();

  Traces(
      ReplicaId self,
      TraceSettings settings,
      SpanSink sink,
      BiConsumer<String, byte[]> notes,
      Time time) {
    this.self = self;
    this.settings = settings;
    this.sink = sink;
    this.notes = notes;
    this.time = time;
  }

  /**
   * Makes a datacenter's traces.
   *
   * @param notes sends a note to a datacenter if it is connected
   * @throws OsierException CONFIGURATION if OpenTelemetry's exporter is not on the class path
   */
  public static Traces of(
      ReplicaId self, TraceSettings settings, BiConsumer<String, byte[]> notes) {
    if (settings.sample().isNone()) {
      return OFF;
    }
    SpanSink sink;
    try {
      sink = OtlpExporter.to(settings.endpoint().orElseThrow(), self);
    } catch (NoClassDefFoundError e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.trace: OpenTelemetry's SDK and exporter are not on the class path ("
              + e.getMessage()
              + "): add io.opentelemetry:opentelemetry-exporter-otlp and a sender, for example"
              + " opentelemetry-exporter-sender-jdk",
          e);
    }
    return new Traces(self, settings, sink, notes, Time.SYSTEM);
  }

  /** Returns whether any update is traced. Never changes. */
  public boolean isOn() {
    return !settings.sample().isNone();
  }

  /**
   * Makes the observer of a partition's updates. Called in the order of the partitions' numbers.
   *
   * @param peers the other datacenters that hold the keyspace
   */
  public UpdateObserver partition(KeyspacePolicy policy, int partition, List<String> peers) {
    if (!isOn()) {
      return UpdateObserver.NONE;
    }
    PartitionTraces traces = new PartitionTraces(this, policy, partition, self, peers);
    keyspaces.computeIfAbsent(policy.name(), k -> new CopyOnWriteArrayList<>()).add(traces);
    return traces;
  }

  /** Drops a keyspace that this datacenter no longer holds. */
  public void drop(String keyspace) {
    keyspaces.remove(keyspace);
  }

  // ---------------------------------------------------------------- clients' requests

  /**
   * Makes the spans of a request that was answered. The times are those of the monotonic clock.
   *
   * @param beganNanos when the request arrived
   * @param takenNanos when its partition took it; 0 if it needed none
   * @param executedNanos when its batch was executed; 0 if it was in none
   * @param answeredNanos when it was answered
   */
  public void answered(
      Request request,
      Reply reply,
      long beganNanos,
      long takenNanos,
      long executedNanos,
      long answeredNanos) {
    if (!isOn()) {
      return;
    }
    switch (reply) {
      case Reply.Done done ->
          answered(request, done.dot(), beganNanos, takenNanos, executedNanos, answeredNanos);
      case Reply.Transacted done -> {
        if (done.dot().isPresent()) {
          answered(request, done.dot().get(), beganNanos, takenNanos, executedNanos, answeredNanos);
        }
      }
      case Reply.Evaluated done -> {
        if (done.dot().isPresent()) {
          answered(request, done.dot().get(), beganNanos, takenNanos, executedNanos, answeredNanos);
        }
      }
      default -> {}
    }
  }

  private void answered(
      Request request, Dot dot, long began, long taken, long executed, long answered) {
    PartitionTraces partition = partitionOf(request);
    if (partition == null || !dot.replica().equals(self) || !partition.follows(dot.number())) {
      return;
    }
    if (!sink.hasRoom(4)) {
      return;
    }
    TraceId trace = partition.names().ownId(dot.number());
    AttributesBuilder says = partition.names().says(self, dot.number());
    if (request instanceof Request.Write w) {
      says.put(SpanAttributes.REQUEST, "write").put(SpanAttributes.TYPE, w.type().toString());
      partition.names().sayKey(says, w.key());
    } else {
      String kind = request instanceof Request.Evaluate ? "program" : "transaction";
      says.put(SpanAttributes.REQUEST, kind);
    }
    root(trace, began, answered, says.build());
    if (taken == 0) {
      return;
    }
    long through = executed == 0 ? answered : executed;
    Attributes which = partition.names().says(self, dot.number()).build();
    part(trace, "queue", began, taken, which);
    part(trace, "execute", taken, through, which);
    part(trace, "durable", through, answered, which);
  }

  private @Nullable PartitionTraces partitionOf(Request request) {
    return switch (request) {
      case Request.Write w -> of(w.keyspace(), w.key());
      case Request.Evaluate e -> of(e.keyspace(), e.calls().getFirst().key());
      case Request.Transact t -> only(t);
      case Request.Repeat r -> only(r.step());
      default -> null;
    };
  }

  private @Nullable PartitionTraces of(String keyspace, Key key) {
    List<PartitionTraces> partitions = keyspaces.getOrDefault(keyspace, List.of());
    return partitions.isEmpty()
        ? null
        : partitions.get(partitions.getFirst().names().partitioning().of(key));
  }

  /** Returns the partition of a transaction, which is its keyspace's only one. */
  private @Nullable PartitionTraces only(Request.Transact step) {
    List<PartitionTraces> partitions = keyspaces.getOrDefault(step.keyspace(), List.of());
    return partitions.size() == 1 ? partitions.getFirst() : null;
  }

  // ---------------------------------------------------------------- peers

  /** Returns whether a peer's note is a {@link TraceNote}. */
  public static boolean isNote(byte[] note) {
    return TraceNote.isOne(note);
  }

  /** Handles a peer's note of the traced updates in shipments that follow. */
  public void noted(ReplicaId peer, byte[] content) {
    if (!isOn()) {
      return;
    }
    TraceNote note;
    try {
      note = TraceNote.decode(content);
    } catch (MalformedException e) {
      LOG.debug("{} sent a note that cannot be decoded", peer, e);
      return;
    }
    List<PartitionTraces> partitions = keyspaces.getOrDefault(note.keyspace(), List.of());
    if (note.partition() < partitions.size()) {
      partitions.get(note.partition()).noted().add(peer, note.joined());
    }
  }

  void tell(String dc, TraceNote note) {
    notes.accept(dc, note.encode());
  }

  // ---------------------------------------------------------------- for the partitions

  TraceSettings settings() {
    return settings;
  }

  SpanSink sink() {
    return sink;
  }

  long nanos() {
    return time.nanos();
  }

  /** Converts a time of the monotonic clock into one of the wall clock. */
  long epochNanos(long nanos) {
    return time.epochNanos() - (time.nanos() - nanos);
  }

  /** Takes a place for one more update; returns false if there is none. */
  boolean takePlace() {
    if (underWay.incrementAndGet() <= UPDATES_MAX) {
      return true;
    }
    underWay.decrementAndGet();
    return false;
  }

  void givePlace() {
    underWay.decrementAndGet();
  }

  /** Adds the root span: the update at its origin. */
  void root(TraceId trace, long startNanos, long endNanos, Attributes says) {
    long end = epochNanos(endNanos);
    sink.add(
        trace,
        trace.root(),
        0,
        "update",
        SpanKind.SERVER,
        end - (endNanos - startNanos),
        end,
        says);
  }

  /** Adds a span below the root. */
  void part(TraceId trace, String name, long startNanos, long endNanos, Attributes says) {
    long end = epochNanos(endNanos);
    long start = end - (endNanos - startNanos);
    sink.add(trace, newId(), trace.root(), name, SpanKind.INTERNAL, start, end, says);
  }

  /** Draws the id of a span that no other datacenter needs to know. */
  static long newId() {
    long id = ThreadLocalRandom.current().nextLong();
    return id == 0 ? 1 : id;
  }

  /** Returns how many spans were sent and dropped so far; empty if nothing is traced. */
  public Optional<Snapshot.Traces> figures() {
    return isOn() ? Optional.of(sink.figures()) : Optional.empty();
  }

  /** Sends waiting spans for a few seconds, and drops the rest. */
  @Override
  public void close() {
    if (isOn()) {
      sink.close();
    }
  }
}
