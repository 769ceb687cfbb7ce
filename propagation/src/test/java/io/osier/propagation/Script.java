package io.osier.propagation;

import static java.util.Objects.requireNonNull;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.propagation.host.LateCounts;
import io.osier.propagation.host.ObjectAccess;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A few datacenters' streams in virtual time, driven by commands, each frame under way for 20 ms.
 *
 * <pre>
 *   start session|causal DC...   starts and connects them; the SLA is 2 s
 *   DC add KEY ELEMENT...        adds elements to a set: an update that leaves at once
 *   DC hold KEY ELEMENT...       the same, but it waits for a round
 *   DC release KEY               the object goes back to operations
 *   DC expire KEY MILLIS         gives a set a deadline, in ms since 1970
 *   DC clear KEY                 clears a set, as where it is decomposed: by a state
 *   DC both KEY KEY ELEMENT      adds an element to two sets in one transaction
 *   untold COMMAND               the same, and what follows is of the same batch
 *   DC peers DC...               has these peers from now on
 *   lose DC DC                   loses the next updates from one to the other
 *   mute DC DC                   loses all from one to the other from now on, and nobody is told
 *   slow DC DC N                 from now on N bytes a second go from one to the other
 *   cut DC DC, join DC DC        cuts a link, both ways, or joins it again
 *   run N                        lets N ms pass
 * </pre>
 *
 * <p>Of statuses and acknowledgements only those are told that say something new to the peer.
 */
final class Script {
  private static final String UNTOLD = "untold ";
  private static final long MILLI = 1_000_000;
  private static final long DELAY = 20 * MILLI;

  private record Event(long nanos, long order, Runnable action) {}

  private final class Dc implements ObjectAccess, StoredObjects {
    final ReplicaId self;
    final TreeMap<ObjectId, CrdtState> objects = new TreeMap<>();
    final TreeMap<String, String> shown = new TreeMap<>();
    final Propagation propagation;
    long committed;

    Dc(ReplicaId self, List<String> peers) {
      this.self = self;
      this.propagation =
          new Propagation(
              new ReplicationContext(
                  self,
                  peers,
                  policy,
                  settings,
                  RecoveredState.NOTHING,
                  this,
                  (to, frame) -> send(this, to.dc(), frame),
                  UpdateObserver.NONE),
              nanos);
    }

    void commit(String key, List<String> elements, boolean hold) {
      Operation add = new Operation.Add(elements.stream().map(Value::of).toList());
      commit(key, add, committed + 1, hold);
    }

    void commit(String key, Operation operation, long floor, boolean hold) {
      ObjectId object = object(key);
      CrdtState before = objects.getOrDefault(object, CrdtState.bottom(object.type()));
      boolean clears = operation instanceof Operation.Clear;
      CrdtState seen = clears ? Decomposition.of(before) : before;
      long predecessor = before.context().through(self);
      CrdtState delta = seen.prepare(operation, self, committed + 1, predecessor, nanos / MILLI, 0);
      committed = delta.context().last(self);
      objects.put(object, before.join(delta));
      propagation.commit(object, before.context(), committed, floor, delta, 1, hold, nanos, nanos);
    }

    @Override
    public StoredObjects stored() {
      return this;
    }

    @Override
    public @Nullable CrdtState state(ObjectId object) {
      CrdtState state = objects.get(object);
      return state == null || leases == null ? state : leases.of(state);
    }

    @Override
    public void apply(Shipment update, CrdtState joined) {
      objects.put(update.object(), leases == null ? joined : Decomposition.whole(joined));
      shown.put(update.object().key().toString(), value(joined));
      if (policy.consistency() == KeyspacePolicy.Consistency.SESSION) {
        admitted();
      }
    }

    @Override
    public void admitted() {
      if (!shown.isEmpty()) {
        tell(self.dc() + "     shows " + shown);
        shown.clear();
      }
    }

    @Override
    public List<Entry> scan(Optional<ObjectId> after, int limit) {
      return (after.isEmpty() ? objects : objects.tailMap(after.get(), false))
          .entrySet().stream().limit(limit).map(e -> new Entry(e.getKey(), e.getValue())).toList();
    }

    @Override
    public List<Logged> logged(long after, int limit) {
      return List.of();
    }
  }

  private final StreamSettings settings;
  private @Nullable LeasedEntries leases;
  private final Map<String, Dc> dcs = new TreeMap<>();

  final ScriptLinks links = new ScriptLinks();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.nanos != b.nanos ? Long.compare(a.nanos, b.nanos) : Long.compare(a.order, b.order));
  private final Map<String, String> last = new HashMap<>();
  private final StringBuilder told = new StringBuilder();
  private final Map<String, Integer> acks = new HashMap<>();
  private int statuses;
  private KeyspacePolicy policy = KeyspacePolicy.session("k", Duration.ofSeconds(2));
  private long nanos = 1_000_000 * MILLI;
  private final long startNanos = nanos;
  private long order;

  Script() {
    this(StreamSettings.DEFAULT);
  }

  Script(StreamSettings settings) {
    this.settings = settings;
  }

  /** Loses the frames that the predicate accepts from now on; links are named "from>to". */
  void loses(BiPredicate<String, Frame> frames) {
    links.loses(frames);
  }

  /** Duplicates the frames that the predicate accepts from now on, while others are in flight. */
  void repeats(BiPredicate<String, Frame> frames) {
    links.repeats(frames);
  }

  /** Puts objects' entries outside the heap from now on, where that is possible. */
  void leases(LeasedEntries entries) {
    leases = entries;
  }

  /** Returns a datacenter's state of an object. */
  CrdtState state(String dc, String key) {
    return requireNonNull(dc(dc).objects.get(object(key)), key);
  }

  /** Returns about how many bytes of the heap the updates take that wait at a datacenter. */
  long waitingBytes(String dc) {
    return dc(dc).propagation.memory().stream()
        .filter(usage -> usage.name().equals("waiting"))
        .mapToLong(Budget.Usage::used)
        .sum();
  }

  /** Runs a command; returns what it printed. */
  String run(String command) {
    told.setLength(0);
    boolean isUntold = command.startsWith(UNTOLD);
    String[] words = (isUntold ? command.substring(UNTOLD.length()) : command).split(" +");
    switch (words[0]) {
      case "start" -> start(words);
      case "lose" -> links.loseUpdates(words[1] + ">" + words[2]);
      case "slow" -> links.slow(words[1] + ">" + words[2], Long.parseLong(words[3]));
      case "mute" -> links.cut(words[1] + ">" + words[2], true);
      case "cut" -> link(words[1], words[2], false);
      case "join" -> link(words[1], words[2], true);
      case "run" -> pass(Long.parseLong(words[1]) * MILLI);
      default -> {
        Dc dc = dc(words[0]);
        List<String> elements =
            words.length < 3 ? List.of() : List.of(words).subList(3, words.length);
        switch (words[1]) {
          case "add" -> dc.commit(words[2], elements, false);
          case "hold" -> dc.commit(words[2], elements, true);
          case "peers" -> dc.propagation.setPeers(List.of(words).subList(2, words.length), nanos);
          case "release" -> dc.propagation.outbound().release(object(words[2]));
          case "expire" -> {
            Operation expire = new Operation.Expire(Long.parseLong(words[3]), false);
            dc.commit(words[2], expire, dc.committed + 1, false);
          }
          case "clear" -> dc.commit(words[2], new Operation.Clear(), dc.committed + 1, false);
          case "both" -> {
            long floor = dc.committed + 1;
            Operation add = new Operation.Add(List.of(Value.of(words[4])));
            dc.commit(words[2], add, floor, false);
            dc.commit(words[3], add, floor, false);
          }
          default -> throw new IllegalArgumentException(command);
        }
        if (!isUntold) {
          tick(dc);
        }
      }
    }
    return told.toString();
  }

  /** Runs commands, one after the other; returns what they printed. */
  String runAll(String... commands) {
    StringBuilder all = new StringBuilder();
    for (String command : commands) {
      all.append(run(command));
    }
    return all.toString();
  }

  /** Returns names of elements for a command, each behind a space. */
  static String elements(int from, int to) {
    StringBuilder all = new StringBuilder();
    for (int i = from; i < to; i++) {
      all.append(" e").append(i);
    }
    return all.toString();
  }

  /** Returns how many statuses were sent since the last call. */
  int statuses() {
    int sent = statuses;
    statuses = 0;
    return sent;
  }

  /** Returns how many acknowledgements were sent from one datacenter to the other so far. */
  int acks(String from, String to) {
    return acks.getOrDefault(from + ">" + to, 0);
  }

  void loseStatus(String from, String to) {
    links.hush(from + ">" + to);
  }

  /** Returns up to which of its updates a datacenter knows that all have them. */
  long shipped(String name) {
    return dc(name).propagation.status().shipped();
  }

  /** Returns the counts of shipments that became visible late at a datacenter. */
  LateCounts late(String name) {
    return dc(name).propagation.stats().late();
  }

  private Dc dc(String name) {
    return requireNonNull(dcs.get(name), name);
  }

  private void start(String[] words) {
    Duration sla = Duration.ofSeconds(2);
    policy =
        words[1].equals("causal")
            ? KeyspacePolicy.causal("k", sla)
            : KeyspacePolicy.session("k", sla);
    List<String> names = List.of(words).subList(2, words.length);
    for (String name : names) {
      List<String> peers = new ArrayList<>(names);
      peers.remove(name);
      dcs.put(name, new Dc(new ReplicaId(name, 1), peers));
    }
    for (String a : names) {
      names.stream().filter(b -> a.compareTo(b) < 0).forEach(b -> link(a, b, true));
    }
  }

  private void link(String a, String b, boolean up) {
    for (String[] way : new String[][] {{a, b}, {b, a}}) {
      Dc dc = dc(way[0]);
      links.cut(way[0] + ">" + way[1], !up);
      if (up) {
        dc.propagation.peerUp(dc(way[1]).self, nanos);
      } else {
        dc.propagation.peerDown(way[1], nanos);
      }
    }
    tick(dc(a));
    tick(dc(b));
  }

  private void pass(long duration) {
    long until = nanos + duration;
    while (!events.isEmpty() && events.peek().nanos <= until) {
      Event event = events.poll();
      nanos = event.nanos;
      event.action.run();
    }
    nanos = until;
  }

  private void at(long when, Runnable action) {
    events.add(new Event(Math.max(nanos, when), ++order, action));
  }

  private void tick(Dc dc) {
    dc.propagation.tick(nanos, nanos / MILLI);
    long next = dc.propagation.nextTickNanos();
    if (next != Long.MAX_VALUE) {
      at(
          next,
          () -> {
            if (dc.propagation.nextTickNanos() <= nanos) {
              tick(dc);
            }
          });
    }
  }

  private void send(Dc from, String to, Frame frame) {
    String link = from.self.dc() + ">" + to;
    boolean isLost = links.loses(link, frame);
    statuses += frame instanceof Frame.Status ? 1 : 0;
    if (frame instanceof Frame.Ack) {
      acks.merge(link, 1, Integer::sum);
    }
    if (links.hushes(link, frame)) {
      return;
    }
    String text = FrameTexts.text(frame);
    boolean repeats = frame instanceof Frame.Status || frame instanceof Frame.Ack;
    if (!repeats || !text.equals(last.put(link + frame.getClass(), text))) {
      tell(link + "  " + text + (isLost ? "  LOST" : ""));
    }
    if (!isLost) {
      arrives(from, to, link, frame, links.queuedNanos(link, from.self, frame, nanos) + DELAY);
      if (links.repeats(link, frame)) {
        arrives(from, to, link, frame, 4 * DELAY);
      }
    }
  }

  private void arrives(Dc from, String to, String link, Frame frame, long delay) {
    at(
        nanos + delay,
        () -> {
          if (!links.isCut(link)) {
            dc(to).propagation.received(from.self, frame, nanos, nanos / MILLI);
            tick(dc(to));
          }
        });
  }

  private void tell(String what) {
    told.append(String.format("%6d  %s%n", (nanos - startNanos) / MILLI, what));
  }

  private static ObjectId object(String key) {
    return new ObjectId(Key.of(key), CrdtType.AW_SET);
  }

  private static String value(CrdtState set) {
    return ((Reading.Many) set.read(new Query.Whole()))
        .values().stream().map(Value::toString).sorted().collect(Collectors.joining(" "));
  }
}
