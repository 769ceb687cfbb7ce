package io.osier.bench.soak;

import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.WriterLoad;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Assigns registers of 1 KB to 1 MB. Each has one writer, which makes one assignment of it at a
 * time, so what it must hold at the end is known: the last one that was acknowledged, or one after
 * it whose outcome is unknown.
 */
final class LargeLoad extends WriterLoad {
  private static final int REGISTERS = 48;
  private static final int BYTES_MIN = 1_000;
  private static final int BYTES_MAX = 1_000_000;
  private static final int IN_FLIGHT = 4;

  /** Of one register: assignments that were acknowledged, and that were made, are up to here. */
  private record Written(long acknowledged, long made) {}

  private final Map<String, Written> written = new ConcurrentHashMap<>();
  private final Set<String> underWay = ConcurrentHashMap.newKeySet();
  private final LongAdder bytes = new LongAdder();

  /**
   * Starts one thread for each of the datacenters.
   *
   * @param bytesPerSecond what each writes
   */
  LargeLoad(
      LocalCluster cluster, List<String> dcs, String keyspace, long bytesPerSecond, long seed) {
    super(IN_FLIGHT);
    start(
        dcs,
        cluster::client,
        (dc, client) -> {
          Keyspace space = client.session().keyspace(keyspace);
          String prefix = dc + ":";
          SplittableRandom random = new SplittableRandom(seed + clients());
          return room -> assign(space, prefix, random, room) * 1_000_000_000L / bytesPerSecond;
        });
  }

  /** Each order of magnitude as often as the others. */
  private static int size(SplittableRandom random) {
    double share = random.nextDouble();
    return (int) (BYTES_MIN * Math.pow((double) BYTES_MAX / BYTES_MIN, share));
  }

  /** Returns how many bytes it assigns. */
  private int assign(Keyspace space, String prefix, SplittableRandom random, Semaphore room) {
    String key = prefix + random.nextInt(REGISTERS);
    if (!underWay.add(key)) {
      room.release();
      return BYTES_MIN;
    }
    int size = size(random);
    long number =
        written.merge(key, new Written(0, 1), (w, one) -> new Written(w.acknowledged, w.made + 1))
            .made;
    byte[] content = new byte[size];
    random.nextBytes(content); // nothing on the way can make it smaller
    ByteBuffer.wrap(content).putLong(number);
    account(
        space.register(key).assignAsync(Value.of(content)),
        room,
        () -> {
          written.computeIfPresent(key, (k, w) -> new Written(number, w.made));
          bytes.add(size);
          underWay.remove(key);
        },
        isUnknown -> {}); // and no further one: it may be done yet, after that
    return size;
  }

  /** Bytes of the assignments that were acknowledged. */
  long bytes() {
    return bytes.sum();
  }

  /** How many registers of a datacenter hold something older than was acknowledged, or nothing. */
  long missing(List<Keyspace.Row> rows) {
    Map<String, Reading> there = new HashMap<>();
    rows.forEach(row -> there.put(row.key().toString(), row.value()));
    return written.entrySet().stream()
        .filter(
            e -> {
              long shown = number(there.get(e.getKey()));
              return shown < e.getValue().acknowledged || shown > e.getValue().made;
            })
        .count();
  }

  private static long number(@Nullable Reading reading) {
    return reading instanceof Reading.Single s && s.value().orElse(null) instanceof Value.Bytes b
        ? ByteBuffer.wrap(b.content()).getLong()
        : 0;
  }
}
