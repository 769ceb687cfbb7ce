package io.osier.bench.client;

import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.osier.bench.client.OsierProcess.Durability;
import io.osier.bench.cluster.Directories;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.bench.experiment.ServerOptions;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.RegisterHandle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What the change feed delivers, and what it costs those who write. Watched and not watched are
 * keyspaces of one process, of the same policy: once somebody has watched a keyspace its partitions
 * keep telling for ten minutes, so a keyspace that was watched is not one that never was, and two
 * processes would differ by more than what is looked for.
 */
@Command(
    name = "watch",
    mixinStandardHelpOptions = true,
    description = {
      "Measures assignments of 20 bytes at one datacenter process on loopback, as fast as they can"
          + " be",
      "made with so many in flight: to a keyspace that nobody watches and to one of which one"
          + " watcher is",
      "told everything, and then to one of which many keys are watched by themselves; in the order"
          + " without,",
      "with, with, without. Beside it redis-server, where it is installed, without and with"
          + " keyspace",
      "notifications to one subscriber of all. Fails if a watcher is cut off, or not told of a"
          + " written key."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:measured",
      "1:it could not be run, a watcher was cut off, or a change was lost",
      "2:wrong usage"
    })
public final class WatchCommand extends Experiment {
  private static final String QUIET = "quiet";
  private static final String ALL = "all";
  private static final String KEYS = "keys";
  private static final int VALUE_BYTES = 20;
  private static final long DRAIN_NANOS = 30_000_000_000L;
  private static final int FAILURES_NAMED = 5;
  private static final int TOLD_TARGET = 100_000;
  private static final double SLOWER_TARGET = 5;

  private static final String EVERYTHING = "one watcher of everything";
  private static final String REDIS = "redis, one subscriber of all";
  private static final String RATE = "updates/s";
  private static final String TOLD = "told/s";
  private static final String SERVER = "server's µs/update";
  private static final String CLIENTS = "clients' µs/update";
  private static final String LAG = "lag ms";
  private static final String NOT_TOLD = "not told";
  private static final String RATE_SHARE = "% of updates/s without";
  private static final String CPU_SHARE = "% of server's µs without";

  @Option(
      names = "--keys",
      paramLabel = "N",
      description = "how many keys are written, in turn; ${DEFAULT-VALUE} unless given")
  private int keys = 10_000;

  @Option(
      names = "--watchers",
      paramLabel = "N",
      description =
          "of how many of the keys each has a watcher of its own; ${DEFAULT-VALUE} unless given")
  private int watchers = 1_000;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      description = "how many updates are on their way at once; ${DEFAULT-VALUE} unless given")
  private int inFlight = 256;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "of each part, four to a round; 6, with --quick 2")
  private @Nullable Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description = "seconds before anything is measured, of the datacenter; 30, with --quick 6")
  private @Nullable Double warmUp;

  @Option(
      names = "--durability",
      paramLabel = "HOW",
      description =
          "memory; async, with Redis's appendonly everysec; sync, with always; ${DEFAULT-VALUE}"
              + " unless given")
  private Durability durability = Durability.MEMORY;

  @Mixin private ServerOptions serverOptions = new ServerOptions();

  private final List<String> failures = new ArrayList<>();

  /** For picocli. */
  public WatchCommand() {}

  /** One update of a key. */
  private interface Call {
    CompletionStage<?> make(int key);
  }

  /** Those who are told; opened anew after they were cut off. */
  private interface Audience {
    /** Notes from now on there; returns false if there is nobody to tell. */
    boolean into(Tally tally) throws InterruptedException;

    /** Why one cannot be told any more. */
    Optional<String> cutOff();
  }

  /** Nobody. */
  private static final Audience NOBODY =
      new Audience() {
        @Override
        public boolean into(Tally tally) {
          return false;
        }

        @Override
        public Optional<String> cutOff() {
          return Optional.empty();
        }
      };

  /** One of two that are compared. */
  private record Side(
      String name, Call call, Audience audience, Tally.Demand demand, List<Integer> watched) {
    static Side quiet(String name, Call call) {
      return new Side(name, call, NOBODY, Tally.Demand.LATEST, List.of());
    }
  }

  /** What a part came to. */
  private record Part(double perSecond, double serverMicros) {}

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    if (keys < 1 || watchers < 1 || watchers > keys || inFlight < 1 || seconds() <= 0) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "--keys, --in-flight and --seconds must be more than 0, --watchers from 1 to --keys");
    }
    Path directory = Files.createTempDirectory("osier-watch");
    System.out.println("logs and data in " + directory);
    results.note("durability", durability.label());
    results.note("keys", Integer.toString(keys));
    results.note("in flight", Integer.toString(inFlight));
    osier(results, directory);
    redis(results, directory);
    Directories.delete(directory);
    if (!failures.isEmpty()) {
      throw new OsierException(
          ErrorCode.INTERNAL, String.join("; ", failures.stream().limit(FAILURES_NAMED).toList()));
    }
  }

  private double seconds() {
    return seconds != null ? seconds : quick() ? 2 : 6;
  }

  private double warmUp() {
    return warmUp != null ? warmUp : quick() ? 6 : 30;
  }

  private String key(int number) {
    return "k" + number;
  }

  // ---------------------------------------------------------------- one datacenter

  /** Watchers that are opened when they are needed, and again after they were cut off. */
  private static final class Opened implements Audience, AutoCloseable {
    /** Opens them. */
    private interface Opening {
      Watchers open() throws InterruptedException;
    }

    private final Opening opening;
    private @Nullable Watchers open;

    Opened(Opening opening) {
      this.opening = opening;
    }

    @Override
    public boolean into(Tally tally) throws InterruptedException {
      if (cutOff().isPresent()) {
        close();
      }
      Watchers now = open;
      if (now == null) {
        now = opening.open();
        open = now;
      }
      now.into(tally);
      return true;
    }

    @Override
    public Optional<String> cutOff() {
      return open == null ? Optional.empty() : open.cutOff();
    }

    @Override
    public void close() {
      if (open != null) {
        open.close();
        open = null;
      }
    }
  }

  private void osier(Results results, Path directory) throws IOException, InterruptedException {
    Map<Key, Integer> numbers = new HashMap<>();
    for (int i = 0; i < keys; i++) {
      numbers.put(Key.of(key(i)), i);
    }
    // Spread over all: they are written in turn.
    List<Integer> single =
        IntStream.range(0, watchers).map(i -> i * (keys / watchers)).boxed().toList();
    try (OsierProcess server =
            OsierProcess.start(
                directory,
                List.of(QUIET, ALL, KEYS),
                durability,
                serverOptions.list(),
                "-Xmx512m");
        OsierClient writing = server.client("writers");
        OsierClient watching = server.client("watchers")) {
      writing.awaitConnected(Duration.ofSeconds(30));
      watching.awaitConnected(Duration.ofSeconds(30));
      Side quiet = Side.quiet("not watched", writes(writing, QUIET));
      try (Opened everything =
          new Opened(() -> Watchers.ofEverything(watching.session().keyspace(ALL), numbers))) {
        compare(
            results,
            EVERYTHING,
            quiet,
            new Side(
                "watched", writes(writing, ALL), everything, Tally.Demand.EACH_UPDATE, allKeys()),
            server.process(),
            warmUp() / 2);
        verdict(results, EVERYTHING);
      }
      String name = keysWatched();
      try (Opened ofKeys =
          new Opened(
              () ->
                  Watchers.ofKeys(
                      watching.session().keyspace(KEYS),
                      single.stream().map(this::key).toList(),
                      numbers))) {
        compare(
            results,
            name,
            quiet,
            new Side("watched", writes(writing, KEYS), ofKeys, Tally.Demand.LATEST, single),
            server.process(),
            warmUp() / 2);
        verdict(results, name);
      }
    }
  }

  private String keysWatched() {
    return String.format(Locale.ROOT, "%,d watchers of single keys", watchers);
  }

  private List<Integer> allKeys() {
    return IntStream.range(0, keys).boxed().toList();
  }

  private Call writes(OsierClient client, String keyspace) {
    Keyspace space = client.session().keyspace(keyspace);
    List<RegisterHandle> registers = new ArrayList<>();
    for (int i = 0; i < keys; i++) {
      registers.add(space.register(key(i)));
    }
    Value value = Value.of(new byte[VALUE_BYTES]);
    return k -> registers.get(k).assignAsync(value);
  }

  private void verdict(Results results, String workload) {
    double told = results.median(workload, "watched", TOLD);
    double share = results.median(workload, "watched", RATE_SHARE);
    double cpu = results.median(workload, "watched", CPU_SHARE);
    if (workload.equals(EVERYTHING)) {
      System.out.printf(
          Locale.ROOT,
          "%,.0f changes/s reach the watcher (to reach: %,d): %s; %.1f %% of updates/s without,"
              + " %.1f %% of the server's processor time per update%n%n",
          told,
          TOLD_TARGET,
          told >= TOLD_TARGET ? "reached" : "missed",
          share,
          cpu);
    } else {
      System.out.printf(
          Locale.ROOT,
          "%.1f %% fewer updates/s (to reach: under %.0f): %s; %.1f %% of the server's processor"
              + " time per update%n%n",
          100 - share,
          SLOWER_TARGET,
          100 - share < SLOWER_TARGET ? "reached" : "missed",
          cpu);
    }
  }

  // ---------------------------------------------------------------- Redis

  /** One subscriber of all changes of Redis's keyspace. It is told of what its server can send. */
  private static final class Subscriber extends RedisPubSubAdapter<String, String>
      implements Audience, AutoCloseable {
    private static final String CHANNEL = "__keyspace@0__:";

    private final RedisProcess redis;
    private final StatefulRedisPubSubConnection<String, String> connection;
    private volatile @Nullable Tally tally;

    Subscriber(RedisProcess redis) {
      this.redis = redis;
      this.connection = redis.client().connectPubSub();
      connection.addListener(this);
    }

    @Override
    public void message(String pattern, String channel, String event) {
      Tally present = tally;
      if (present != null) {
        present.told(Integer.parseInt(channel.substring(CHANNEL.length() + 1)), System.nanoTime());
      }
    }

    @Override
    public boolean into(Tally next) {
      tally = next;
      redis.connection().sync().configSet("notify-keyspace-events", "KA");
      connection.sync().psubscribe(CHANNEL + "*");
      return true;
    }

    @Override
    public Optional<String> cutOff() {
      return Optional.empty(); // it connects again by itself; what it missed is counted
    }

    /** From now on Redis tells nobody, as its configuration has it by default. */
    void off() {
      connection.sync().punsubscribe(CHANNEL + "*");
      redis.connection().sync().configSet("notify-keyspace-events", "");
    }

    @Override
    public void close() {
      connection.close();
    }
  }

  private void redis(Results results, Path directory) throws IOException, InterruptedException {
    RedisProcess started;
    try {
      started = RedisProcess.start(directory, durability);
    } catch (OsierException e) {
      System.out.println("not measured beside Redis: " + e.getMessage());
      results.note("redis", "not measured: " + e.getMessage());
      return;
    }
    try (RedisProcess redis = started;
        Subscriber subscriber = new Subscriber(redis)) {
      results.note("redis", redis.version());
      GatheredRedis gathered = redis.gathered();
      byte[] value = new byte[VALUE_BYTES];
      String[] names = new String[keys];
      for (int i = 0; i < keys; i++) {
        names[i] = key(i);
      }
      Side quiet =
          Side.quiet("redis, off", k -> gathered.send(commands -> commands.set(names[k], value)));
      Audience off =
          new Audience() {
            @Override
            public boolean into(Tally tally) {
              subscriber.off();
              return false;
            }

            @Override
            public Optional<String> cutOff() {
              return Optional.empty();
            }
          };
      compare(
          results,
          REDIS,
          new Side(quiet.name, quiet.call, off, quiet.demand, List.of()),
          new Side("redis, notified", quiet.call, subscriber, Tally.Demand.EACH_UPDATE, allKeys()),
          redis.process(),
          Math.min(5, warmUp() / 4));
    }
  }

  // ---------------------------------------------------------------- both

  private void compare(
      Results results, String workload, Side without, Side with, Process server, double warm)
      throws InterruptedException {
    System.out.println(workload + ": warming up");
    Results ignored = new Results("warm-up");
    for (int i = 0; i < 2; i++) {
      run(ignored, workload, without, server, warm / 4);
      run(ignored, workload, with, server, warm / 4);
    }
    for (int round = 0; round < rounds(); round++) {
      Part[] parts = new Part[4];
      for (int i = 0; i < 4; i++) {
        parts[i] = run(results, workload, i == 1 || i == 2 ? with : without, server, seconds());
      }
      double rate =
          100
              * (parts[1].perSecond + parts[2].perSecond)
              / (parts[0].perSecond + parts[3].perSecond);
      double cpu =
          100
              * (parts[1].serverMicros + parts[2].serverMicros)
              / (parts[0].serverMicros + parts[3].serverMicros);
      results.add(workload, with.name, RATE_SHARE, rate);
      results.add(workload, with.name, CPU_SHARE, cpu);
    }
    System.out.println();
    System.out.println(results.table(workload));
  }

  private Part run(Results results, String workload, Side side, Process server, double forSeconds)
      throws InterruptedException {
    Tally tally = new Tally(keys);
    boolean isTold = side.audience.into(tally);
    AtomicInteger next = new AtomicInteger();
    Duration serverBefore = OsierProcess.cpu(server);
    Duration clientsBefore = cpu();
    long began = System.nanoTime();
    Driver.Outcome outcome =
        Driver.run(
            done -> {
              int key = Math.floorMod(next.getAndIncrement(), keys);
              tally.sent(key, System.nanoTime());
              side.call
                  .make(key)
                  .whenComplete(
                      (result, error) -> {
                        if (error == null) {
                          tally.acknowledged(key);
                        }
                        done.done(error == null);
                      });
            },
            inFlight,
            0,
            forSeconds);
    long ended = System.nanoTime();
    List<Integer> missed = isTold ? drain(side, tally, ended) : List.of();
    double updates = Math.max(1, tally.updates());
    double serverMicros = OsierProcess.cpu(server).minus(serverBefore).toNanos() / 1e3 / updates;
    results.add(workload, side.name, RATE, outcome.perSecond());
    if (isTold) {
      double took = (Math.max(ended, tally.lastToldNanos()) - began) / 1e9;
      results.add(workload, side.name, TOLD, tally.changes() / took);
      if (tally.changes() > 0) {
        double lag = Math.max(0, tally.lastToldNanos() - ended) / 1e6;
        results.add(workload, side.name, LAG, lag);
      }
      results.add(workload, side.name, NOT_TOLD, missed.size());
    }
    results.add(workload, side.name, SERVER, serverMicros);
    results.add(workload, side.name, CLIENTS, cpu().minus(clientsBefore).toNanos() / 1e3 / updates);
    System.out.printf(
        Locale.ROOT,
        "%s, %-15s %,10.0f updates/s, %,10d told of %,d updates, %.2f µs of the server%n",
        workload,
        side.name,
        outcome.perSecond(),
        tally.changes(),
        tally.updates(),
        serverMicros);
    if (outcome.failures() > 0) {
      System.out.printf(Locale.ROOT, "%s: %,d updates failed%n", side.name, outcome.failures());
    }
    return new Part(outcome.perSecond(), serverMicros);
  }

  private static Duration cpu() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /** Waits until all is told; says what is not. */
  private List<Integer> drain(Side side, Tally tally, long since) throws InterruptedException {
    while (true) {
      Optional<String> cutOff = side.audience.cutOff();
      List<Integer> missed = tally.missed(side.demand, side.watched);
      if (missed.isEmpty() && cutOff.isEmpty()) {
        return missed;
      }
      if (cutOff.isPresent()) {
        failed(side.name + ": " + cutOff.get());
        return missed;
      }
      if (System.nanoTime() - since > DRAIN_NANOS) {
        String what =
            String.format(
                Locale.ROOT,
                "%s: %,d of %,d keys were not told of all their updates after %d s, among them %s",
                side.name,
                missed.size(),
                side.watched.size(),
                DRAIN_NANOS / 1_000_000_000,
                missed.stream().limit(5).map(this::key).toList());
        if (side.audience instanceof Subscriber) {
          System.out.println(what); // Redis promises nothing, and is not what is tested
        } else {
          failed(what);
        }
        return missed;
      }
      Thread.sleep(2);
    }
  }

  private void failed(String what) {
    System.out.println("FAILED: " + what);
    failures.add(what);
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    plots.bars("watch-rate", "What it costs that somebody watches", RATE);
    plots.bars("watch-told", "Changes that are told", TOLD);
    plots.bars("watch-cpu", "Processor time of the server", SERVER);
  }
}
