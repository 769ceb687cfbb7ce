package io.osier.datacenter.work;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The work of two partitions that replicate: sixteen times the updates must be about sixteen times
 * the work at both. Loaded by {@link CountingLoader}.
 */
public final class ReplicationWork implements BiConsumer<String, Long> {
  private static final int FEW = 150;

  private static final Key KEY = Key.of("object");

  /** A datacenter and what it has sent. */
  private static final class Dc {
    private final ReplicaId self;
    private final MemoryStore store = new MemoryStore();
    private final ArrayDeque<Frame> sent = new ArrayDeque<>();
    private Partition partition;
    private boolean isLinked;

    Dc(String name) {
      this.self = new ReplicaId(name, 1);
    }

    void step(Input input, Now now) {
      for (Effects.Output output : partition.step(input, now).whenDurable()) {
        switch (output) {
          case Effects.ToClient a -> {
            if (a.reply() instanceof Reply.Failure) {
              throw new AssertionError(a);
            }
          }
          case Effects.Visible v -> {}
          case Effects.Send s -> {
            if (isLinked) {
              sent.add(s.frame());
            }
          }
        }
      }
    }
  }

  private Dc eu;
  private Dc us;
  private long millis;

  @Override
  public void accept(String scene, Long ignored) {
    Steps.demandGrowth(scene, FEW, n -> scene(scene, n));
  }

  private void scene(String scene, int n) {
    millis = 10_000;
    KeyspacePolicy causal = KeyspacePolicy.causal("k", Duration.ofSeconds(10));
    KeyspacePolicy session = KeyspacePolicy.session("k", Duration.ofSeconds(10));
    boolean held = scene.startsWith("held");
    KeyspacePolicy policy =
        (scene.endsWith("Causal") ? causal : session)
            .with(held ? KeyspacePolicy.Propagation.STATE : KeyspacePolicy.Propagation.OP);
    eu = start("eu", "us", policy);
    us = start("us", "eu", policy);
    boolean linked = !scene.startsWith("outage");
    if (linked) {
      link();
    } else {
      pass(Partition.JOIN_NANOS / 1_000_000 + 1);
    }
    for (int i = 0; i < n; i++) {
      if (scene.startsWith("heldSet")) {
        // Dots of another object in between, so that removals name n ranges.
        write(us, KEY, CrdtType.AW_SET, new Operation.Add(Value.of(i)));
        write(us, Key.of("other"), CrdtType.PN_COUNTER, new Operation.Increment(1));
      } else {
        write(eu, Key.of("a" + i), CrdtType.PN_COUNTER, new Operation.Increment(1));
        write(us, Key.of("b" + i), CrdtType.AW_SET, new Operation.Add(Value.of(i)));
      }
      if (scene.startsWith("batches") && i % 8 == 7) {
        pass(1);
      }
    }
    if (!linked) {
      link();
    }
    flush();
    if (scene.startsWith("heldSet")) {
      for (int i = 0; i < n; i++) {
        write(eu, KEY, CrdtType.AW_SET, new Operation.Remove(List.of(Value.of(i))));
      }
      flush();
    }
    check(n, scene);
  }

  private void check(int n, String scene) {
    for (int i = 0; i < n; i++) {
      for (Dc dc : List.of(eu, us)) {
        boolean all =
            scene.startsWith("heldSet")
                || (dc.store.get(new ObjectId(Key.of("a" + i), CrdtType.PN_COUNTER)) != null
                    && dc.store.get(new ObjectId(Key.of("b" + i), CrdtType.AW_SET)) != null);
        if (!all) {
          throw new AssertionError(scene + ": " + dc.self + " lacks number " + i + " of " + n);
        }
      }
    }
    if (scene.startsWith("heldSet")
        && !us.store.get(new ObjectId(KEY, CrdtType.AW_SET)).isBottom()) {
      throw new AssertionError("not everything was removed");
    }
  }

  private Dc start(String name, String peer, KeyspacePolicy policy) {
    Dc dc = new Dc(name);
    dc.partition = Partitions.started(dc.self, List.of(peer), policy, dc.store, now());
    return dc;
  }

  private void link() {
    eu.isLinked = true;
    us.isLinked = true;
    eu.step(new Input.PeerUp(us.self), now());
    us.step(new Input.PeerUp(eu.self), now());
    for (int i = 0; i < 50; i++) {
      pass(10);
    }
  }

  /** Ships what is held, and waits until all is there. */
  private void flush() {
    for (int i = 0; i < 1_000; i++) {
      eu.step(new Input.Flush(), now());
      us.step(new Input.Flush(), now());
      pass(10);
      if (i > 10 && eu.partition.isDrained() && us.partition.isDrained()) {
        return;
      }
    }
    throw new AssertionError("not drained after ten seconds");
  }

  private Now now() {
    return new Now(millis * 1_000_000, millis);
  }

  /** Time goes on, and all frames arrive. */
  private void pass(long more) {
    millis += more;
    for (Dc dc : List.of(eu, us)) {
      dc.step(new Input.Tick(), now());
    }
    while (!eu.sent.isEmpty() || !us.sent.isEmpty()) {
      deliver(eu, us);
      deliver(us, eu);
    }
  }

  private void deliver(Dc from, Dc to) {
    for (Frame frame = from.sent.poll(); frame != null; frame = from.sent.poll()) {
      to.step(new Input.FromPeer(from.self, frame), now());
    }
    to.step(new Input.Tick(), now());
  }

  private void write(Dc dc, Key key, CrdtType type, Operation operation) {
    Request write = Requests.write("k", key, type, operation);
    dc.step(new Input.Command(1, write), now());
  }
}
