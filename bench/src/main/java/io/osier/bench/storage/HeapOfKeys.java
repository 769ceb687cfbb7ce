package io.osier.bench.storage;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.osier.core.Value;
import io.osier.datacenter.cli.Table;
import io.osier.proxy.Keyspace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;

/** What a key takes in memory: counters, registers, sets of ten elements. */
final class HeapOfKeys implements Part {
  /** A type, the bytes of its value, and what writes one object of it. */
  private record Kind(
      String name, int valueBytes, BiFunction<Keyspace, String, CompletableFuture<Void>> write) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("counter", 8, (s, k) -> s.counter(k).incrementAsync(1)),
          new Kind("register", 20, (s, k) -> s.register(k).assignAsync(Value.of("v".repeat(20)))),
          new Kind("set of 10", 100, (s, k) -> s.set(k).addAsync(tenElements())));

  private static List<Value> tenElements() {
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      elements.add(Value.of("element-" + i + "-"));
    }
    return elements;
  }

  @Override
  public Result measure(Scale scale, ArrayNode json) throws InterruptedException {
    int keys = scale.quick() ? 100_000 : 1_000_000;
    Table table =
        new Table("type", "keys", "key and value", "heap a key, hot", "metadata", "heap, evicted");
    for (Kind kind : KINDS) {
      long hot = heapOfKey(scale.dir().resolve(kind.name + "-hot"), kind, keys, allMemory());
      long evicted = heapOfKey(scale.dir().resolve(kind.name + "-cold"), kind, keys, "1MiB");
      int payload = kind.valueBytes + KEY_BYTES;
      table.add(
          kind.name,
          String.format(Locale.ROOT, "%,d", keys),
          Integer.toString(payload),
          Long.toString(hot),
          Long.toString(hot - payload),
          Long.toString(evicted));
      json.addObject()
          .put("type", kind.name)
          .put("keys", keys)
          .put("payload_bytes", payload)
          .put("heap_bytes_per_key_hot", hot)
          .put("heap_bytes_per_key_evicted", evicted);
    }
    return new Result(
        "memory: heap of one datacenter, after garbage collection, by the key", table);
  }

  private static final int KEY_BYTES = 10;

  /** As much as a cache may have: half of the heap, of which a megabyte is left over. */
  private static String allMemory() {
    return Runtime.getRuntime().maxMemory() / 2 / (1 << 20) - 1 + "MiB";
  }

  private static long heapOfKey(Path dir, Kind kind, int keys, String cache)
      throws InterruptedException {
    try (Rig rig = new Rig(dir, "async", cache)) {
      Keyspace space = rig.space();
      kind.write.apply(space, "first").join();
      long before = heap();
      Semaphore room = new Semaphore(UNDER_WAY);
      for (int i = 0; i < keys; i++) {
        room.acquireUninterruptibly();
        var unused =
            kind.write
                .apply(space, String.format(Locale.ROOT, "key%07d", i))
                .whenComplete((v, e) -> room.release());
      }
      room.acquireUninterruptibly(UNDER_WAY);
      Thread.sleep(SETTLE_MILLIS);
      return Math.max(0, heap() - before) / keys;
    }
  }

  private static final int UNDER_WAY = 1_000;

  /** Lets what is written in the background be written, and what the cache dropped be dropped. */
  private static final long SETTLE_MILLIS = 3_000;

  private static long heap() throws InterruptedException {
    Runtime runtime = Runtime.getRuntime();
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      System.gc();
      Thread.sleep(100);
      used = Math.min(used, runtime.totalMemory() - runtime.freeMemory());
    }
    return used;
  }
}
