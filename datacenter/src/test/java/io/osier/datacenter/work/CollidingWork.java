package io.osier.datacenter.work;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.state.EntryRanges;
import io.osier.crdt.tree.EntrySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The work of sets whose elements were chosen to have one hash: sixteen times the elements must be
 * about sixteen times the work. Loaded by {@link CountingLoader}.
 */
public final class CollidingWork implements BiConsumer<String, Long> {
  private static final int FEW = 200;
  private static final int MANY = 16 * FEW;

  /** Linear is 16, n log n about 24, quadratic 256. */
  private static final double GROWTH_MAX = 32;

  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final List<ReplicaId> REPLICAS = List.of(EU, US);

  /** "Aa" and "BB" have one hash in Java, and so have all texts made of n such pairs. */
  public static List<Value> elements(int n) {
    List<Value> elements = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      StringBuilder text = new StringBuilder();
      for (int bit = 0; bit < 16; bit++) {
        text.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      elements.add(Value.of(text.toString()));
    }
    return elements;
  }

  /** The entries of an object outside the heap. */
  private static final class Outside implements EntrySource {
    final NavigableMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);

    @Override
    public byte @Nullable [] get(byte[] key) {
      return entries.get(key);
    }

    @Override
    public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
      return EntrySource.pageOf(entries, from, inclusive, down, max);
    }

    @Override
    public List<ReplicaId> replicas() {
      return REPLICAS;
    }
  }

  @Override
  public void accept(String scene, Long unused) {
    Steps.of(action(scene, FEW / 4)); // links and loads
    long few = Steps.of(action(scene, FEW));
    long many = Steps.of(action(scene, MANY));
    if (many > GROWTH_MAX * few) {
      throw new AssertionError(
          scene + ": " + FEW + " took " + few + " steps, " + MANY + " took " + many);
    }
  }

  private static Runnable action(String scene, int n) {
    List<Value> elements = elements(n);
    List<Value> some = elements.subList(0, n / 2 - 1);
    Query.Among among = new Query.Among(elements);
    CrdtState before = decomposed(updated(CrdtState.bottom(CrdtType.AW_SET), EU, elements));
    CrdtState changed = updated(before, EU, some);
    return switch (scene) {
      case "among" -> () -> check(n, among.present(element -> true).size());
      case "absent" -> () -> check(0, among.absent(elements).size());
      case "changed" -> {
        CrdtState delta = prepared(before, EU, new Operation.Add(some));
        List<byte[]> given = new ArrayList<>();
        yield () -> {
          given.clear();
          Decomposition.changed(
              changed, List.of(delta, delta), REPLICAS, (key, cell) -> given.add(key));
          check(some.size(), given.size());
        };
      }
      case "rebased" -> {
        CrdtState again = updated(changed, EU, some);
        yield () -> {
          CrdtState rebased = Decomposition.rebased(again, changed, new Outside());
          check(some.size(), Decomposition.inMemory(rebased));
        };
      }
      case "cleared" -> {
        CrdtState cleared = before.join(prepared(before, US, new Operation.Clear()));
        yield () -> check(some.size(), Decomposition.inMemory(changed.join(cleared)));
      }
      case "pulled" -> {
        List<EntryRanges.Range> ranges =
            EntryRanges.of(changed, EntryKey.NONE, Long.MAX_VALUE, Long.MAX_VALUE);
        EntryRanges.Some all =
            EntryRanges.entries(changed, EntryKey.NONE, ranges, List.of(0), Long.MAX_VALUE);
        yield () -> {
          CrdtState pulled = EntryRanges.with(before, EntryKey.NONE, ranges, all);
          check(some.size(), Decomposition.inMemory(pulled));
        };
      }
      default -> throw new IllegalArgumentException(scene);
    };
  }

  private static CrdtState updated(CrdtState object, ReplicaId by, List<Value> added) {
    return object.join(prepared(object, by, new Operation.Add(added)));
  }

  private static CrdtState prepared(CrdtState object, ReplicaId by, Operation operation) {
    long last = object.context().last(by);
    return object.prepare(operation, by, last + 1, last, last + 1, 0);
  }

  /** An equal object whose entries are outside. */
  private static CrdtState decomposed(CrdtState whole) {
    Outside outside = new Outside();
    Decomposition.all(whole, REPLICAS, outside.entries::put);
    List<ReplicaId> replicas = whole.context().replicas();
    byte[] head =
        WireOutput.bytesOf(
            out -> {
              replicas.forEach(out::presetReplica);
              Decomposition.writeHead(Decomposition.of(whole), out);
            });
    return Decomposition.readHead(whole.form(), replicas, new WireInput(head), outside);
  }

  private static void check(long expected, long found) {
    if (found != expected) {
      throw new AssertionError(found + " instead of " + expected);
    }
  }
}
