package io.osier.datacenter.work;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.TransactionRights;
import io.osier.datacenter.access.User;
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
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * The work of a partition of a causal keyspace with a peer that is away: sixteen times the requests
 * must be about sixteen times the work. Loaded by {@link CountingLoader}.
 */
public final class PartitionWork implements BiConsumer<String, Long> {
  private static final int FEW = 200;
  private static final int MANY = 16 * FEW;

  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final Key KEY = Key.of("object");
  private static final int HISTORY_MILLIS = 1_000;

  private static final class Outputs {
    private Reply last;
    private int failures;

    void take(Effects effects) {
      for (Effects.Output output : effects.whenDurable()) {
        if (output instanceof Effects.ToClient a) {
          last = a.reply();
          failures += last instanceof Reply.Failure ? 1 : 0;
        }
      }
    }
  }

  private Partition partition;
  private Outputs out;
  private long millis;
  private long transactions;

  @Override
  public void accept(String scene, Long ignored) {
    Steps.demandGrowth(scene, FEW, n -> scene(scene, n));
  }

  private void scene(String scene, int n) {
    out = new Outputs();
    millis = 10_000;
    transactions = 0;
    partition =
        Partitions.started(
            SELF, // Without all others it could not know what of its rights it has used.
            scene.equals("waitingForRights") ? List.of() : List.of("us"),
            policy(scene),
            new MemoryStore(),
            now());
    pass(Partition.JOIN_NANOS / 1_000_000 + 1);
    switch (scene) {
      case "clearing" -> clearing(n);
      case "removing" -> removing(n);
      case "repeatedNames" -> repeatedNames(n);
      case "conflictingFields" -> conflictingFields(n);
      case "recentReads" -> recentReads(n);
      case "openSnapshot" -> openSnapshot(n);
      case "manySnapshots" -> manySnapshots(n);
      case "manySteps" -> manySteps(n);
      case "manyCommits" -> manyCommits(n);
      case "collidingTransactions" -> collidingTransactions(n);
      case "resuming" -> resuming(n);
      case "waitingForRights" -> waitingForRights(n);
      default -> throw new IllegalArgumentException(scene);
    }
    if (out.failures > 0) {
      throw new AssertionError(scene + " failed: " + out.last);
    }
  }

  private static KeyspacePolicy policy(String scene) {
    return scene.equals("resuming")
        ? KeyspacePolicy.session("k", Duration.ofSeconds(1))
        : KeyspacePolicy.causal("k", Duration.ofSeconds(1))
            .withHistory(Duration.ofMillis(HISTORY_MILLIS));
  }

  // ---------------------------------------------------------------- scenes

  /** A set whose dots alternate with another object's, so that its clearing has n ranges. */
  private void clearing(int n) {
    for (int i = 0; i < n; i++) {
      write(KEY, CrdtType.AW_SET, new Operation.Add(Value.of(i)));
      write(Key.of("other"), CrdtType.PN_COUNTER, new Operation.Increment(1));
    }
    write(KEY, CrdtType.AW_SET, new Operation.Clear());
  }

  /** A set that remembers n removals, one after the other. */
  private void removing(int n) {
    for (int i = 0; i < n; i++) {
      write(KEY, CrdtType.RW_SET, new Operation.Remove(List.of(Value.of(i))));
    }
  }

  /** A field with n elements, the name of which is given n times. */
  private void repeatedNames(int n) {
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      elements.add(Value.of(i));
    }
    FieldId field = new FieldId("f", CrdtType.AW_SET);
    Operation add = new Operation.Add(elements);
    write(KEY, CrdtType.OR_MAP, new Operation.UpdateFields(field, add));
    Query query = new Query.Select(Collections.nCopies(n, field.name()));
    command(Requests.read("k", KEY, CrdtType.OR_MAP, query));
    int read = ((Reply.Answer) out.last).reading().map(PartitionWork::elements).orElse(0);
    if (read != n) {
      throw new AssertionError(read + " elements of " + n + " were read");
    }
  }

  private static int elements(Reading map) {
    return ((Reading.Many) ((Reading.Fields) map).fields().firstEntry().getValue()).values().size();
  }

  /** A transaction that changes n fields of a map that has changed since it began. */
  private void conflictingFields(int n) {
    for (int i = 0; i < n; i++) {
      write(KEY, CrdtType.OR_MAP, field(i, 1));
      write(Key.of("other"), CrdtType.PN_COUNTER, new Operation.Increment(1));
    }
    TransactionId tx = begin();
    write(KEY, CrdtType.OR_MAP, field(0, 2));
    List<Operation.FieldUpdate> all = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      all.addAll(field(i, 3).updates());
    }
    step(tx, 2, Request.End.COMMIT, new Operation.UpdateFields(all));
  }

  private static Operation.UpdateFields field(int i, int value) {
    return new Operation.UpdateFields(
        new FieldId("f" + i, CrdtType.LWW_REGISTER), new Operation.Assign(Value.of(value)));
  }

  /** Reads of what has a long past. */
  private void recentReads(int n) {
    for (int i = 0; i < n; i++) {
      increment();
      begin();
      increment();
      command(
          Requests.step(
              "k",
              new TransactionId(7, transactions),
              2,
              List.of(),
              List.of(new Request.Fetch(KEY, Optional.empty(), new Query.Whole())),
              Request.End.COMMIT));
    }
  }

  /** One snapshot, while the object changes and its past expires. */
  private void openSnapshot(int n) {
    begin();
    for (int i = 0; i < n; i++) {
      increment();
    }
    for (int i = 0; i < 10; i++) {
      pass(HISTORY_MILLIS / 5);
    }
  }

  /** Each update has its snapshot, and all outlive the past that is kept anyway. */
  private void manySnapshots(int n) {
    for (int i = 0; i < n; i++) {
      increment();
      begin();
    }
    increment();
    for (int i = 0; i < 10; i++) {
      pass(HISTORY_MILLIS / 5);
    }
    for (int i = 1; i <= n; i++) {
      step(new TransactionId(7, i), 2, Request.End.ABORT);
    }
  }

  /** A transaction that grows step by step. */
  private void manySteps(int n) {
    TransactionId tx = begin();
    for (int i = 0; i < n; i++) {
      step(tx, i + 2, Request.End.OPEN, new Operation.Increment(1));
    }
  }

  /** Transactions of one step, one after the other, before the batch of inputs ends. */
  private void manyCommits(int n) {
    for (int i = 0; i < n; i++) {
      commit(new TransactionId(7, ++transactions));
    }
  }

  /** Whose identities were not drawn at random, but so that all have one hash. */
  private void collidingTransactions(int n) {
    TransactionRights rights = new TransactionRights(2 * MANY);
    User user = new User("user", Optional.empty(), List.of());
    for (int i = 0; i < n; i++) {
      TransactionId id = new TransactionId(i, 31L * (MANY - i));
      commit(id);
      rights.missing(user, request(id, Request.End.OPEN), 0);
    }
  }

  private void commit(TransactionId id) {
    command(request(id, Request.End.COMMIT));
  }

  private static Request.Transact request(TransactionId id, Request.End end) {
    Request.Update update =
        new Request.Update(KEY, CrdtType.PN_COUNTER, new Operation.Increment(1));
    return Requests.step("k", id, 1, List.of(update), List.of(), end);
  }

  /** A peer that asks for the stream anew after each update of one batch. */
  private void resuming(int n) {
    ReplicaId peer = new ReplicaId("us", 1);
    out.take(partition.step(new Input.PeerUp(peer), now()));
    for (int i = 0; i < n; i++) {
      increment();
      Frame resume = new Frame.Resume(i + 1, 0, Optional.empty());
      out.take(partition.step(new Input.FromPeer(peer, resume), now()));
    }
  }

  /** Updates that wait for rights which nobody gives, and then come from here. */
  private void waitingForRights(int n) {
    write(KEY, CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 1_000_000, List.of()));
    for (int i = 0; i < n; i++) {
      write(KEY, CrdtType.BOUNDED_COUNTER, new Operation.IncrementWithin(-1, 60_000));
      partition.nextTickNanos();
    }
    for (int i = 0; i < 10; i++) {
      pass(100);
    }
    write(KEY, CrdtType.BOUNDED_COUNTER, new Operation.Increment(n));
    pass(1);
  }

  // ---------------------------------------------------------------- inputs

  private Now now() {
    return new Now(millis * 1_000_000, millis);
  }

  private void pass(long more) {
    millis += more;
    out.take(partition.step(new Input.Tick(), now()));
  }

  private void command(Request request) {
    out.take(partition.step(new Input.Command(1, request), now()));
  }

  private void increment() {
    write(KEY, CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  private void write(Key key, CrdtType type, Operation operation) {
    command(Requests.write("k", key, type, operation));
  }

  private TransactionId begin() {
    TransactionId id = new TransactionId(7, ++transactions);
    command(Requests.step("k", id, 1, List.of(), List.of(), Request.End.OPEN));
    return id;
  }

  private void step(TransactionId id, int step, Request.End end, Operation... updates) {
    List<Request.Update> all = new ArrayList<>();
    for (Operation update : updates) {
      CrdtType type =
          update instanceof Operation.UpdateFields ? CrdtType.OR_MAP : CrdtType.PN_COUNTER;
      all.add(new Request.Update(KEY, type, update));
    }
    command(new Request.Transact("k", id, step, Optional.empty(), all, List.of(), end));
  }
}
