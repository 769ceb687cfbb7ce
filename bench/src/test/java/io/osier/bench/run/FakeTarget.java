package io.osier.bench.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.Target;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Two nodes whose calls are answered by the test. */
final class FakeTarget implements Target, Calls {
  /** One that waits for its answer. */
  record Made(Thread by, CompletableFuture<Void> answer) {}

  final BlockingQueue<Made> underWay = new LinkedBlockingQueue<>();

  /** So many calls throw before one is made. */
  final AtomicInteger thrown = new AtomicInteger();

  @Override
  public int nodes() {
    return 2;
  }

  @Override
  public List<String> names() {
    return List.of("eu", "us");
  }

  @Override
  public Calls calls(int node, Config load) {
    return this;
  }

  @Override
  public Call call(String operation) {
    return (key, number) -> {
      if (thrown.getAndDecrement() > 0) {
        throw new IllegalStateException("as the test wants it");
      }
      Made made = new Made(Thread.currentThread(), new CompletableFuture<>());
      underWay.add(made);
      return made.answer;
    };
  }

  @Override
  public void close() {}

  /** The load's keys with changes over the defaults. */
  static Config load(String changes) {
    Config defaults = Scenario.read("client", List.of(), false).config();
    return ConfigFactory.parseString("at = all, keys = 10, mix { increment = 1 }\n" + changes)
        .withFallback(defaults.getConfig("load"));
  }

  /** What a node shows: counters, and sets of ten elements as further keys. */
  static final class Node implements Calls {
    final Map<Integer, Long> shown = new HashMap<>();

    void add(int at, long by) {
      shown.merge(at, by, Long::sum);
    }

    @Override
    public long count(int key) {
      return shown.getOrDefault(key, 0L);
    }

    @Override
    public boolean has(int key, int element) {
      return shown.getOrDefault(key * 10 + element, 0L) > 0;
    }

    @Override
    public Call call(String operation) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }
}
