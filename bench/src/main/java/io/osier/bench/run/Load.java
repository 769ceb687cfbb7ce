package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.ScenarioException;
import io.osier.bench.systems.Target;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Makes calls at the nodes of a system, from start to stop. In a closed loop each client keeps
 * load.in-flight calls in flight: the thread that completes a call makes the next one, or threads
 * of the client's own do. In an open loop calls are made at load.rate, and a call's latency counts
 * from the time at which it was due.
 */
final class Load implements AutoCloseable {
  /** The pause after a failed call, so that calls that fail at once do not become a busy loop. */
  private static final long AFTER_FAILURE_NANOS = 20_000_000;

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(AFTER_FAILURE_NANOS, TimeUnit.NANOSECONDS);

  /** How long an open loop parks at a time; calls that become due meanwhile are made together. */
  private static final long PARK_NANOS = 50_000;

  private static final int TIMED = 16;
  private static final long NOT_TIMED = Long.MIN_VALUE;

  private final Config config;
  private final Draw draw;
  private final List<Recorder> tenths = new ArrayList<>();
  private final LongAdder done = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final List<Client> clients = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Observer[] observers;
  private final Time time;
  private volatile boolean stopping;

  /** Is told of each call. Called by many threads. */
  interface Observer {
    /** A call is made next. */
    void sent(String operation, int key, long number);

    /** A call was answered, or failed; an update that failed may nevertheless be done. */
    void answered(String operation, int key, long number, boolean succeeded);
  }

  /**
   * Opens the clients, and makes no call yet.
   *
   * @param observers are told of each call; the time they take is part of the measured one
   * @throws ScenarioException if load.at names no node
   */
  Load(Target target, Config config, List<? extends Observer> observers, Time time) {
    this.config = config;
    this.draw = new Draw(config);
    this.observers = observers.toArray(Observer[]::new);
    this.time = time;
    draw.operations().forEach(name -> tenths.add(new Recorder(3)));
    try {
      for (int node : draw.operations().isEmpty() ? List.<Integer>of() : nodes(target, config)) {
        for (int i = 0; i < Math.max(1, config.getInt("threads")); i++) {
          clients.add(new Client(target.calls(node, config), name(target, node)));
        }
      }
    } catch (IOException e) {
      close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Returns whether none of some loads makes calls. */
  static boolean areIdle(Collection<Config> loads) {
    return loads.stream().allMatch(load -> load.getConfig("mix").isEmpty());
  }

  /** Returns a node's name; empty if the system's nodes have none. */
  private static String name(Target target, int node) {
    return target.names().isEmpty() ? "" : target.names().get(node);
  }

  private static List<Integer> nodes(Target target, Config load) {
    Object at = load.getValue("at").unwrapped();
    List<Integer> all = IntStream.range(0, target.nodes()).boxed().toList();
    if (at.equals("all")) {
      return all;
    }
    if (at.equals("first")) {
      return all.subList(0, 1);
    }
    List<String> names = target.names();
    if (!(at instanceof List<?> wanted) || wanted.isEmpty() || !names.containsAll(wanted)) {
      throw new ScenarioException(
          "load.at is all, first or a list of names of " + names + ", not " + at);
    }
    return all.stream().filter(node -> wanted.contains(names.get(node))).toList();
  }

  void start() {
    int rate = config.getInt("rate");
    for (Client client : clients) {
      if (rate > 0) {
        double each = (double) rate / clients.size();
        run(() -> client.callAtRate(each));
      } else if (config.getInt("threads") > 0) {
        run(client::callOneByOne);
      } else {
        client.room.acquireUninterruptibly(client.inFlight);
        for (int i = 0; i < client.inFlight; i++) {
          client.chain();
        }
      }
    }
  }

  private void run(Runnable body) {
    threads.add(Thread.ofPlatform().daemon(true).name("load-" + threads.size()).start(body));
  }

  /** Makes no further call, and waits up to 20 s for those in flight. */
  void stop() throws InterruptedException {
    if (stopping) {
      return;
    }
    stopping = true;
    for (Thread thread : threads) {
      thread.join(20_000);
    }
    for (Client client : clients) {
      if (!client.room.tryAcquire(client.inFlight, 20, TimeUnit.SECONDS)) {
        System.out.println("some calls have no answer after 20 s");
      }
    }
  }

  /** Returns how many calls have succeeded so far. */
  long done() {
    return done.sum();
  }

  long failed() {
    return failed.sum();
  }

  /** Returns the latencies since the last time, by operation, in tenths of a microsecond. */
  Map<String, Histogram> sinceLast() {
    Map<String, Histogram> all = new LinkedHashMap<>();
    for (int i = 0; i < tenths.size(); i++) {
      Histogram copy = tenths.get(i).getIntervalHistogram().copy();
      all.put(draw.operations().get(i), copy);
    }
    return all;
  }

  Draw draw() {
    return draw;
  }

  Config config() {
    return config;
  }

  /** Closes the clients at once, also if the load was not stopped. */
  @Override
  public void close() {
    stopping = true;
    clients.forEach(client -> client.calls.close());
  }

  /** A client, or a thread of one. */
  private final class Client {
    private final Calls calls;
    private final String dc;
    private final List<Calls.Call> made = new ArrayList<>();
    private final int inFlight = config.getInt("in-flight");
    private final Semaphore room = new Semaphore(inFlight);

    /** The number of the next call; clients start at different ones, and so draw other keys. */
    private final AtomicLong next = new AtomicLong(clients.size() * 65_521L);

    Client(Calls calls, String dc) {
      this.calls = calls;
      this.dc = dc;
      draw.operations().forEach(name -> made.add(calls.call(name)));
    }

    void chain() {
      while (!stopping) {
        long number = next.getAndIncrement();
        int operation = draw.operation(number);
        int key = draw.key(number, dc);
        long start = time.nanos();
        CompletableFuture<?> answer = call(operation, key, number);
        if (!answer.isDone()) {
          answer.whenComplete(
              (result, error) -> {
                count(operation, key, number, start, error == null);
                goOn(error == null);
              });
          return;
        }
        boolean succeeded = !answer.isCompletedExceptionally();
        count(operation, key, number, start, succeeded);
        if (!succeeded) {
          goOn(false);
          return;
        }
      }
      room.release();
    }

    private void goOn(boolean succeeded) {
      if (succeeded) {
        chain();
      } else {
        LATER.execute(this::chain);
      }
    }

    private CompletableFuture<?> call(int operation, int key, long number) {
      for (Observer observer : observers) {
        observer.sent(draw.operations().get(operation), key, number);
      }
      try {
        return made.get(operation).make(key, number).toCompletableFuture();
      } catch (RuntimeException e) {
        return CompletableFuture.failedFuture(e);
      }
    }

    private void count(int operation, int key, long number, long since, boolean succeeded) {
      for (Observer observer : observers) {
        observer.answered(draw.operations().get(operation), key, number, succeeded);
      }
      if (succeeded) {
        if (since != NOT_TIMED) {
          tenths.get(operation).recordValue(Math.max(0, time.nanos() - since) / 100);
        }
        done.increment();
      } else {
        failed.increment();
      }
    }

    /** Makes blocking calls, which may be so short that one in {@link #TIMED} is timed. */
    void callOneByOne() {
      while (!stopping) {
        room.acquireUninterruptibly();
        long number = next.getAndIncrement();
        long since = number % TIMED == 0 ? time.nanos() : NOT_TIMED;
        if (callOnce(number, since).isCompletedExceptionally()) {
          time.pass(AFTER_FAILURE_NANOS);
        }
      }
    }

    /** Makes a call for which the caller has taken a permit of {@link #room}. */
    private CompletableFuture<?> callOnce(long number, long since) {
      int operation = draw.operation(number);
      int key = draw.key(number, dc);
      CompletableFuture<?> answer = call(operation, key, number);
      answer.whenComplete(
          (result, error) -> {
            count(operation, key, number, since, error == null);
            room.release();
          });
      return answer;
    }

    void callAtRate(double perSecond) {
      long began = time.nanos();
      for (long i = 0; !stopping; i++) {
        long due = began + (long) (i * 1e9 / perSecond);
        while (due - time.nanos() > 0 && !stopping) {
          time.pass(PARK_NANOS);
        }
        room.acquireUninterruptibly();
        callOnce(next.getAndIncrement(), due);
      }
    }
  }
}
