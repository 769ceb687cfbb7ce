package io.osier.bench.history;

import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.OsierClient;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Transaction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Random transactions at three datacenters under faults, written down for independent checkers. */
@Command(
    name = "history",
    mixinStandardHelpOptions = true,
    description = {
      "Runs random transactions of reads and writes of registers at three real datacenters, while links",
      "are cut, datacenters are killed and sessions fail over, and writes what clients did and saw into a",
      "text file, a line an operation: r(key,value,session,txn) or w(key,value,session,txn). All are",
      "integers, every value is written once, value 0 means never written; transactions of a session are",
      "in their order. A commit of unknown outcome is in it if somebody read from it, in a session of its",
      "own. In the end the history is checked for causal consistency, by the definition."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the history is causally consistent",
      "1:it is not, or it could not be run",
      "2:wrong usage"
    })
public final class HistoryCommand implements Callable<Integer> {
  private static final String KEYSPACE = "history";

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "where the history goes (default: no file, it is only checked)")
  private Path out;

  @Option(
      names = "--seconds",
      defaultValue = "30",
      paramLabel = "N",
      description = "how long to run, at least 5 (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = "--sessions",
      defaultValue = "9",
      paramLabel = "N",
      description = "how many sessions, 1 to 100 (default: ${DEFAULT-VALUE})")
  private int sessions;

  @Option(
      names = "--keys",
      defaultValue = "30",
      paramLabel = "N",
      description = "how many registers, 1 to 10000 (default: ${DEFAULT-VALUE})")
  private int keys;

  @Option(
      names = "--rate",
      defaultValue = "150",
      paramLabel = "TXNS",
      description = "transactions per second to aim at (default: ${DEFAULT-VALUE})")
  private int rate;

  @Option(names = "--seed", defaultValue = "0", description = "seed of what is done; 0 draws one")
  private long seed;

  private final AtomicLong values = new AtomicLong();
  private final AtomicInteger numbers = new AtomicInteger();
  private final AtomicInteger sessionNumbers = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private final List<History.Txn> unknown = new ArrayList<>();
  private volatile boolean running = true;
  private String broken;

  /** For picocli. */
  public HistoryCommand() {}

  @Override
  public Integer call() throws IOException {
    boolean usable =
        seconds >= 5
            && sessions >= 1
            && sessions <= 100
            && keys >= 1
            && keys <= 10_000
            && rate >= 1;
    if (!usable) {
      System.err.println(
          "--seconds must be at least 5, --sessions 1 to 100, --keys 1 to 10000, --rate at least 1");
      return 2;
    }
    long used = seed == 0 ? new Random().nextInt(1_000_000) : seed;
    Path directory = Files.createTempDirectory("osier-history");
    System.out.println("seed " + used + "; logs and data in " + directory);
    boolean good = false;
    try (LocalCluster cluster =
        new LocalCluster(
            directory,
            directory.resolve("data"),
            "durability = sync",
            "    " + KEYSPACE + " { consistency = causal, sla = 500ms }\n",
            used)) {
      cluster.awaitReady(Duration.ofSeconds(60));
      History history = run(cluster, new Random(used));
      if (out != null) {
        Files.write(out, history.lines());
      }
      Optional<String> violation = history.violation();
      good = violation.isEmpty() && broken == null;
      violation.ifPresent(v -> System.out.println("NOT CAUSAL: " + v));
      if (broken != null) {
        System.out.println("BROKEN: " + broken);
      }
      System.out.printf(
          Locale.ROOT,
          "%d transactions, %d operations of %d sessions, %d failed, %d of unknown outcome: %s%n",
          history.txns().size(),
          history.lines().size(),
          sessionNumbers.get(),
          failed.get(),
          unknown.size(),
          good ? "causally consistent" : "NOT causally consistent");
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
    } finally {
      if (good) {
        Directories.delete(directory);
      }
    }
    return good ? 0 : 1;
  }

  private History run(LocalCluster cluster, Random random) {
    List<OsierClient> clients = new ArrayList<>();
    List<List<History.Txn>> done = new ArrayList<>();
    try {
      for (String dc : LocalCluster.DCS) {
        clients.add(cluster.client(dc));
      }
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < sessions; i++) {
        OsierClient client = clients.get(i % clients.size());
        List<History.Txn> own = new ArrayList<>();
        done.add(own);
        Random draws = new Random(random.nextLong());
        threads.add(
            Thread.ofPlatform()
                .name("session-" + i)
                .daemon(true)
                .start(() -> session(client, own, draws)));
      }
      disturb(cluster, random);
      running = false;
      for (Thread thread : threads) {
        thread.join(60_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      running = false;
      clients.forEach(OsierClient::close);
    }
    return gathered(done);
  }

  /** Cuts and heals links and kills datacenters, one fault after the other. */
  private void disturb(LocalCluster cluster, Random random) {
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    while (System.nanoTime() < end) {
      LockSupport.parkNanos((500L + random.nextInt(1_500)) * 1_000_000);
      String dc = LocalCluster.DCS.get(random.nextInt(3));
      String other =
          LocalCluster.DCS.get((LocalCluster.DCS.indexOf(dc) + 1 + random.nextInt(2)) % 3);
      if (random.nextInt(3) == 0) {
        System.out.println("killing " + dc);
        cluster.kill(dc);
        LockSupport.parkNanos(random.nextInt(1_000) * 1_000_000L);
        cluster.start(dc);
        cluster.awaitReady(Duration.ofSeconds(60));
      } else {
        System.out.println("cutting " + dc + " and " + other);
        cluster.cut(dc, other);
        LockSupport.parkNanos((500L + random.nextInt(3_000)) * 1_000_000);
        cluster.heal(dc, other);
      }
    }
  }

  private void session(OsierClient client, List<History.Txn> own, Random random) {
    Keyspace keyspace = client.session().keyspace(KEYSPACE);
    int session = sessionNumbers.incrementAndGet();
    long pause = 1_000_000_000L * sessions / rate;
    while (running) {
      List<History.Op> ops = new ArrayList<>();
      try {
        if (random.nextInt(3) == 0) {
          once(keyspace, ops, random);
        } else {
          interactive(keyspace, ops, random);
        }
        own.add(new History.Txn(session, numbers.incrementAndGet(), ops));
      } catch (OutcomeUnknownException e) {
        // What came of it is seen by whether somebody reads it; this session begins anew.
        synchronized (unknown) {
          unknown.add(
              new History.Txn(sessionNumbers.incrementAndGet(), numbers.incrementAndGet(), ops));
        }
        keyspace = client.session().keyspace(KEYSPACE);
        session = sessionNumbers.incrementAndGet();
      } catch (OsierException e) {
        failed.incrementAndGet();
        if (!e.code().retryable() && e.code() != io.osier.core.ErrorCode.TRANSACTION_ENDED) {
          broken = e.code() + ": " + e.getMessage();
        }
        LockSupport.parkNanos(20_000_000);
      }
      LockSupport.parkNanos((long) (pause * 2 * random.nextDouble()));
    }
  }

  private static Key key(int number) {
    return Key.of("r" + number);
  }

  /** All reads, or all writes, in one request. */
  private void once(Keyspace keyspace, List<History.Op> ops, Random random) {
    Set<Integer> some = new HashSet<>();
    for (int i = 0; i <= random.nextInt(4); i++) {
      some.add(random.nextInt(keys));
    }
    if (random.nextBoolean()) {
      List<Keyspace.Change> changes = new ArrayList<>();
      for (int k : some) {
        long value = values.incrementAndGet();
        ops.add(new History.Op(true, k, value));
        Operation assign = new Operation.Assign(Value.of(value));
        changes.add(new Keyspace.Change(key(k), CrdtType.LWW_REGISTER, assign));
      }
      keyspace.updateTogether(changes);
      return;
    }
    List<Keyspace.Get> reads = new ArrayList<>();
    some.forEach(
        k ->
            reads.add(
                new Keyspace.Get(key(k), Optional.of(CrdtType.LWW_REGISTER), new Query.Whole())));
    List<Found> found = keyspace.readTogether(reads);
    int i = 0;
    for (int k : some) {
      ops.add(new History.Op(false, k, value(found.get(i++))));
    }
  }

  private void interactive(Keyspace keyspace, List<History.Op> ops, Random random) {
    try (Transaction tx = keyspace.begin()) {
      for (int i = 0; i <= random.nextInt(6); i++) {
        int k = random.nextInt(keys);
        if (random.nextBoolean()) {
          long value = values.incrementAndGet();
          ops.add(new History.Op(true, k, value));
          var unused =
              tx.update(key(k), CrdtType.LWW_REGISTER, new Operation.Assign(Value.of(value)));
        } else {
          Found found = tx.read(key(k), Optional.of(CrdtType.LWW_REGISTER), new Query.Whole());
          ops.add(new History.Op(false, k, value(found)));
        }
      }
      tx.commit();
    }
  }

  private static long value(Found found) {
    Reading.Single single = (Reading.Single) found.reading().orElseThrow();
    return single.value().map(v -> ((Value.Int) v).content()).orElse(0L);
  }

  /** All committed transactions, and those of unknown outcome that somebody has read from. */
  private History gathered(List<List<History.Txn>> done) {
    History history = new History();
    Set<Long> read = new HashSet<>();
    for (List<History.Txn> own : done) {
      for (History.Txn txn : own) {
        history.add(txn);
        noteReads(txn, read);
      }
    }
    List<History.Txn> left = new ArrayList<>(unknown);
    boolean more = true;
    while (more) {
      more = false;
      for (History.Txn txn : List.copyOf(left)) {
        if (txn.ops().stream().anyMatch(o -> o.write() && read.contains(o.value()))) {
          history.add(txn);
          noteReads(txn, read);
          left.remove(txn);
          more = true;
        }
      }
    }
    return history;
  }

  private static void noteReads(History.Txn txn, Set<Long> read) {
    txn.ops().stream().filter(o -> !o.write()).forEach(o -> read.add(o.value()));
  }
}
