package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.testing.Patience;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A start that is told to stop at any moment, or fails, leaves nothing open. */
final class StartupTest {
  private static final Duration LONG = Patience.LIMIT;
  private static final int STEPS = 3;

  @TempDir private Path dir;
  private final Startup startup = new Startup();
  private final List<String> closed = Collections.synchronizedList(new ArrayList<>());

  private void step(String name) {
    startup.check();
    startup.opened(() -> closed.add(name));
  }

  /** Whoever is told to stop by another thread, which waits. */
  private CompletableFuture<Boolean> stopElsewhere() {
    CompletableFuture<Boolean> stopped = new CompletableFuture<>();
    Thread.ofPlatform().daemon().start(() -> stopped.complete(startup.stop(LONG)));
    await()
        .until(
            () -> {
              try {
                startup.check();
                return false;
              } catch (OsierException e) {
                return e.code() == ErrorCode.SHUTTING_DOWN;
              }
            });
    return stopped;
  }

  /** Before the first step, between any two, and after the last. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void toldToStopBeforeAStep_endsThere_andClosesWhatWasOpened(int before) {
    List<String> opened = new ArrayList<>();
    CompletableFuture<Boolean> stopped = null;
    try (startup) {
      for (int i = 0; i < STEPS; i++) {
        if (i == before) {
          stopped = stopElsewhere();
        }
        step("step " + i);
        opened.addFirst("step " + i);
      }
      if (before == STEPS) {
        stopped = stopElsewhere();
      }
      startup.started();
      throw new AssertionError("it was told to stop");
    } catch (OsierException e) {
      assertThat(e.code()).isEqualTo(ErrorCode.SHUTTING_DOWN);
    }
    assertThat(stopped).succeedsWithin(LONG).isEqualTo(true);
    assertThat(closed).isEqualTo(opened).hasSize(before);
  }

  /** What the step brings is closed, too. */
  @Test
  void toldToStopDuringAStep_closesWhatThatOneOpens() {
    CompletableFuture<Boolean> stopped;
    try (startup) {
      step("first");
      startup.check();
      stopped = stopElsewhere();
      startup.opened(() -> closed.add("second"));
      assertThat(stopped).isNotDone();
    }
    assertThat(stopped).succeedsWithin(LONG).isEqualTo(true);
    assertThat(closed).containsExactly("second", "first");
  }

  @Test
  void toldToStopOnceAllIsOpen_closesItOnce() {
    step("first");
    step("second");
    startup.started();
    assertThat(startup.stop(Duration.ZERO)).isTrue();
    startup.close();
    assertThat(closed).containsExactly("second", "first");
  }

  /** As often as it starts anew, nothing of what was closed is kept. */
  @Test
  void whatStartsAnew_isClosedOnce_andAsAStartUntilAllIsOpen() {
    step("first");
    AutoCloseable before = startup.opened(() -> closed.add("before"));
    startup.started();
    startup.startsAnew(before);
    assertThat(startup.stop(Duration.ofMillis(1))).as("the new start is waited for").isFalse();
    assertThat(closed).isEmpty();
    startup.opened(() -> closed.add("after"));
    assertThatThrownBy(startup::started).hasMessageContaining("was stopped before its start");
    startup.close();
    assertThat(closed).containsExactly("after", "first");
  }

  @Test
  void whatWasToldToStop_doesNotStartAnew() {
    AutoCloseable before = startup.opened(() -> closed.add("before"));
    startup.started();
    assertThat(startup.stop(Duration.ZERO)).isTrue();
    refused(ErrorCode.SHUTTING_DOWN, () -> startup.startsAnew(before));
    assertThat(closed).containsExactly("before");
  }

  /** Opening a damaged store may take for ever, and the process ends all the same. */
  @Test
  void stepThatDoesNotEnd_isNotWaitedForLongerThanAllowed() {
    step("first");
    assertThat(startup.stop(Duration.ofMillis(1))).isFalse();
    assertThat(closed).isEmpty();
  }

  @Test
  void whatCannotBeClosed_keepsNothingElseOpen() {
    step("first");
    startup.opened(
        () -> {
          throw new IllegalStateException("on purpose");
        });
    startup.close();
    assertThat(closed).containsExactly("first");
  }

  // ---------------------------------------------------------------- a datacenter's

  private DatacenterConfig config(int clientPort, int adminPort) {
    return ConfigReader.read(
        "eu",
        """
        osier {
          dc = eu, store.dir = "%s", keyspaces { shop {}, bank { consistency = causal } }
          listen { client-port = %d, peer-port = 0 }
          admin { enabled = true, port = %d }
        }
        """
            .formatted(dir, clientPort, adminPort),
        Map.of());
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(
            t -> t.getName().startsWith("osier") || t.getName().matches("(shop|bank|_osier)-.*"))
        .collect(Collectors.toSet());
  }

  private void startsAgain(Set<Thread> before) {
    await().until(() -> before.containsAll(threads()));
    try (Datacenter again = Datacenter.start(config(0, 0))) {
      await().until(again::isReady);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void portThatIsTaken_leavesNothingOpen(boolean ofClients) throws Exception {
    Set<Thread> before = threads();
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      DatacenterConfig config = ofClients ? config(port, 0) : config(0, port);
      refused(ErrorCode.CONFIGURATION, () -> Datacenter.start(config).close())
          .hasMessageContaining(ofClients ? "osier.listen.client-port" : "osier.admin.port");
    }
    startsAgain(before);
  }

  /** At each moment at which the start looks. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void datacenterThatIsToldToStop_leavesNothingOpen(int atLook) {
    Set<Thread> before = threads();
    AtomicInteger looks = new AtomicInteger();
    Startup within =
        new Startup() {
          @Override
          public synchronized void check() {
            if (looks.incrementAndGet() == atLook) {
              assertThat(stop(Duration.ZERO)).isFalse();
            }
            super.check();
          }
        };
    refused(
        ErrorCode.SHUTTING_DOWN,
        () ->
            Datacenter.start(config(0, 0), new StartWatch(System.nanoTime()), within, Map::of)
                .close());
    assertThat(looks).hasValue(atLook);
    startsAgain(before);
  }
}
