package io.osier.datacenter.shard.agent;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.work.CollidingWork;
import io.osier.datacenter.work.Steps;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The work of a window that is filled with elements of one hash, each added by itself. Loaded as
 * {@link CollidingWork} is.
 */
public final class CombinerWork implements BiConsumer<String, Long> {
  private static final int FEW = 200;
  private static final int MANY = 16 * FEW;

  /** Linear is 16, n log n about 24, quadratic 256. */
  private static final double GROWTH_MAX = 32;

  @Override
  public void accept(String unused, Long ignored) {
    Steps.of(window(FEW / 4)); // links and loads
    long few = Steps.of(window(FEW));
    long many = Steps.of(window(MANY));
    if (many > GROWTH_MAX * few) {
      throw new AssertionError(FEW + " took " + few + " steps, " + MANY + " took " + many);
    }
  }

  private static Runnable window(int n) {
    List<Value> elements = CollidingWork.elements(n);
    ObjectId object = new ObjectId(Key.of("set"), CrdtType.AW_SET);
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    Operation first = new Operation.Add(Value.of("first"));
    CrdtState state = empty.join(empty.prepare(first, new ReplicaId("eu", 1), 1, 0, 1, 0));
    return () -> {
      MemoryStore store = new MemoryStore();
      store.put(object, state);
      KeyspacePolicy policy = KeyspacePolicy.session("k", Duration.ofSeconds(1));
      Combiner combiner = new Combiner(store, policy, () -> 0, due -> {});
      for (Value element : elements) {
        if (combiner.add(object.key(), object.type(), new Operation.Add(element))
            == Combiner.Outcome.REFUSED) {
          throw new AssertionError("an addition was refused");
        }
      }
      int taken = ((Operation.Add) combiner.takeAll().getFirst().operation()).elements().size();
      if (taken != n) {
        throw new AssertionError(taken + " instead of " + n);
      }
    };
  }
}
