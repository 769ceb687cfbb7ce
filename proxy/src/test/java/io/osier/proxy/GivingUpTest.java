package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whoever gives a call up, by an interrupt or by cancelling its future, leaves at once, is told
 * what became of it, and frees its place: every method of the client that waits, and each of those
 * that return a future. The datacenter takes everything and answers nothing.
 */
@Timeout(Patience.SECONDS) // a call's own limit is far beyond
@NullUnmarked // what is null fails the test
final class GivingUpTest {
  record Visits(String name, Set<String> tags) {}

  private static final Reply BEGUN =
      new Reply.Transacted(VersionVector.EMPTY, Optional.empty(), List.of());

  private final FakeInProcess eu = new FakeInProcess();
  private final OsierClient client = Unanswered.client(eu);

  /** How many answers are waited for by nobody, and heard all the same. */
  private int heardOn;

  /** Whose methods are called. */
  private @Nullable Class<?> isIn;

  @AfterEach
  void close() {
    assertThat(Thread.interrupted()).as("left interrupted").isFalse();
    client.close();
  }

  // ---------------------------------------------------------------- what there is to call

  private Map<Class<?>, Object> subjects() {
    Session session = client.session();
    Keyspace shop = session.keyspace("shop");
    eu.handler = (request, reply) -> reply.accept(BEGUN);
    Transaction tx = shop.begin();
    eu.handler = (request, reply) -> {};
    Map<Class<?>, Object> all = new LinkedHashMap<>();
    for (Object each :
        List.of(
            shop,
            tx,
            shop.counter("k"),
            shop.boundedCounter("k"),
            shop.flag("k"),
            shop.map("k"),
            shop.map("k", Visits.class),
            shop.multiRegister("k"),
            shop.multiRegister("k", String.class),
            shop.register("k"),
            shop.register("k", String.class),
            shop.set("k"),
            shop.set("k", String.class),
            session,
            client.admin(),
            client.admin().users())) {
      all.put(each.getClass(), each);
    }
    return all;
  }

  /** Those that take what this test cannot give make handles, and ask nobody. */
  private static final Set<String> ASK_NOBODY =
      Set.of("pin", "join", "as", "map", "register", "set", "multiRegister");

  private Object[] arguments(Object on, Method method) {
    Object[] all =
        PublicCalls.types(on.getClass(), method).stream()
            .map(type -> PublicCalls.argument(type, client))
            .toArray();
    if (Set.of("rename", "copy", "renameAsync", "copyAsync").contains(method.getName())) {
      all[1] = "another"; // not onto itself
    }
    switch (method.getName()) {
      case "aged" -> all[0] = (Function<ObjectSpace, Long>) space -> space.counter("k").get();
      case "agedAsync" ->
          all[0] =
              (Function<ObjectSpace, CompletableFuture<Long>>)
                  space -> space.counter("k").getAsync();
      default -> {}
    }
    if (Arrays.asList(all).contains(null) && !ASK_NOBODY.contains(method.getName())) {
      fail("say here what %s is to be called with", method.toGenericString());
    }
    return all;
  }

  private static Stream<Class<?>> classes() {
    GivingUpTest test = new GivingUpTest();
    try {
      return List.copyOf(test.subjects().keySet()).stream();
    } finally {
      test.close();
    }
  }

  private static boolean isAsync(Method method) {
    return CompletableFuture.class.isAssignableFrom(method.getReturnType());
  }

  private static boolean hasTwin(Method method) {
    return Arrays.stream(method.getDeclaringClass().getMethods())
        .anyMatch(m -> m.getName().equals(method.getName() + "Async"));
  }

  private void assertNothingIsUnderWay(Object of) {
    assertThat(client.core().limiter().awaitEmpty(0)).as("%s has left its place", of).isTrue();
    // Of a transaction it must be known how a step ends, and what was begun is ended.
    int now = client.status().getFirst().inFlight();
    if (of instanceof Method m && (m.getName().startsWith("begin") || isIn == Transaction.class)) {
      heardOn = now;
    }
    assertThat(now).as("in flight, of %s", of).isEqualTo(heardOn);
  }

  /** Those of the client itself, which are no calls of a session. */
  @Test
  void questionToADatacenter_thatIsGivenUp_isUnderWayNoMore() {
    for (CompletableFuture<?> each :
        List.of(
            client.keyspacesAsync(),
            client.inspectAsync("eu", Request.Topic.STAT, Optional.empty(), 0),
            client.inspectAsync(Request.Topic.STAT, "shop", 0),
            client.keyspacesAsync().thenApply(List::size))) {
      int before = client.status().getFirst().inFlight();
      assertThat(each.cancel(true)).isTrue();
      assertThat(client.status().getFirst().inFlight()).isEqualTo(before - 1);
    }
    assertNothingIsUnderWay("the client");
  }

  // ---------------------------------------------------------------- interrupts

  /**
   * What a call ends with, by a thread that is interrupted before it begins; null if it returns.
   */
  private @Nullable Throwable interruptedBefore(Object on, Method method) throws Exception {
    Thread.currentThread().interrupt();
    try {
      method.invoke(on, arguments(on, method));
      return null;
    } catch (InvocationTargetException e) {
      return e.getCause();
    } finally {
      assertThat(Thread.interrupted()).as("the flag is kept by %s", method).isTrue();
    }
  }

  /** As the other one, of a thread that is interrupted while it waits. */
  private static @Nullable Throwable interruptedWhileItWaits(Consumer<Object[]> call) {
    Object[] thrown = new Object[2];
    Thread caller =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    call.accept(thrown);
                  } catch (Throwable e) {
                    thrown[0] = e;
                  }
                  thrown[1] = Thread.currentThread().isInterrupted();
                });
    while (caller.isAlive()
        && caller.getState() != Thread.State.WAITING
        && caller.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    caller.interrupt();
    try {
      caller.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    assertThat(thrown[1]).as("the flag is kept").isEqualTo(true);
    return (Throwable) thrown[0];
  }

  private static void assertGivenUp(Method method, Throwable thrown) {
    assertThat(thrown).as("outcome of %s", method).is(Refused.with(ErrorCode.CANCELLED));
    boolean reads =
        method
            .getName()
            .matches(
                "(get|getAll|contains|size|first|last|among|exists|type|read|readAll"
                    + "|readTogether|count|page|scan|timeToLive|rights|isSubsetOf)");
    if (reads) {
      assertThat(thrown)
          .as("a read is never in doubt: %s", method)
          .isNotInstanceOf(OutcomeUnknownException.class);
    }
  }

  @ParameterizedTest
  @MethodSource("classes")
  void interruptedThread_endsEveryCallAtOnce_withItsOutcome(Class<?> of) throws Exception {
    isIn = of;
    int waited = 0;
    for (Method method : PublicCalls.methods(of)) {
      if (isAsync(method) || method.getName().equals("wait")) {
        continue;
      }
      Object on = subjects().get(of);
      Throwable thrown = interruptedBefore(on, method);
      if (thrown instanceof BatchException some) {
        thrown = some.errors().values().iterator().next();
      }
      if (hasTwin(method) && !(on instanceof Transaction && thrown == null)) {
        assertGivenUp(method, thrown);
        waited++;
      } else if (thrown != null && !ASK_NOBODY.contains(method.getName())) {
        assertGivenUp(method, thrown);
      }
      assertNothingIsUnderWay(method);
      if (hasTwin(method) && !(on instanceof Transaction && thrown == null)) {
        Object again = subjects().get(of);
        Object[] arguments = arguments(again, method);
        Throwable later =
            interruptedWhileItWaits(
                none -> {
                  try {
                    method.invoke(again, arguments);
                  } catch (InvocationTargetException e) {
                    if (e.getCause() instanceof RuntimeException known) {
                      throw known;
                    }
                    throw new AssertionError(e);
                  } catch (IllegalAccessException e) {
                    throw new AssertionError(e);
                  }
                });
        if (later instanceof BatchException some) {
          later = some.errors().values().iterator().next();
        }
        assertGivenUp(method, later);
        assertNothingIsUnderWay(method);
      }
    }
    boolean hasNone = of == Session.class || of == Admin.class || of == UserAdmin.class;
    assertThat(waited > 0 || hasNone).as("%s waits for answers", of).isTrue();
  }

  @Test
  void update_thatWasSent_isInDoubt_andOneThatWasNot_isNot() throws Exception {
    Method increment = CounterHandle.class.getMethod("increment");
    CounterHandle counter = client.session().keyspace("shop").counter("k");
    eu.handler = (request, reply) -> {};
    assertThat(interruptedBefore(counter, increment)).isInstanceOf(OutcomeUnknownException.class);
    for (int i = 0; i < 50; i++) { // all places are taken
      var unused = counter.getAsync();
    }
    assertThat(interruptedBefore(counter, increment))
        .isInstanceOf(OsierException.class)
        .isNotInstanceOf(OutcomeUnknownException.class)
        .hasMessageContaining("nothing was sent");
  }

  @Test
  void close_andAwaitConnected_endWithAnInterrupt() {
    var unused = client.session().keyspace("shop").counter("k").getAsync();
    assertThat(interruptedWhileItWaits(none -> client.close(Duration.ofDays(1)))).isNull();
    assertThat(client.core().isClosed()).isTrue();
    OsierClient nowhere = Unanswered.nowhere();
    assertThat(interruptedWhileItWaits(none -> nowhere.awaitConnected(Duration.ofDays(1))))
        .is(Refused.with(ErrorCode.CANCELLED));
  }

  @Test
  void scan_endsWithAnInterrupt() {
    Keyspace shop = client.session().keyspace("shop");
    Throwable thrown =
        interruptedWhileItWaits(
            none -> {
              var unused = shop.scan(Scan.all()).toList();
            });
    assertThat(thrown).is(Refused.with(ErrorCode.CANCELLED));
    assertNothingIsUnderWay("a scan");
  }

  // ---------------------------------------------------------------- futures

  private static List<Consumer<CompletableFuture<?>>> ways() {
    List<Consumer<CompletableFuture<?>>> all = new ArrayList<>(Unanswered.waysToGiveUp());
    all.add(f -> f.thenApply(x -> x).cancel(true));
    all.add(f -> f.thenCompose(CompletableFuture::completedFuture).cancel(true));
    all.add(f -> f.handle((x, e) -> x).thenRun(() -> {}).cancel(true));
    all.add(f -> f.orTimeout(1, TimeUnit.DAYS).thenAccept(x -> {}).cancel(true));
    all.add(
        f -> {
          CompletableFuture<?> one = f.thenApply(x -> x);
          CompletableFuture<?> other = f.thenApply(x -> x);
          one.cancel(true);
          other.cancel(true);
        });
    return all;
  }

  @ParameterizedTest
  @MethodSource("classes")
  void futureThatIsGivenUp_freesItsPlaceAtOnce(Class<?> of) throws Exception {
    isIn = of;
    for (Method method : PublicCalls.methods(of)) {
      if (!isAsync(method) || method.getName().equals("abortAsync")) {
        continue;
      }
      for (Consumer<CompletableFuture<?>> way : ways()) {
        Object on = subjects().get(of);
        CompletableFuture<?> future =
            (CompletableFuture<?>) method.invoke(on, arguments(on, method));
        if (future.isCompletedExceptionally() && !ASK_NOBODY.contains(method.getName())) {
          future.join(); // tells what the arguments lack
        }
        way.accept(future);
        assertNothingIsUnderWay(method);
      }
    }
  }

  @Test
  void stepWithUpdates_thatIsGivenUp_saysThatTheyStay() {
    isIn = Transaction.class;
    eu.handler = (request, reply) -> reply.accept(BEGUN);
    Transaction tx = client.session().keyspace("shop").begin();
    eu.handler = (request, reply) -> {};
    CounterHandle counter = tx.counter("k");
    Throwable read = interruptedWhileItWaits(none -> tx.counter("other").get());
    assertThat(read).hasMessageContaining("nothing was done");
    Throwable waiting = interruptedWhileItWaits(none -> counter.incrementAndGet(1));
    assertThat(waiting).hasMessageContaining("its updates stay in the transaction");
    Throwable commit = interruptedWhileItWaits(none -> tx.commit());
    assertThat(commit).hasMessageContaining("its updates stay in the transaction");

    eu.handler = (request, reply) -> reply.accept(BEGUN);
    Transaction other = client.session().keyspace("shop").begin();
    eu.handler = (request, reply) -> {};
    Throwable sent = interruptedWhileItWaits(none -> other.counter("k").incrementAndGet(1));
    assertThat(sent)
        .hasMessageContaining("its updates stay in the transaction")
        .isNotInstanceOf(OutcomeUnknownException.class)
        .is(Refused.with(ErrorCode.CANCELLED));
  }
}
