package io.osier.bench.demo;

import static java.util.Objects.requireNonNull;

import io.osier.bench.cluster.Fleet;
import io.osier.bench.cluster.WriterLoad;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** The operations of all kinds of data at all datacenters, in the kinds' shares. */
final class DemoLoad extends WriterLoad {
  private static final int IN_FLIGHT = 64;
  private static final int TENTHS = 10;

  /** The time in which the load grows from {@link #RAMP_FIRST} of its rate to all of it. */
  private static final long RAMP_NANOS = 3_000_000_000L;

  private static final double RAMP_FIRST = 0.1;

  private final List<Kind> kinds;
  private final LongAdder reads = new LongAdder();
  private final LongAdder failedReads = new LongAdder();
  private final long beganNanos = System.nanoTime();

  /**
   * Starts one thread for each datacenter.
   *
   * @param targetPerSecond operations per second of all threads together
   */
  DemoLoad(Fleet fleet, List<Kind> kinds, int targetPerSecond, long seed) {
    super(kinds.stream().map(kind -> kind.keyspace).collect(Collectors.toSet()), IN_FLIGHT);
    this.kinds = List.copyOf(kinds);
    List<String> dcs = fleet.dcs();
    double pause = 1e9 * dcs.size() / targetPerSecond;
    start(dcs, fleet::client, (dc, client) -> new Users(client, seed, pause));
  }

  /** Writes the objects that must be there before the load begins. */
  static void fill(Fleet fleet, List<Kind> kinds) {
    try (OsierClient client = fleet.client(fleet.dcs().getFirst())) {
      Session session = client.session();
      kinds.forEach(kind -> kind.fill(session.keyspace(kind.keyspace)));
    }
  }

  private final class Users implements Writer {
    private final SplittableRandom random;
    private final double pauseNanos;

    /** Each kind as often as it has tenths of the operations. */
    private final List<Kind> drawn = new ArrayList<>();

    private final Map<Kind, Kind.Part> parts = new HashMap<>();

    Users(OsierClient client, long seed, double pauseNanos) {
      this.random = new SplittableRandom(seed + clients());
      this.pauseNanos = pauseNanos;
      Session session = client.session();
      for (Kind kind : kinds) {
        for (int i = 0; i < kind.tenths; i++) {
          drawn.add(kind);
        }
        Keyspace space = session.keyspace(kind.keyspace);
        parts.put(kind, kind.part(clients(), space, random.split()));
      }
    }

    @Override
    public long next(Semaphore room) {
      Kind kind = drawn.get(random.nextInt(TENTHS));
      requireNonNull(parts.get(kind)).call(new Call(kind, room));
      double since = (double) (System.nanoTime() - beganNanos) / RAMP_NANOS;
      return (long) (pauseNanos / Math.clamp(since, RAMP_FIRST, 1));
    }
  }

  private final class Call implements Kind.Calls {
    private final Kind kind;
    private final Semaphore room;

    Call(Kind kind, Semaphore room) {
      this.kind = kind;
      this.room = room;
    }

    @Override
    public CompletableFuture<?> update(
        CompletableFuture<?> update, Runnable acknowledged, Runnable unknown) {
      return account(
          update,
          room,
          () -> {
            acknowledged.run();
            kind.acknowledged.increment();
          },
          unknown);
    }

    @Override
    public void read(CompletableFuture<?> read) {
      var unused =
          read.whenComplete(
              (result, error) -> {
                (error == null ? reads : failedReads).increment();
                room.release();
              });
    }
  }

  /** Returns how many reads were answered. */
  long reads() {
    return reads.sum();
  }

  long failedReads() {
    return failedReads.sum();
  }

  @Override
  protected Set<String> expiring() {
    return kinds.stream()
        .filter(Kind::expires)
        .map(kind -> kind.keyspace)
        .collect(Collectors.toSet());
  }

  @Override
  protected Audit audit(Map<String, List<Keyspace.Row>> there, long sinceMillis) {
    long now = System.currentTimeMillis();
    Audit all = Audit.RIGHT;
    for (Kind kind : kinds) {
      Map<String, Reading> shown = new HashMap<>();
      requireNonNull(there.get(kind.keyspace))
          .forEach(row -> shown.put(row.key().toString(), row.value()));
      all = all.plus(kind.audit(shown, sinceMillis, now));
    }
    return all;
  }
}
