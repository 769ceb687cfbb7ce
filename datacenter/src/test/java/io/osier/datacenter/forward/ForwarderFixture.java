package io.osier.datacenter.forward;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** In virtual time: a datacenter between holders that do what the test says. */
abstract class ForwarderFixture {
  static final ReplicaId EU = new ReplicaId("eu", 1);
  static final ReplicaId US = new ReplicaId("us", 1);
  static final Key KEY = Key.of("k");
  static final long BYTES = 1 << 20;

  /** A connection, which is known by its object. */
  final Object lane = new Object();

  final World world = new World();
  final ByteBudget bytes = new ByteBudget(BYTES);
  final Forwarder forwarder = new Forwarder("ap", world, bytes, () -> world.now, Runnable::run);
  final List<Reply> replies = new ArrayList<>();

  record Sent(String dc, ForwardedRequest head, Request request) {}

  static final class World implements ForwardingHost {
    final Set<String> up = new TreeSet<>();
    final Queue<Sent> sent = new ArrayDeque<>();
    final Queue<Runnable> later = new ArrayDeque<>();
    VersionVector before = VersionVector.EMPTY;
    boolean cut;

    /** Those that take scripts. */
    final Set<String> takingScripts = new TreeSet<>();

    /** What was sent last, as it travels. */
    byte[] lastSent = {};

    long now = -7;

    @Override
    public Optional<ForwardingHost.Held> holders(String keyspace) {
      return keyspace.equals("shop")
          ? Optional.of(new ForwardingHost.Held(List.of("eu", "us"), Partitioning.byKey(1), ""))
          : Optional.empty();
    }

    @Override
    public VersionVector shownBefore(String keyspace, int partition) {
      return before;
    }

    @Override
    public boolean mayAsk(String dc) {
      return up.contains(dc);
    }

    @Override
    public boolean ask(String dc, byte[] content) {
      ForwardedRequest head = ForwardedRequest.decode(content);
      if (!cut) {
        lastSent = content;
        boolean isScript = ForwardedScript.isNext(head.request());
        Request asked = isScript ? ForwardedScript.read(head.request()).program() : head.decoded();
        sent.add(new Sent(dc, head, asked));
      }
      return !cut;
    }

    @Override
    public boolean takesScripts(String dc) {
      return takingScripts.contains(dc);
    }

    @Override
    public void later(Runnable task, long millis) {
      later.add(task);
    }
  }

  void up(ReplicaId dc) {
    world.up.add(dc.dc());
    forwarder.up(dc);
  }

  void down(ReplicaId dc) {
    world.up.remove(dc.dc());
    forwarder.down(dc.dc());
  }

  void pass(long nanos) {
    world.now += nanos;
    for (int i = world.later.size(); i > 0; i--) {
      world.later.remove().run();
    }
  }

  static Request read(VersionVector after) {
    return new Request.Read("shop", KEY, Optional.empty(), new Query.Whole(), after, false, 0);
  }

  static Request update() {
    return new Request.Write(
        "shop", KEY, CrdtType.PN_COUNTER, new Operation.Increment(1), VersionVector.EMPTY, 0);
  }

  boolean forward(Request request) {
    return forwarder.forward(request, lane, "ann", replies::add);
  }

  /** What was asked next, which is no measurement. */
  Sent next() {
    Sent next = world.sent.remove();
    return next.request instanceof Request.Ping ? next() : next;
  }

  void answer(ReplicaId by, Sent sent, Reply reply) {
    forwarder.answered(by, ProtocolCodec.encode(sent.head.id(), reply));
  }

  static Reply seen(ReplicaId replica, long number) {
    return new Reply.Answer(
        Optional.empty(), Optional.empty(), false, VersionVector.of(replica, number));
  }

  ErrorCode failure() {
    assertThat(replies).hasSize(1);
    return ((Reply.Failure) replies.removeFirst()).code();
  }

  void isIdle() {
    assertThat(bytes.taken()).as("of the budget").isZero();
  }

  private static Sent ping(Map<String, Sent> pings, ReplicaId of) {
    return requireNonNull(pings.get(of.dc()));
  }

  /** How far they are, in ms. */
  void measure(long toEu, long toUs) {
    world.sent.clear();
    pass(WayMeter.MEASURE_NANOS);
    Map<String, Sent> pings = new TreeMap<>();
    world.sent.forEach(sent -> pings.put(sent.dc, sent));
    world.sent.clear();
    world.now += Math.min(toEu, toUs) * 1_000_000;
    boolean isEuFirst = toEu < toUs;
    answer(isEuFirst ? EU : US, ping(pings, isEuFirst ? EU : US), new Reply.Pong());
    world.now += Math.abs(toEu - toUs) * 1_000_000;
    answer(isEuFirst ? US : EU, ping(pings, isEuFirst ? US : EU), new Reply.Pong());
  }
}
