package io.osier.bench.cluster;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Creates objects at all datacenters: one by one in a session keyspace, by short transactions in a
 * causal one. Each object gets a single update, except that some are cleared later. So an update
 * that a datacenter misses once is missing for good, whereas an object that is updated again would
 * be sent again. Remembers all objects.
 */
public final class OnceLoad extends WriterLoad {
  public static final String KEYSPACES =
      """
          once { sla = 200ms, partitions = 3 }
          together { consistency = causal, sla = 200ms }
      """;

  private static final List<String> NAMES = List.of("once", "together");
  private static final List<CrdtType> TYPES =
      List.of(
          CrdtType.PN_COUNTER,
          CrdtType.AW_SET,
          CrdtType.OR_MAP,
          CrdtType.LWW_REGISTER,
          CrdtType.G_SET);
  private static final int IN_FLIGHT = 64;
  private static final int CLEARED_LATER = 300;

  /** The number of objects whose keys come before all others. */
  private static final int FIRST = 500;

  /** An odd factor that spreads keys over their order; no two keys become the same. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private enum Expected {
    WRITTEN,
    CLEARED,
    EITHER
  }

  private final boolean lossy;
  private final Map<String, Expected> objects = new ConcurrentHashMap<>();
  private final AtomicLong serial = new AtomicLong();

  /**
   * Starts one thread for each datacenter.
   *
   * @param perSecond updates and transactions per second to aim at
   * @param lossy whether a datacenter may forget acknowledged updates
   */
  public OnceLoad(
      List<String> dcs,
      Function<String, OsierClient> connect,
      int perSecond,
      boolean lossy,
      long seed) {
    super(Set.copyOf(NAMES), IN_FLIGHT);
    this.lossy = lossy;
    long pause = 1_000_000_000L * dcs.size() / perSecond;
    start(
        dcs,
        connect,
        (dc, client) ->
            new OnceWriter(client.session(), new SplittableRandom(seed + clients()), pause));
  }

  /** An object that was created, and its keyspace. */
  private record Created(Keyspace keyspace, Keyspace.Change change) {
    String name() {
      return keyspace.name() + "/" + change.key();
    }
  }

  private final class OnceWriter implements Writer {
    private final Session session;
    private final SplittableRandom random;
    private final long pauseNanos;
    private final Deque<Created> toClear = new ArrayDeque<>();
    private volatile boolean forgets;

    OnceWriter(Session session, SplittableRandom random, long pauseNanos) {
      this.session = session;
      this.random = random;
      this.pauseNanos = pauseNanos;
    }

    @Override
    public long next(Semaphore room) {
      if (forgets) { // the session may have seen updates that are lost
        forgets = false;
        session.forget();
        toClear.clear();
      }
      if (toClear.size() > CLEARED_LATER) {
        clear(toClear.remove(), room);
      } else {
        create(room);
      }
      return pauseNanos;
    }

    private void create(Semaphore room) {
      Keyspace keyspace = session.keyspace(NAMES.get(random.nextInt(4) == 0 ? 1 : 0));
      boolean together = keyspace.name().equals(NAMES.get(1));
      List<Created> created = new ArrayList<>();
      for (int i = together ? 1 + random.nextInt(3) : 1; i > 0; i--) {
        String key = key(serial.incrementAndGet());
        CrdtType type = TYPES.get(random.nextInt(TYPES.size()));
        created.add(new Created(keyspace, new Keyspace.Change(key, type, operation(type))));
      }
      List<Keyspace.Change> changes = created.stream().map(Created::change).toList();
      Created first = created.getFirst();
      after(
          together
              ? keyspace.updateTogetherAsync(changes)
              : keyspace.updateAsync(
                  first.change.key(), first.change.type(), first.change.operation()),
          created,
          Expected.WRITTEN,
          room);
      if (first.change.type() != CrdtType.G_SET && random.nextInt(5) == 0) {
        toClear.add(first);
      }
    }

    /**
     * Most keys come before all earlier ones except the first {@link #FIRST}. An update in flight
     * when a scan begins is missed in the scan's first page, if at all, and that page takes long to
     * read when the first objects are not in memory any more. Other keys come behind all or among
     * them.
     */
    private String key(long number) {
      if (number <= FIRST) {
        return "0%016x".formatted(number);
      }
      return switch (random.nextInt(4)) {
        case 0 -> "z%016x".formatted(number);
        case 1 -> "m%016x".formatted(number * SPREAD);
        default -> "a%016x".formatted(Long.MAX_VALUE - number);
      };
    }

    private void clear(Created created, Semaphore room) {
      if (objects.get(created.name()) == Expected.WRITTEN) {
        Keyspace.Change change = created.change;
        after(
            created.keyspace.updateAsync(change.key(), change.type(), new Operation.Clear()),
            List.of(created),
            Expected.CLEARED,
            room);
      } else {
        room.release();
      }
    }

    private void after(
        CompletableFuture<Void> update,
        List<Created> touched,
        Expected acknowledged,
        Semaphore room) {
      account(
          update.whenComplete(
              (done, error) -> {
                if (error != null) {
                  forgets = lossy;
                }
              }),
          room,
          () -> touched.forEach(c -> objects.put(c.name(), acknowledged)),
          () -> touched.forEach(c -> objects.put(c.name(), Expected.EITHER)));
    }
  }

  private static Operation operation(CrdtType type) {
    return switch (type) {
      case PN_COUNTER -> new Operation.Increment(1);
      case LWW_REGISTER -> new Operation.Assign(Value.of(1));
      case OR_MAP ->
          new Operation.UpdateFields(
              new FieldId("f", CrdtType.PN_COUNTER), new Operation.Increment(1));
      default -> new Operation.Add(List.of(Value.of(1)));
    };
  }

  @Override
  protected Audit audit(Map<String, List<Keyspace.Row>> rows, long sinceMillis) {
    Set<String> there = new HashSet<>();
    rows.forEach(
        (name, all) ->
            all.stream()
                .filter(row -> holds(row.value()))
                .forEach(row -> there.add(name + "/" + row.key())));
    long surplus =
        there.stream()
            .filter(o -> objects.getOrDefault(o, Expected.CLEARED) == Expected.CLEARED)
            .count();
    long missing =
        objects.entrySet().stream()
            .filter(e -> e.getValue() == Expected.WRITTEN && !there.contains(e.getKey()))
            .count();
    return new Audit(missing, surplus);
  }

  private static boolean holds(Reading reading) {
    return switch (reading) {
      case Reading.Count c -> c.value() != 0;
      case Reading.Single s -> s.value().isPresent();
      case Reading.Many m -> !m.values().isEmpty();
      case Reading.Fields f -> !f.fields().isEmpty();
      default -> true;
    };
  }
}
