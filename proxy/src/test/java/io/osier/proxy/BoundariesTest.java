package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Request;
import io.osier.proxy.values.Values;
import io.osier.testing.Patience;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The ends of the ranges of all that the client is told in numbers and times: each is taken, or
 * refused with an error that says what would be right.
 */
@Timeout(Patience.SECONDS)
@NullUnmarked // what is null fails the test
final class BoundariesTest {
  private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

  private static final Duration SHORTEST = Duration.ofNanos(1);

  private static final Map<Class<?>, List<?>> ENDS =
      Map.of(
          Duration.class,
          List.of(
              FOREVER,
              FOREVER.negated(),
              Duration.ofSeconds(Long.MIN_VALUE),
              Duration.ofMillis(Long.MAX_VALUE),
              Duration.ofNanos(Long.MAX_VALUE),
              SHORTEST,
              Duration.ofNanos(-1),
              Duration.ZERO),
          Instant.class,
          List.of(Instant.MAX, Instant.MIN, Instant.EPOCH),
          long.class,
          List.of(Long.MAX_VALUE, Long.MIN_VALUE, 0L, -1L),
          int.class,
          List.of(Integer.MAX_VALUE, Integer.MIN_VALUE, 0, -1),
          double.class,
          List.of(Double.NaN, -1.0, Double.POSITIVE_INFINITY, 0.0));

  private final FakeInProcess eu = new FakeInProcess();
  private final List<OsierClient> made = new ArrayList<>();

  private OsierClient client() {
    OsierClient client = OsierClient.inProcess(eu);
    made.add(client);
    return client;
  }

  @AfterEach
  void close() {
    made.forEach(OsierClient::close);
  }

  private static OsierClient.Builder builder() {
    return OsierClient.builder().endpoint("eu", "127.0.0.1:1");
  }

  /** What has methods with such parameters, anew for each call. */
  private Map<Class<?>, Supplier<Object>> subjects() {
    Session session = client().session();
    Keyspace shop = session.keyspace("shop");
    eu.handler = (request, reply) -> {};
    Map<Class<?>, Supplier<Object>> all = new LinkedHashMap<>();
    all.put(OsierClient.class, this::client);
    all.put(OsierClient.Builder.class, BoundariesTest::builder);
    all.put(SessionOptions.class, () -> SessionOptions.DEFAULT);
    all.put(TransactionOptions.class, () -> TransactionOptions.DEFAULT);
    all.put(
        Keyspace.Change.class,
        () -> new Keyspace.Change("k", CrdtType.PN_COUNTER, new Operation.Increment(1)));
    all.put(Scan.class, Scan::all);
    all.put(Range.class, Range::all);
    all.put(Keyspace.class, () -> shop);
    all.put(Program.class, shop::program);
    all.put(Program.Result.class, () -> new Program.Result(true, List.of()));
    all.put(Batch.class, () -> new Batch(Values.plain()));
    all.put(Watch.class, () -> shop.watch("k"));
    all.put(KeyspaceOptions.class, () -> KeyspaceOptions.DEFAULT);
    all.put(CounterHandle.class, () -> shop.counter("k"));
    all.put(BoundedCounterHandle.class, () -> shop.boundedCounter("k"));
    all.put(MapHandle.class, () -> shop.map("k"));
    all.put(RegisterHandle.class, () -> shop.register("k"));
    all.put(StringHandle.class, () -> shop.string("k"));
    all.put(SetHandle.class, () -> shop.set("k"));
    all.put(TypedSet.class, () -> shop.set("k", String.class));
    all.put(Transaction.class, () -> null); // its own are those of every object space
    all.put(ObjectSpace.class, () -> shop.expiring(Duration.ofMinutes(1)));
    return all;
  }

  private static boolean hasEnds(Method method) {
    return Arrays.stream(method.getParameterTypes()).anyMatch(ENDS::containsKey);
  }

  /** Those that nobody calls with numbers of his own. */
  private static final Set<String> OTHERS =
      Set.of("Connection", "Timers", "ClientMetrics", "ClientTraces", "ClientObserver");

  @Test
  void everyPublicMethodThatIsToldANumberOrATime_isLookedAt() throws Exception {
    File classes =
        new File(OsierClient.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Set<String> with = new TreeSet<>();
    for (String name : new File(classes, "io/osier/proxy").list()) {
      if (!name.endsWith(".class") || name.equals("package-info.class")) {
        continue;
      }
      Class<?> each = Class.forName("io.osier.proxy." + name.replace(".class", ""));
      boolean isPublic = Modifier.isPublic(each.getModifiers());
      if (isPublic && PublicCalls.methods(each).stream().anyMatch(BoundariesTest::hasEnds)) {
        with.add(each.getSimpleName());
      }
    }
    with.removeAll(OTHERS);
    Set<String> known =
        subjects().keySet().stream().map(Class::getSimpleName).collect(Collectors.toSet());
    assertThat(known).containsAll(with);
  }

  private static Stream<Class<?>> classes() {
    BoundariesTest test = new BoundariesTest();
    try {
      return List.copyOf(test.subjects().keySet()).stream().filter(c -> c != Transaction.class);
    } finally {
      test.close();
    }
  }

  @ParameterizedTest
  @MethodSource("classes")
  void endOfARange_isTaken_orRefusedWithWhatWouldBeRight(Class<?> of) throws Exception {
    Map<Class<?>, Supplier<Object>> subjects = subjects();
    int calls = 0;
    for (Method method : PublicCalls.methods(of)) {
      Class<?>[] types = method.getParameterTypes();
      for (int i = 0; i < types.length; i++) {
        for (Object end : ENDS.getOrDefault(types[i], List.of())) {
          Object[] arguments = new Object[types.length];
          for (int j = 0; j < types.length; j++) {
            arguments[j] = j == i ? end : argument(PublicCalls.types(of, method).get(j));
          }
          call(subjects.get(of).get(), method, arguments);
          calls++;
        }
      }
    }
    assertThat(calls).isPositive();
  }

  private @Nullable Object argument(String type) {
    return switch (type) {
      case "io.osier.protocol.Request$Topic" -> Request.Topic.STAT;
      case "java.util.Optional<java.lang.String>" -> Optional.empty();
      case "io.osier.proxy.ClientTraces" -> (ClientTraces) trace -> {};
      default ->
          (type.contains("Duration") && type.length() < 30) || !type.equals("java.lang.String")
              ? PublicCalls.argument(type, made.getFirst())
              : "eu";
    };
  }

  @Test
  void backupWithoutTime_isRefused() {
    for (Duration none : List.of(Duration.ZERO, Duration.ofNanos(-1), FOREVER.negated())) {
      assertThatThrownBy(() -> client().backupAsync("eu", Optional.empty(), none))
          .isInstanceOf(OsierException.class)
          .hasMessageContaining("a backup's timeout must be above 0, not " + none);
    }
  }

  /** Calls it, and what it is for. */
  private void call(Object on, Method method, Object[] arguments) throws Exception {
    Object given;
    // Nobody answers, and what waits ends at once.
    Thread.currentThread().interrupt();
    try {
      given = method.invoke(on, arguments);
    } catch (InvocationTargetException e) {
      assertRefused(method, arguments, e.getCause());
      return;
    } finally {
      assertThat(Thread.interrupted()).as("%s", method).isTrue();
      if (on instanceof OsierClient client) {
        boolean closes = method.getName().equals("close");
        assertThat(client.core().isClosed()).as("%s", method).isEqualTo(closes);
        client.close();
      }
    }
    try {
      switch (given) {
        case OsierClient.Builder b -> b.build().close();
        case SessionOptions options ->
            client().session(options).keyspace("shop").counter("c").getAsync().cancel(true);
        case TransactionOptions options ->
            client().session().keyspace("shop").beginAsync(options).cancel(true);
        case Scan scan -> client().session().keyspace("shop").pageAsync(scan).cancel(true);
        case Range<?> range -> {
          @SuppressWarnings("unchecked")
          Range<io.osier.core.Value> values = (Range<io.osier.core.Value>) range;
          client().session().keyspace("shop").set("s").getAsync(values).cancel(true);
        }
        case Program program -> program.runAsync().cancel(true);
        case Keyspace.Change change ->
            client().session().keyspace("shop").updateAllAsync(List.of(change)).cancel(true);
        case CompletableFuture<?> future -> {
          if (future.isCompletedExceptionally()) {
            future.join();
          }
          future.cancel(true);
        }
        case null -> {}
        default -> {}
      }
    } catch (CompletionException e) {
      assertRefused(method, arguments, e.getCause());
    } catch (RuntimeException e) {
      assertRefused(method, arguments, e);
    }
  }

  private static void assertRefused(Method method, Object[] arguments, Throwable thrown) {
    Set<ErrorCode> right =
        EnumSet.of(
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.VALUE_TOO_LARGE, // which a string would be
            ErrorCode.CANCELLED, // the thread is interrupted
            ErrorCode.UNAVAILABLE);
    if (Arrays.asList(arguments).contains(SHORTEST)) {
      right.add(ErrorCode.TIMEOUT); // which may be over
    }
    assertThat(thrown)
        .as("%s with %s", method, Arrays.toString(arguments))
        .isNotExactlyInstanceOf(OsierException.class) // but of the class that says what to do
        .isInstanceOfSatisfying(
            OsierException.class,
            e ->
                assertThat(e.code())
                    .as("%s with %s: %s", method, Arrays.toString(arguments), e)
                    .isIn(right));
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(t -> t.getName().startsWith("osier-client"))
        .collect(Collectors.toCollection(HashSet::new));
  }

  @Test
  void close_closesWhateverItIsTold_andAsOftenAsItIsTold() {
    Set<Thread> before = threads();
    for (Duration end : new Duration[] {FOREVER, FOREVER.negated(), null}) {
      OsierClient client = builder().build();
      if (end == null) {
        assertThatThrownBy(() -> client.close(end)).isInstanceOf(OsierException.class);
      } else {
        assertThat(client.close(end)).isTrue();
      }
      assertThat(client.core().isClosed()).isTrue();
      client.close();
      assertThat(client.close(FOREVER)).isTrue();
    }
    await()
        .until(
            () -> {
              Set<Thread> now = threads();
              now.removeAll(before);
              return now.stream().noneMatch(Thread::isAlive);
            });
  }

  @Test
  void limitOfATransaction_saysItsRange() {
    assertThatThrownBy(() -> TransactionOptions.DEFAULT.limit(FOREVER))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("a transaction's time limit must be 1 to 600000 ms");
  }
}
