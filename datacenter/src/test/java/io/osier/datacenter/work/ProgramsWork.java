package io.osier.datacenter.work;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;

/**
 * The work of programs: with sixteen times the calls, on objects sixteen times as large, about
 * sixteen times the work. Loaded by {@link CountingLoader}.
 */
public final class ProgramsWork implements BiConsumer<String, Long> {
  private static final int FEW = 200;

  private static final String NAME = "object";
  private static final Query WHOLE = new Query.Whole();

  private Partition partition;
  private Reply last;
  private long millis;

  @Override
  public void accept(String scene, Long ignored) {
    Steps.demandGrowth(scene, FEW, n -> scene(scene, n));
  }

  private void scene(String scene, int n) {
    millis = 10_000;
    partition =
        Partitions.started(
            new ReplicaId("eu", 1),
            List.of(),
            KeyspacePolicy.session("k", Duration.ofSeconds(1)),
            new MemoryStore(),
            now());
    switch (scene) {
      case "keys" -> done(n, i -> i % 2 == 0 ? assign("k" + i, "x") : read("k" + (i - 1), WHOLE));
      case "oneSet" -> done(n, i -> i % 2 == 0 ? add(Value.of(i)) : increment("other"));
      case "lengths" -> {
        done(1, i -> assign(NAME, "x".repeat(64 * n)));
        done(n, i -> read(NAME, new Query.Size()));
      }
      case "renaming" -> {
        done(1, i -> add(elements(n)));
        done(1, i -> new Call.Rename(Key.of(NAME), Key.of("other"), false));
      }
      case "taking" -> {
        done(1, i -> add(elements(n)));
        for (int k = 0; k < n / 2; k++) {
          long seed = k;
          done(1, i -> new Call.Take(Key.of(NAME), CrdtType.AW_SET, 1, seed));
        }
        done(1, i -> new Call.Take(Key.of(NAME), CrdtType.AW_SET, n / 4, 7));
      }
      case "takingTogether" -> {
        done(1, i -> add(elements(n)));
        done(n, i -> new Call.Take(Key.of(NAME), CrdtType.AW_SET, 1, i));
      }
      default -> throw new IllegalArgumentException(scene);
    }
  }

  private static Value[] elements(int n) {
    Value[] elements = new Value[n];
    for (int i = 0; i < n; i++) {
      elements[i] = Value.of(i);
    }
    return elements;
  }

  private static Call assign(String key, String text) {
    return update(key, CrdtType.STRING, new Operation.Assign(Value.of(text)));
  }

  private static Call increment(String key) {
    return update(key, CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  private static Call add(Value... elements) {
    return update(NAME, CrdtType.AW_SET, new Operation.Add(List.of(elements)));
  }

  private static Call update(String key, CrdtType type, Operation operation) {
    return new Call.Update(Key.of(key), type, operation, Optional.empty());
  }

  private static Call read(String key, Query query) {
    return new Call.Read(Key.of(key), Optional.empty(), query);
  }

  private Now now() {
    return new Now(millis * 1_000_000, millis);
  }

  /** Runs a program, none of whose calls fails. */
  private void done(int calls, IntFunction<Call> call) {
    List<Call> all = new ArrayList<>(calls);
    for (int i = 0; i < calls; i++) {
      all.add(call.apply(i));
    }
    millis++;
    Request program = new Request.Evaluate("k", all, List.of(), VersionVector.EMPTY, 0);
    Effects effects = partition.step(new Input.Command(1, program), now());
    for (Effects.Output output : effects.whenDurable()) {
      if (output instanceof Effects.ToClient a) {
        last = a.reply();
      }
    }
    for (Reply part : ((Reply.Evaluated) last).parts()) {
      if (part instanceof Reply.Failure) {
        throw new AssertionError(part.toString());
      }
    }
  }
}
