package io.osier.datacenter.work;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.WritesAtOnce;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.datacenter.testing.Partitions;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * How often an update is encoded by a partition that has a store and ships to two others, and by
 * one of those, which stores it too. Loaded by {@link CountingLoader}.
 */
public final class EncodingWork implements BiConsumer<String, Long> {
  private static final int UPDATES = 50;

  /** So few that the object stays small, and is put in place. */
  private static final int FEW = 8;

  private static final ObjectId OBJECT = new ObjectId(Key.of("object"), CrdtType.AW_SET);

  /** A datacenter with its store on a disk. */
  private static final class Dc implements AutoCloseable {
    private final Path dir;
    private final RocksDatabase database;
    private final RocksVersions versions;
    private final PartitionStore store;
    private final Partition partition;

    /** Encoded, as a transport does, with who is to get them. */
    private final List<Map.Entry<String, byte[]>> sent = new ArrayList<>();

    Dc(String name, List<String> peers, KeyspacePolicy policy, Now now) throws IOException {
      this.dir = Files.createTempDirectory("osier-encodings");
      this.database = RocksDatabase.open(dir, Durability.NONE, "test", name, 1);
      this.versions = database.partition("k", 0, Partitioning.byKey(1));
      this.store =
          Partitions.store(versions, WritesAtOnce.into(database, versions), database.self());
      this.partition =
          new Partition(
              Partitions.config(database.self(), peers, policy),
              store,
              store.recover(database.life(), database.isResumed(), database.replicas()),
              now);
    }

    ReplicaId self() {
      return database.self();
    }

    void step(Input input, Now now) {
      Effects effects = partition.step(input, now);
      effects.keep(store, () -> effects.whenDurable().forEach(this::leave));
    }

    private void leave(Effects.Output output) {
      switch (output) {
        case Effects.ToClient a -> {
          if (a.reply() instanceof Reply.Failure) {
            throw new AssertionError(a);
          }
        }
        case Effects.Visible v -> {}
        case Effects.Send s ->
            sent.add(Map.entry(s.to().dc(), FrameCodec.encode(self(), s.frame())));
      }
    }

    @Override
    public void close() throws IOException {
      database.close();
      try (Stream<Path> files = Files.walk(dir)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private long millis = 10_000;

  @Override
  public void accept(String scene, Long unused) {
    KeyspacePolicy policy = KeyspacePolicy.session("k", Duration.ofSeconds(10));
    policy =
        scene.equals("operations")
            ? policy.with(KeyspacePolicy.Propagation.OP)
            : policy.with(KeyspacePolicy.Propagation.STATE);
    if (scene.equals("fullStates")) {
      policy = policy.with(KeyspacePolicy.StatePayload.FULL);
    }
    try (Dc eu = new Dc("eu", List.of("ap", "us"), policy, now());
        Dc us = new Dc("us", List.of("ap", "eu"), policy, now())) {
      run(scene, eu, us);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void run(String scene, Dc eu, Dc us) {
    ReplicaId ap = new ReplicaId("ap", 1);
    eu.step(new Input.PeerUp(ap), now());
    eu.step(new Input.FromPeer(ap, new Frame.Resume(1, 0, Optional.empty())), now());
    eu.step(new Input.PeerUp(us.self()), now());
    us.step(new Input.PeerUp(eu.self()), now());
    for (int i = 0; i < 10; i++) {
      take(us, eu);
      take(eu, us);
      pass(eu, Partition.JOIN_NANOS / 1_000_000);
      pass(us, 0);
    }
    eu.sent.clear();
    int shipped = scene.equals("operations") ? UPDATES : 1;
    long atEu = encodings(() -> write(eu));
    int frames = eu.sent.size();
    if (frames < 2 * shipped) {
      throw new AssertionError(scene + ": only " + frames + " frames were shipped");
    }
    // Each by itself; what is joined of them once more. The store takes the object as it is then.
    expect(
        scene + ", where they are made",
        UPDATES + (scene.equals("operations") ? UPDATES : UPDATES + 1),
        atEu);
    expect(scene + ", where they arrive", shipped, encodings(() -> take(eu, us)));
    if (!eu.store.get(OBJECT).equals(us.store.get(OBJECT))) {
      throw new AssertionError(scene + ": not everything has come");
    }
  }

  private void write(Dc dc) {
    for (int i = 0; i < UPDATES; i++) {
      Request write =
          Requests.write("k", OBJECT.key(), CrdtType.AW_SET, new Operation.Add(Value.of(i % FEW)));
      dc.step(new Input.Command(1, write), now());
      pass(dc, 1);
    }
    dc.step(new Input.Flush(), now());
  }

  private void take(Dc from, Dc to) {
    for (Map.Entry<String, byte[]> frame : from.sent) {
      if (frame.getKey().equals(to.self().dc())) {
        to.step(
            new Input.FromPeer(from.self(), FrameCodec.decode(from.self(), frame.getValue())),
            now());
      }
    }
    from.sent.clear();
  }

  private static long encodings(Runnable action) {
    long before = Steps.encodings();
    action.run();
    return Steps.encodings() - before;
  }

  private static void expect(String what, long expected, long found) {
    if (found != expected) {
      throw new AssertionError(what + ": " + found + " encodings instead of " + expected);
    }
  }

  private Now now() {
    return new Now(millis * 1_000_000, millis);
  }

  private void pass(Dc dc, long more) {
    millis += more;
    dc.step(new Input.Tick(), now());
  }
}
