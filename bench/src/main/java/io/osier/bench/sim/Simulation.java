package io.osier.bench.sim;

import io.osier.core.CausalContext;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.KeyspacePolicy.StatePayload;
import io.osier.core.ReplicaId;
import io.osier.crdt.Causal;
import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.Outbox;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.MemoryStore;
import io.osier.propagation.Frame;
import io.osier.propagation.ObjectId;
import io.osier.propagation.Shipment;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * One run: datacenters, network, clients and faults drawn from a seed, events in the order of
 * virtual time, one thread. A seed and the options give the same run every time.
 *
 * <p>The SLA is checked for each update that was made when no fault had been active anywhere for
 * {@link #CALM_NANOS}, and none began until its deadline: it must then be visible at every
 * datacenter within δ, or within what the longest link allows if δ is shorter than that.
 */
final class Simulation {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  /** After so long without a fault every stream has caught up. */
  private static final long CALM_NANOS = 25 * SECOND;

  /** How long after the load everything must be equal, beyond δ. */
  private static final long SETTLE_NANOS = 120 * SECOND;

  private static final int[] SLA_MILLIS = {0, 200, 1_000, 2_000, 10_000};

  private record Event(long nanos, long order, Runnable action) {}

  /** Hears of a reply: who gave it, and the object's state there then. */
  interface ReplyListener {
    void replied(ReplicaId at, Reply reply, Causal state);
  }

  private record Asked(Request request, ReplyListener listener) {}

  private final SimOptions options;
  private final Random random;
  private final Trace trace;
  private final SimNetwork network;
  private final FaultPlan faults;
  private final Map<String, SimDc> dcs = new LinkedHashMap<>();
  private final List<String> names = new ArrayList<>();
  private final List<KeyspacePolicy> keyspaces = new ArrayList<>();
  private final List<History> histories = new ArrayList<>();
  private final Set<ReplicaId> lost = new HashSet<>();
  private final Map<Long, Asked> asked = new HashMap<>();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.nanos != b.nanos ? Long.compare(a.nanos, b.nanos) : Long.compare(a.order, b.order));
  private long nanos = 1_000 * SECOND;
  private long order;
  private long tickets;
  private boolean loading = true;
  private long slaChecked;

  Simulation(SimOptions options, long seed, PrintStream traceTo) {
    this.options = options;
    this.random = new Random(seed * 0x9E3779B97F4A7C15L + options.dcs());
    this.trace = new Trace(traceTo);
    this.network = new SimNetwork(this, new Random(random.nextLong()));
    List<Fault> active = new ArrayList<>();
    for (Fault fault : Fault.values()) {
      if (options.faults().contains(fault) && random.nextInt(3) > 0) {
        active.add(fault);
      }
    }
    this.faults = new FaultPlan(this, network, new Random(random.nextLong()), active);
    for (int i = 0; i < options.dcs(); i++) {
      names.add("dc" + i);
    }
    for (int i = 0; i < 2; i++) {
      keyspaces.add(policy());
      histories.add(new History());
    }
    trace("seed %d, faults %s, keyspaces %s", seed, active, keyspaces);
  }

  private KeyspacePolicy policy() {
    int sla = SLA_MILLIS[random.nextInt(SLA_MILLIS.length)];
    Propagation[] all = Propagation.values();
    // Adaptive half of the time: it has the most to go wrong.
    Propagation propagation =
        random.nextBoolean() ? Propagation.ADAPTIVE : all[random.nextInt(all.length)];
    StatePayload payload = random.nextInt(4) == 0 ? StatePayload.FULL : StatePayload.DELTA;
    return KeyspacePolicy.session("k", Duration.ofMillis(sla))
        .with(propagation)
        .with(payload)
        .withPartitions(1);
  }

  // ---------------------------------------------------------------- the run

  /** Runs to the end. Throws {@link Violation}. */
  void run() {
    for (String name : names) {
      SimDc dc = new SimDc(name, names.stream().filter(n -> !n.equals(name)).toList(), keyspaces);
      dcs.put(name, dc);
      dc.start(dc.self(), nanos);
    }
    for (String from : names) {
      for (String to : names) {
        if (!from.equals(to)) {
          network.addLink(from, to);
        }
      }
    }
    network.connectAll();
    dcs.values().forEach(this::schedule);
    for (int i = 0; i < 2 * options.dcs(); i++) {
      SimClient client =
          new SimClient(
              this, i, i % keyspaces.size(), new Random(random.nextLong()), anyDc(random));
      at(3 * SECOND, client::start);
    }
    faults.start();
    runUntil(nanos + options.seconds() * SECOND);
    loading = false;
    trace("the load ends");
    // Faults end by themselves; then everything must settle.
    runUntil(nanos + 25 * SECOND);
    network.calm();
    dcs.values().forEach(dc -> dc.slow(0));
    settle();
    for (int k = 0; k < keyspaces.size(); k++) {
      Map<String, MemoryStore> stores = new TreeMap<>();
      for (SimDc dc : dcs.values()) {
        stores.put(dc.self().dc(), dc.store(k));
      }
      histories.get(k).checkEnd(stores, List.copyOf(lost));
    }
  }

  private void settle() {
    long slaMax = keyspaces.stream().mapToLong(k -> k.sla().toNanos()).max().orElse(0);
    long deadline = nanos + slaMax + SETTLE_NANOS;
    do {
      runUntil(nanos + 2 * SECOND);
    } while (nanos < deadline && !isSettled());
  }

  private boolean isSettled() {
    for (int k = 0; k < keyspaces.size(); k++) {
      List<MemoryStore> stores = new ArrayList<>();
      for (SimDc dc : dcs.values()) {
        if (!dc.isUp()) {
          return false;
        }
        stores.add(dc.store(k));
      }
      if (!History.isSettled(stores)) {
        return false;
      }
    }
    return true;
  }

  private void runUntil(long until) {
    while (!events.isEmpty() && events.peek().nanos <= until) {
      Event event = events.poll();
      nanos = Math.max(nanos, event.nanos);
      event.action.run();
    }
    nanos = until;
  }

  void at(long afterNanos, Runnable action) {
    events.add(new Event(nanos + afterNanos, ++order, action));
  }

  long nanos() {
    return nanos;
  }

  boolean isLoading() {
    return loading;
  }

  SimDc dc(String name) {
    return dcs.get(name);
  }

  String anyDc(Random from) {
    return names.get(from.nextInt(names.size()));
  }

  long nextTicket() {
    return ++tickets;
  }

  Set<ReplicaId> lost() {
    return lost;
  }

  void trace(String format, Object... arguments) {
    trace.add(nanos, format, arguments);
  }

  int downCount() {
    return (int) dcs.values().stream().filter(d -> !d.isUp()).count();
  }

  void crash(SimDc dc) {
    dc.crash();
    lost.add(dc.self());
    network.crash(dc.self().dc());
  }

  void restart(SimDc dc, ReplicaId as) {
    dc.start(as, nanos);
    network.restart(as.dc());
    schedule(dc);
  }

  // ---------------------------------------------------------------- inputs and outputs

  void command(SimDc dc, int keyspace, long ticket, Request request, ReplyListener listener) {
    asked.put(ticket, new Asked(request, listener));
    input(dc, keyspace, new Input.Command(ticket, request));
  }

  /** An input for all partitions of a datacenter. */
  void input(SimDc dc, Input input) {
    for (int k = 0; k < keyspaces.size(); k++) {
      input(dc, k, input);
    }
  }

  void input(SimDc dc, int keyspace, Input input) {
    Partition partition = dc.partition(keyspace);
    if (dc.slowNanos() > 0 && !(input instanceof Input.Tick)) {
      at(
          dc.slowNanos(),
          () -> {
            if (dc.isUp() && dc.partition(keyspace) == partition) {
              handle(dc, keyspace, input);
            }
          });
    } else {
      handle(dc, keyspace, input);
    }
  }

  private void handle(SimDc dc, int keyspace, Input input) {
    trace("%s/%d <- %s", dc.self(), keyspace, input);
    dc.partition(keyspace).on(input, dc.now(nanos), new Out(dc, keyspace));
    schedule(dc, keyspace);
  }

  private void schedule(SimDc dc) {
    for (int k = 0; k < keyspaces.size(); k++) {
      schedule(dc, k);
    }
  }

  private void schedule(SimDc dc, int keyspace) {
    Partition partition = dc.partition(keyspace);
    long next = partition.nextTickNanos();
    if (next == Long.MAX_VALUE) {
      return;
    }
    at(
        Math.max(0, next - nanos),
        () -> {
          if (dc.isUp()
              && dc.partition(keyspace) == partition
              && partition.nextTickNanos() <= nanos) {
            handle(dc, keyspace, new Input.Tick());
          }
        });
  }

  /** Does what a partition wants, and watches it. */
  private class Out implements Outbox {
    private final SimDc dc;
    private final int keyspace;
    private final ReplicaId self;

    Out(SimDc dc, int keyspace) {
      this.dc = dc;
      this.keyspace = keyspace;
      this.self = dc.self();
    }

    @Override
    public void reply(long ticket, Reply reply) {
      Asked a = asked.remove(ticket);
      ObjectId object =
          switch (a.request) {
            case Request.Read r -> new ObjectId(r.key(), r.type().orElseThrow());
            case Request.Write w -> new ObjectId(w.key(), w.type());
            default -> throw new IllegalStateException("not asked: " + a.request);
          };
      Causal state = dc.store(keyspace).get(object);
      trace("%s/%d -> session %s", self, keyspace, reply);
      a.listener.replied(self, reply, state);
    }

    @Override
    public void send(String to, Frame frame) {
      network.send(self, to, keyspace, frame);
    }

    @Override
    public void report(long ticket, PartitionReport report) {
      throw new IllegalStateException("nobody asks for reports here");
    }

    @Override
    public void append(Shipment update) {
      applied(dc, keyspace, update);
    }
  }

  /** The state that each datacenter showed last, to see what an update has changed. */
  private final Map<String, CausalContext> shown = new HashMap<>();

  private void applied(SimDc dc, int keyspace, Shipment update) {
    String place = dc.self() + "/" + keyspace + "/" + update.object();
    CausalContext before = shown.getOrDefault(place, CausalContext.EMPTY);
    CausalContext after = dc.store(keyspace).get(update.object()).context();
    shown.put(place, after);
    History history = histories.get(keyspace);
    if (update.origin().equals(dc.self())) {
      history.made(update, before);
      watchSla(dc, keyspace, update);
    }
    history.checkOrder(dc.self().toString(), update.object(), before, after);
  }

  private void watchSla(SimDc dc, int keyspace, Shipment update) {
    if (faults.calmNanos() < CALM_NANOS && nanos > CALM_NANOS) {
      return;
    }
    KeyspacePolicy policy = keyspaces.get(keyspace);
    // The network's own time: there, and for what overtook something, back and there once more.
    long least = 3 * network.delayNanosMax() + 150 * MILLI;
    long bound = Math.max(policy.sla().toNanos(), least) + 5 * MILLI;
    long made = nanos;
    ReplicaId origin = dc.self();
    at(
        bound,
        () -> {
          if (faults.calmNanos() < CALM_NANOS + bound || network.down() > 0) {
            return;
          }
          slaChecked++;
          for (SimDc other : dcs.values()) {
            Causal state = other.store(keyspace).get(update.object());
            if (state == null || state.context().through(origin) < update.last()) {
              throw new Violation(
                  update.object().key().toString(),
                  String.format(
                      java.util.Locale.ROOT,
                      "%s:%d of %s, made at %.6f s, is not visible at %s after %d ms (SLA %d ms, %s)",
                      origin,
                      update.last(),
                      update.object(),
                      made / 1e9,
                      other.self(),
                      bound / MILLI,
                      policy.sla().toMillis(),
                      policy.propagation()));
            }
          }
        });
  }

  // ---------------------------------------------------------------- afterwards

  /** Updates made. */
  long updates() {
    return histories.stream().mapToLong(History::updates).sum();
  }

  /** Updates whose SLA was checked. */
  long slaChecked() {
    return slaChecked;
  }

  /** Virtual time that went by. */
  long elapsedNanos() {
    return nanos - 1_000 * SECOND;
  }

  Trace trace() {
    return trace;
  }

  /** What every stream is doing, for the report of a failure. */
  String streams() {
    StringBuilder text = new StringBuilder();
    for (SimDc dc : dcs.values()) {
      for (int k = 0; dc.isUp() && k < keyspaces.size(); k++) {
        PartitionReport[] report = new PartitionReport[1];
        dc.partition(k)
            .on(
                new Input.Inspect(0, 0),
                dc.now(nanos),
                new Out(dc, k) {
                  @Override
                  public void report(long ticket, PartitionReport r) {
                    report[0] = r;
                  }
                });
        text.append(
            String.format(
                java.util.Locale.ROOT,
                "    %s/%d committed %d through %s%n",
                dc.self(),
                k,
                report[0].committed(),
                report[0].through()));
        report[0].peers().forEach(p -> text.append("        ").append(p).append('\n'));
      }
    }
    return text.toString();
  }
}
