package io.osier.bench.jmh;

import io.osier.bench.run.Results;
import io.osier.core.codec.WireInput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import java.lang.management.ManagementFactory;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Measures the heap that objects take. */
@Command(
    name = "memory",
    mixinStandardHelpOptions = true,
    description =
        "Measures the heap that objects of each type take: fills it with many that share "
            + "nothing, each decoded from its bytes as one that came from the network is, and "
            + "divides.")
public final class MemoryCommand implements Callable<Integer> {
  private static final int[] SIZES = {1, 100, 10_000};

  /**
   * The encoded bytes of all objects of a measurement, which take up to ten times as much heap:
   * enough to make other allocations negligible.
   */
  private static final int BYTES = 20_000_000;

  private static final int OBJECTS_MAX = 100_000;

  @Override
  public Integer call() throws InterruptedException {
    measure(CrdtType.AW_SET, 100); // loads the classes
    Results results = new Results();
    for (CrdtType type : CrdtType.values()) {
      double smallest = 0;
      for (int size : SIZES) {
        double bytes = measure(type, size);
        smallest = size == 1 ? bytes : smallest;
        String row = type.label() + ", " + size;
        results.add("type, size", row, "heap bytes", bytes);
        if (size > 1 && type.hasParts()) {
          results.add("type, size", row, "an element", (bytes - smallest) / (size - 1));
        }
        results.add("type, size", row, "encoded", StateCodec.pack(Objects.of(type, size)).length);
      }
    }
    System.out.println(results.table("type, size"));
    return 0;
  }

  private double measure(CrdtType type, int size) throws InterruptedException {
    CrdtState object = Objects.of(type, size);
    byte[] encoded = StateCodec.pack(object);
    int count = Math.clamp(BYTES / encoded.length, 1, OBJECTS_MAX);
    Object[] objects = new Object[count];
    long before = used();
    for (int i = 0; i < count; i++) {
      objects[i] =
          StateCodec.unpack(
              object.form(), true, object.context().replicas(), new WireInput(encoded));
    }
    long after = used();
    if (objects[count - 1] == null) {
      throw new AssertionError("the objects must be reachable until they are measured");
    }
    return (after - before) / (double) count;
  }

  private static long used() throws InterruptedException {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(20);
      least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return least;
  }
}
