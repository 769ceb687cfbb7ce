package io.osier.bench.systems;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.typesafe.config.Config;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Request;
import io.osier.proxy.Changes;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Program;
import io.osier.proxy.Range;
import io.osier.proxy.Scan;
import io.osier.proxy.Transaction;
import io.osier.proxy.Watch;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Calls through the client library. Thread-safe. */
public final class OsierCalls implements Calls {
  private static final int HANDLES_MAX = 200_000;
  private static final int PAGE = 1_000;
  private static final int FILLED_AT_ONCE = 500;
  private static final int FILLED_BYTES = 500_000;
  private static final int PART_MAX = 10_000;
  private static final long WAIT_SECONDS = 60;

  private final String dc;
  private final Supplier<OsierClient> connect;
  private final OsierClient client;
  private final List<Keyspace> sessions = new ArrayList<>();
  private final int keys;
  private final int elements;
  private final int bytes;
  private final int objects;
  private final List<String> homes;
  private final Value value;
  private final String text;

  OsierCalls(String dc, Supplier<OsierClient> connect, Config load) {
    this.dc = dc;
    this.connect = connect;
    this.client = connect.get();
    for (int i = 0; i < load.getInt("sessions"); i++) {
      sessions.add(client.session().keyspace(load.getString("keyspace")));
    }
    keys = load.getInt("keys");
    elements = load.getInt("elements");
    bytes = load.getInt("bytes");
    objects = load.getInt("objects");
    homes = load.getStringList("homes");
    value = Value.of(new byte[bytes]);
    text = "x".repeat(bytes);
  }

  /**
   * Returns the element with a number, of {@code bytes} bytes and at least 10. The order of
   * elements is unrelated to that of their numbers.
   */
  public static Value element(long number, int bytes) {
    return Value.of(elementBytes(number, bytes));
  }

  static byte[] elementBytes(long number, int bytes) {
    // SplitMix64's finalizer, which maps the numbers onto themselves.
    long z = (number + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return ByteBuffer.allocate(Math.max(10, bytes)).putLong(z).putShort((short) z).array();
  }

  /** Returns the number of the element that a call adds, from 0 to {@code elements} − 1. */
  public static int elementOf(long number, int elements) {
    return (int) Math.floorMod((number * 0x9E3779B97F4A7C15L) >>> 17, (long) elements);
  }

  /**
   * {@inheritDoc}
   *
   * <p>{@code increment, increment-get, get} of counters; {@code assign, read} of registers; of
   * sets: {@code add} one of its elements, {@code add-next} in turn and after the last one clear,
   * {@code contains, size, page, whole}; {@code insert} new ones into a set of load.elements, until
   * it is a quarter larger, then remove these. {@code read-together, update-together, transaction}
   * of load.objects counters; {@code program, program-same}: one with load.objects increments, of
   * as many counters or of one; {@code string-increment, string-increment-get, string-assign} of
   * strings; {@code connect} a client; {@code sequence}: see CommandSequence.
   */
  @Override
  public Call call(String operation) {
    return switch (operation) {
      case "increment" -> on("c", Keyspace::counter, (c, n) -> c.incrementAsync(1));
      case "increment-get" -> on("c", Keyspace::counter, (c, n) -> c.incrementAndGetAsync(1));
      case "get" -> on("c", Keyspace::counter, (c, n) -> c.getAsync());
      case "assign" -> on("v", Keyspace::register, (r, n) -> r.assignAsync(value));
      case "read" -> on("v", Keyspace::register, (r, n) -> r.getAsync());
      case "add" -> on("s", Keyspace::set, (s, n) -> s.addAsync(drawn(n)));
      case "contains" -> on("s", Keyspace::set, (s, n) -> s.containsAsync(drawn(n).getFirst()));
      case "whole" -> on("s", Keyspace::set, (s, n) -> s.getAsync());
      case "size" -> on("s", Keyspace::set, (s, n) -> s.sizeAsync());
      case "page" ->
          on("s", Keyspace::set, (s, n) -> s.getAsync(Range.from(drawn(n).getFirst()).limit(PAGE)));
      case "add-next" -> {
        AddNext next = new AddNext(keys, elements);
        yield (key, number) -> {
          int n = next.of(key);
          return n == elements
              ? session(number).set("s" + key).clearAsync()
              : session(number).set("s" + key).addAsync(List.of(element(n, bytes)));
        };
      }
      case "insert" -> new Inserts(sessions.getFirst().set("s0"), elements, bytes);
      case "read-together" -> (key, number) -> session(number).readTogetherAsync(gets(key));
      case "update-together" -> (key, number) -> session(number).updateTogetherAsync(changes(key));
      case "transaction" -> (key, number) -> blocking(() -> transaction(session(number), key));
      case "program" -> (key, number) -> program(session(number), key, 1).runAsync();
      case "program-same" -> (key, number) -> program(session(number), key, 0).runAsync();
      case "string-increment" -> on("n", Keyspace::string, (s, n) -> s.incrementAsync(1));
      case "string-increment-get" -> on("n", Keyspace::string, (s, n) -> s.incrementAndGetAsync(1));
      case "string-assign" -> on("n", Keyspace::string, (s, n) -> s.assignAsync(text));
      case "connect" -> (key, number) -> blocking(() -> connect.get().close());
      case "sequence" -> (key, number) -> CommandSequence.call(session(number), number);
      default -> throw Calls.unsupported("the operation " + operation);
    };
  }

  private Keyspace session(long number) {
    return sessions.get((int) (number % sessions.size()));
  }

  private List<Value> drawn(long number) {
    return List.of(element(elementOf(number, elements), bytes));
  }

  private interface Handle<T> {
    T of(Keyspace keyspace, String key);
  }

  private interface Use<T> {
    CompletionStage<?> of(T handle, long number);
  }

  /** Returns a call that uses handles made beforehand, unless they are too many. */
  private <T> Call on(String prefix, Handle<T> handle, Use<T> use) {
    int size = sessions.size();
    if ((long) keys * size > HANDLES_MAX) {
      return (key, number) -> use.of(handle.of(session(number), name(prefix, key)), number);
    }
    List<T> made = new ArrayList<>();
    for (int i = 0; i < keys * size; i++) {
      made.add(handle.of(sessions.get(i % size), name(prefix, i / size)));
    }
    return (key, number) -> use.of(made.get(key * size + (int) (number % size)), number);
  }

  /** Returns a key's name; the keys belong to the homes in turn. */
  private String name(String prefix, int key) {
    return (homes.isEmpty() ? "" : homes.get(key % homes.size()) + ":") + prefix + key;
  }

  private static CompletionStage<?> blocking(Runnable body) {
    return CompletableFuture.runAsync(body, task -> Thread.ofVirtual().start(task));
  }

  private List<Keyspace.Get> gets(int key) {
    return IntStream.range(0, objects)
        .mapToObj(i -> new Keyspace.Get("c" + (key + i) % keys, CrdtType.PN_COUNTER))
        .toList();
  }

  private List<Keyspace.Change> changes(int key) {
    return IntStream.range(0, objects)
        .mapToObj(
            i ->
                new Keyspace.Change(
                    "c" + (key + i) % keys, CrdtType.PN_COUNTER, new Operation.Increment(1)))
        .toList();
  }

  private Program program(Keyspace keyspace, int key, int apart) {
    Program program = keyspace.program();
    for (int i = 0; i < objects; i++) {
      Key counter = Key.of("c" + (key + i * apart) % keys);
      program.update(counter, CrdtType.PN_COUNTER, new Operation.Increment(1), Optional.empty());
    }
    return program;
  }

  private void transaction(Keyspace keyspace, int key) {
    try (Transaction transaction = keyspace.begin()) {
      transaction.readTogether(gets(key));
      for (int i = 0; i < objects; i++) {
        transaction.counter("c" + (key + i) % keys).increment(1);
      }
      transaction.commit();
    }
  }

  @Override
  public void fill(String operation, int count) {
    Keyspace at = sessions.getFirst();
    if (operation.equals("add") || operation.equals("insert")) {
      // A request has a limit of bytes, and so have all requests in flight.
      int part = Math.min(elements, Math.clamp(FILLED_BYTES / Math.max(10, bytes), 1, PART_MAX));
      int parts = (elements + part - 1) / part;
      int atOnce = Math.clamp(FILLED_BYTES / (part * (long) Math.max(10, bytes)), 1, 200);
      all(
          operation.equals("insert") ? parts : count * parts,
          atOnce,
          i -> at.set("s" + i / parts).addAsync(batch(i % parts * part, part)));
    } else {
      Call call = call(operation);
      all(count, FILLED_AT_ONCE, i -> call.make(i, i));
    }
  }

  private List<Value> batch(int from, int part) {
    return LongStream.range(from, Math.min(elements, from + part))
        .mapToObj(n -> element(n, bytes))
        .toList();
  }

  /**
   * Makes calls with the numbers from 0 on, {@code atOnce} at a time, and throws the first failure.
   */
  public static void all(int count, int atOnce, IntFunction<CompletionStage<?>> call) {
    Semaphore room = new Semaphore(atOnce);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    for (int i = 0; i < count && failure.get() == null; i++) {
      room.acquireUninterruptibly();
      call.apply(i)
          .whenComplete(
              (result, error) -> {
                if (error != null) {
                  failure.compareAndSet(null, error);
                }
                room.release();
              });
    }
    room.acquireUninterruptibly(atOnce);
    if (failure.get() != null) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE, "a call failed: " + failure.get(), failure.get());
    }
  }

  @Override
  public long count(int key) {
    return sessions.getFirst().counter("c" + key).get();
  }

  @Override
  public boolean has(int key, int element) {
    return sessions.getFirst().set("s" + key).contains(element(element, bytes));
  }

  @Override
  public Watching watch(int count, IntConsumer told) {
    Keyspace at = sessions.getFirst();
    Map<Key, Integer> numbers = new HashMap<>();
    for (int i = 0; i < keys; i++) {
      numbers.put(Key.of("v" + i), i);
      numbers.put(Key.of("c" + i), i);
    }
    List<Watch.Watching> all = new ArrayList<>();
    if (count < 0) {
      all.add(at.changes().listen(changes -> tell(changes, numbers, told)));
    }
    for (int i = 0; i < count; i++) {
      String key = "v" + i * (keys / count);
      all.add(at.watch(key).listen(changes -> tell(changes, numbers, told)));
    }
    for (Watch.Watching watching : all) {
      try {
        watching.begun().get(WAIT_SECONDS, TimeUnit.SECONDS);
      } catch (Exception e) {
        throw new OsierException(ErrorCode.UNAVAILABLE, "a watcher does not begin: " + e, e);
      }
    }
    return () -> {
      boolean isCutOff = all.stream().anyMatch(w -> w.ended().isDone());
      all.forEach(Watch.Watching::close);
      if (isCutOff) {
        throw new OsierException(ErrorCode.UNAVAILABLE, "a watcher was cut off");
      }
    };
  }

  private static void tell(Changes changes, Map<Key, Integer> numbers, IntConsumer told) {
    for (Changes.Change change : changes.changes()) {
      Integer number = numbers.get(change.key());
      if (number != null) {
        told.accept(number);
      }
    }
  }

  @Override
  public Expiring expiring() {
    Keyspace at = sessions.getFirst();
    return new Expiring() {
      @Override
      public CompletionStage<?> put(int number) {
        return at.register("x" + number).assignAsync(value);
      }

      @Override
      public CompletionStage<?> expireAt(int number, long millis) {
        return at.expireAtAsync("x" + number, Instant.ofEpochMilli(millis));
      }

      @Override
      public long visible() {
        return at.count(Scan.prefix("x"));
      }

      @Override
      public long kept() {
        return report("objects");
      }

      @Override
      public long removed() {
        return report("removed_objects");
      }

      private long report(String figure) {
        try {
          JsonNode stat =
              new ObjectMapper()
                  .readTree(
                      client.inspectAsync(dc, Request.Topic.STAT, Optional.empty(), 0).join());
          return stat.at("/keyspaces/" + at.name() + "/" + figure).asLong();
        } catch (java.io.IOException e) {
          throw new java.io.UncheckedIOException(e);
        }
      }
    };
  }

  @Override
  public void close() {
    client.close();
  }
}
