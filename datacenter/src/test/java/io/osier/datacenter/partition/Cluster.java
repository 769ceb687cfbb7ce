package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A few partitions and the links between them in virtual time: every frame is encoded, takes the
 * link's delay and is decoded. For tests that set a scene by hand; the simulator draws its scenes
 * from seeds.
 */
public final class Cluster {
  private static final long MILLI = 1_000_000;

  /** One datacenter's partition. */
  public final class Dc extends ClientCalls {
    public ReplicaId self;
    MemoryStore store;
    Partition partition;
    final List<Shipment> journal = new ArrayList<>();
    final Map<Long, Reply> replies = new HashMap<>();
    @Nullable PartitionReport report;

    /** How far its wall clock is ahead of the others'. */
    long skewMillis;

    /** What waits for a disk that stalls; null while none does. */
    private @Nullable List<Effects.Output> stalled;

    Dc(ReplicaId self) {
      start(self, names);
    }

    private void start(ReplicaId id, List<String> known) {
      self = id;
      store = new MemoryStore();
      partition =
          new Partition(
              new PartitionConfig(
                  id,
                  known.stream().filter(n -> !n.equals(id.dc())).toList(),
                  policy,
                  0,
                  streams,
                  AdaptationSettings.DEFAULT),
              store,
              RecoveredState.NOTHING,
              now());
    }

    @Override
    long newNumber() {
      return ++tickets;
    }

    @Override
    @Nullable Reply reply(long ticket) {
      return replies.get(ticket);
    }

    @Override
    long submit(Request request) {
      long ticket = ++tickets;
      input(this, new Input.Command(ticket, request));
      return ticket;
    }

    /** An object as a reader of the store sees it. */
    Reading read(String key, CrdtType type) {
      CrdtState state = store.get(new ObjectId(Key.of(key), type));
      return (state == null ? CrdtState.bottom(type) : state).read(new Query.Whole());
    }

    /** Increments of a counter, joined, of which the first was acknowledged a while ago. */
    void absorb(String key, long sum, int count, long ageMillis) {
      ObjectId object = new ObjectId(Key.of(key), CrdtType.PN_COUNTER);
      Operation operation = new Operation.Increment(sum);
      long since = nanos - ageMillis * MILLI;
      input(
          this,
          new Input.Absorbed(List.of(new Input.Absorbed.Update(object, operation, count, since))));
    }

    /** The counter's value as a reader of the store sees it. */
    long value(String key) {
      return ((Reading.Count) read(key, CrdtType.PN_COUNTER)).value();
    }

    /** Its disk stalls: nothing leaves until {@link #goOn}. */
    void stall() {
      stalled = new ArrayList<>();
    }

    /** What has waited for the disk leaves, in its order. */
    void goOn() {
      List<Effects.Output> waited = requireNonNull(stalled, "it stalls");
      stalled = null;
      waited.forEach(output -> leave(this, output));
    }

    PartitionReport report() {
      input(this, new Input.Inspect(0, 10));
      return requireNonNull(report, "reported at once");
    }
  }

  private record Event(long nanos, long order, Runnable action) {}

  final List<String> names;
  final KeyspacePolicy policy;
  final StreamSettings streams;
  final Map<String, Dc> dcs = new LinkedHashMap<>();

  /** Whether a frame from one to another is lost: (link, frame). */
  BiPredicate<String, Frame> loss = (link, frame) -> false;

  long delayMillis = 40;

  /** When a tick that is due at a time really happens: later on a machine that stalls. */
  LongUnaryOperator tickNanos = due -> due;

  /** By link ("eu>us"), one way, where it is not {@link #delayMillis}. */
  final Map<String, Long> delaysMillis = new HashMap<>();

  /** Hears of everything that any partition wants done. */
  public BiConsumer<Dc, Effects> heard = (dc, effects) -> {};

  long framesSent;

  /** The bytes of the largest frame that was sent. */
  int largestFrame;

  long bytesSent;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.nanos != b.nanos ? Long.compare(a.nanos, b.nanos) : Long.compare(a.order, b.order));
  private final Set<String> cut = new TreeSet<>();
  private final Map<String, Long> connection = new HashMap<>();
  private long nanos = 1_000_000 * MILLI;
  private long order;
  private long tickets;

  public Cluster(KeyspacePolicy policy, String... names) {
    this(policy, StreamSettings.DEFAULT, names);
  }

  public Cluster(KeyspacePolicy policy, StreamSettings streams, String... names) {
    this.names = List.of(names);
    this.policy = policy;
    this.streams = streams;
    for (String name : names) {
      dcs.put(name, new Dc(new ReplicaId(name, 1)));
    }
    for (String a : names) {
      for (String b : names) {
        if (!a.equals(b)) {
          connect(a, b);
        }
      }
    }
    run(1_000);
  }

  /** Updates a bounded counter; the reply may come later. Returns its ticket. */
  public long later(String dc, String key, Operation operation) {
    return dc(dc).submit(Requests.write("k", Key.of(key), CrdtType.BOUNDED_COUNTER, operation));
  }

  public Dc dc(String name) {
    return requireNonNull(dcs.get(name), name);
  }

  /** The wall clock. */
  public long millis() {
    return nanos / MILLI;
  }

  Now now() {
    return new Now(nanos, nanos / MILLI);
  }

  private static String link(String from, String to) {
    return from + ">" + to;
  }

  private void connect(String from, String to) {
    if (!cut.contains(link(from, to))) {
      connection.merge(link(from, to), 1L, Long::sum);
      input(dc(from), new Input.PeerUp(dc(to).self));
    }
  }

  /** Cuts both directions: what is under way is lost, and both sides notice. */
  public void cut(String a, String b) {
    for (String[] way : new String[][] {{a, b}, {b, a}}) {
      cut.add(link(way[0], way[1]));
      connection.merge(link(way[0], way[1]), 1L, Long::sum);
      input(dc(way[0]), new Input.PeerDown(way[1]));
    }
  }

  public void heal(String a, String b) {
    cut.remove(link(a, b));
    cut.remove(link(b, a));
    connect(a, b);
    connect(b, a);
  }

  /** Stops a datacenter and starts it with an empty memory and a new incarnation. */
  public void crash(String name) {
    crash(name, names);
  }

  /** The same, and it starts with some of the others as its peers. */
  void crash(String name, List<String> known) {
    for (String other : names) {
      if (!other.equals(name)) {
        cut(name, other);
      }
    }
    Dc dc = dc(name);
    dc.start(new ReplicaId(name, dc.self.incarnation() + 1), known);
  }

  public void reconnect(String name) {
    for (String other : names) {
      if (!other.equals(name)) {
        heal(name, other);
      }
    }
  }

  private void at(long when, Runnable action) {
    events.add(new Event(when, ++order, action));
  }

  public void input(Dc dc, Input input) {
    Now there = new Now(nanos, nanos / MILLI + dc.skewMillis);
    carryOut(dc, dc.partition.step(input, there));
    schedule(dc);
  }

  private void schedule(Dc dc) {
    Partition partition = dc.partition;
    long next = partition.nextTickNanos();
    if (next != Long.MAX_VALUE) {
      at(
          tickNanos.applyAsLong(Math.max(nanos, next)),
          () -> {
            if (dc.partition == partition && partition.nextTickNanos() <= nanos) {
              input(dc, new Input.Tick());
            }
          });
    }
  }

  private void carryOut(Dc dc, Effects effects) {
    for (Effects.Recorded record : effects.records()) {
      if (record instanceof Effects.Applied a) {
        dc.journal.add(a.update());
      }
    }
    if (dc.stalled == null) {
      effects.whenDurable().forEach(output -> leave(dc, output));
    } else {
      dc.stalled.addAll(effects.whenDurable());
    }
    effects.atOnce().forEach(r -> dc.report = r.report());
    heard.accept(dc, effects);
  }

  private void leave(Dc dc, Effects.Output output) {
    switch (output) {
      case Effects.ToClient a -> dc.replies.put(a.ticket(), a.reply());
      case Effects.Send s -> send(dc, s.to(), s.frame());
      case Effects.Visible v -> {}
    }
  }

  private void send(Dc dc, ReplicaId to, Frame frame) {
    String link = link(dc.self.dc(), to.dc());
    if (cut.contains(link) || !dc(to.dc()).self.equals(to) || loss.test(link, frame)) {
      return;
    }
    byte[] bytes = FrameCodec.encode(dc.self, frame);
    framesSent++;
    largestFrame = Math.max(largestFrame, bytes.length);
    bytesSent += bytes.length;
    ReplicaId sender = dc.self;
    long over = connection.getOrDefault(link, 0L);
    at(
        nanos + delaysMillis.getOrDefault(link, delayMillis) * MILLI,
        () -> {
          if (connection.getOrDefault(link, 0L) == over) {
            input(dc(to.dc()), new Input.FromPeer(sender, FrameCodec.decode(sender, bytes)));
          }
        });
  }

  /** Lets time pass. */
  public void run(long millis) {
    long until = nanos + millis * MILLI;
    while (!events.isEmpty() && events.peek().nanos <= until) {
      Event event = events.poll();
      nanos = Math.max(nanos, event.nanos);
      event.action.run();
    }
    nanos = until;
  }

  /** Every object of every datacenter, for comparison. */
  Map<String, List<StoredObjects.Entry>> contents() {
    Map<String, List<StoredObjects.Entry>> all = new LinkedHashMap<>();
    dcs.forEach((name, dc) -> all.put(name, dc.store.scan(Optional.empty(), 1_000_000)));
    return all;
  }

  /** After so many milliseconds all datacenters are equal. */
  void converges(long millis) {
    run(millis);
    assertThat(isConverged()).isTrue();
  }

  boolean isConverged() {
    return contents().values().stream().distinct().count() == 1;
  }
}
