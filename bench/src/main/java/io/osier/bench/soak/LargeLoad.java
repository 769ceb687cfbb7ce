package io.osier.bench.soak;

import static java.util.Objects.requireNonNull;

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

/**
 * Assigns registers of 1 KB to 1 MB. Each register has one writer, which makes one assignment at a
 * time, so that the register must hold the last acknowledged assignment at the end, or a later one
 * of unknown outcome.
 */
final class LargeLoad extends WriterLoad {
  private static final int REGISTERS = 48;
  private static final int BYTES_MIN = 1_000;
  private static final int BYTES_MAX = 1_000_000;
  private static final int IN_FLIGHT = 4;

  /** The numbers of a register's last acknowledged assignment, and of its last assignment. */
  private record Written(long acknowledged, long made) {}

  private final String keyspace;
  private final Map<String, Written> written = new ConcurrentHashMap<>();
  private final Set<String> underWay = ConcurrentHashMap.newKeySet();
  private final LongAdder bytes = new LongAdder();

  /**
   * Starts one thread for each of the datacenters.
   *
   * @param bytesPerSecond how many bytes each thread writes a second
   */
  LargeLoad(
      LocalCluster cluster, List<String> dcs, String keyspace, long bytesPerSecond, long seed) {
    super(Set.of(keyspace), IN_FLIGHT);
    this.keyspace = keyspace;
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

  /** Draws a size; each order of magnitude is as likely as the others. */
  private static int size(SplittableRandom random) {
    double share = random.nextDouble();
    return (int) (BYTES_MIN * Math.pow((double) BYTES_MAX / BYTES_MIN, share));
  }

  /** Assigns a register, and returns the bytes of the value. */
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
    random.nextBytes(content); // so that it cannot be compressed
    ByteBuffer.wrap(content).putLong(number);
    account(
        space.register(key).assignAsync(Value.of(content)),
        room,
        () -> {
          written.computeIfPresent(key, (k, w) -> new Written(number, w.made));
          bytes.add(size);
          underWay.remove(key);
        },
        () -> {}); // the register stays in flight: a later assignment might be overtaken
    return size;
  }

  /** Returns the bytes of the acknowledged assignments. */
  long bytes() {
    return bytes.sum();
  }

  /** Counts a register as missing that holds no value or an older one than was acknowledged. */
  @Override
  protected Audit audit(Map<String, List<Keyspace.Row>> all, long sinceMillis) {
    Map<String, Long> shown = new HashMap<>();
    requireNonNull(all.get(keyspace))
        .forEach(row -> shown.put(row.key().toString(), number(row.value())));
    long missing = 0;
    long surplus = 0;
    for (Map.Entry<String, Written> one : written.entrySet()) {
      long number = shown.getOrDefault(one.getKey(), 0L);
      missing += number < one.getValue().acknowledged ? 1 : 0;
      surplus += number > one.getValue().made ? 1 : 0;
    }
    return new Audit(missing, surplus);
  }

  private static long number(Reading reading) {
    return reading instanceof Reading.Single s && s.value().orElse(null) instanceof Value.Bytes b
        ? ByteBuffer.wrap(b.content()).getLong()
        : 0;
  }
}
