package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.ClientObserver;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Osier;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.observe.MicrometerObserver;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How a program comes in, is watched, and goes. */
@NullUnmarked // what is null is refused
final class EntryPointTest {
  private static final Duration LONG = Patience.LIMIT;

  @AutoClose private static final TestCluster cluster = new TestCluster("eu", "us");

  @TempDir private Path dir;

  private static String endpoint(String dc) {
    return dc + "=127.0.0.1:" + cluster.clientPort(dc);
  }

  private Path file(String text) throws IOException {
    return Files.writeString(dir.resolve("client.properties"), text.replace(';', '\n'));
  }

  @Test
  void oneLine_connects() {
    try (OsierClient client = Osier.connect(endpoint("eu"), endpoint("us"))) {
      await() // its connections are lost where a datacenter says nothing for two seconds
          .ignoreExceptionsInstanceOf(OsierException.class)
          .until(
              () -> {
                client.session().keyspace("shop").counter("one-line").increment();
                return client.isConnected();
              });
    }
  }

  @Test
  void file_saysAll() throws IOException {
    Path file =
        file(
            "endpoint.eu = 127.0.0.1:"
                + cluster.clientPort("eu")
                + ";endpoint.us=127.0.0.1:"
                + cluster.clientPort("us")
                + ";prefer = us;name = test;timeout = 5m;connect-timeout = 90s"
                + ";ping-interval = 1m;in-flight-max = 10;cache.staleness = 1s"
                + ";cache.entries-max = 5;cache.following.shop=by-;cache.following.bank="
                + ";cache.at-most = 5m;tls = false");
    try (OsierClient client = Osier.connect(file)) {
      assertThat(client.status()).hasSize(2);
      client.session().keyspace("shop").counter("by-file").increment();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "timeout = 5                | timeout = 5: a duration is a number with ms, s or m",
        "timeout = 0s               | timeout = 0s: timeout must be above 0",
        "in-flight-max = many       | in-flight-max = many, which must be a whole number",
        "endpont.eu = x:1           | has the setting 'endpont.eu', which is none of endpoint.NAME",
        "endpoint.e/u = x:1         | has endpoint.e/u = x:1: ",
        "tls = yes                  | has tls = yes, which must be true or false",
        "tls.key = k.pem            | has tls.key, which needs tls.certificate, too",
        "tls.any-host = true        | has tls.any-host = true, but no 'tls = true'",
        "user = ada                 | has user, which needs password-file, too",
        "user=ada;password-file=no  | client.properties, password-file: ",
        "cache.entries-max = 5      | has cache.entries-max, which needs cache.staleness, too",
        "cache.at-most = 5m         | has cache.at-most, which needs cache.staleness, too",
        "cache.following.shop = f   | has cache.following.shop, which needs cache.staleness, too",
      })
  void wrongSetting_isNamed(String text, String why) throws IOException {
    Path file = file(text.strip());
    refused(ErrorCode.CONFIGURATION, () -> Osier.configured(file))
        .hasMessageContaining(why.strip());
  }

  @Test
  void whatCannotBe_isNamed() {
    assertThatThrownBy(() -> Osier.configured(dir.resolve("none")))
        .hasMessageContaining("cannot be read");
    assertThatThrownBy(() -> Osier.connect("127.0.0.1:7400"))
        .hasMessageContaining("an endpoint must be NAME=HOST:PORT");
    assertThatThrownBy(() -> Osier.connect()).hasMessageContaining("at least one endpoint");
    assertThatThrownBy(() -> Osier.connect((String) null)).hasMessageContaining("an endpoint");
  }

  @Test
  void gracefulClose_letsCallsEnd_andTakesNoMore() {
    OsierClient client = cluster.clientOf("eu");
    Keyspace shop = client.session().keyspace("shop");
    List<CompletableFuture<Void>> calls = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      calls.add(shop.counter("graceful").incrementAsync(1));
    }
    assertThat(client.close(LONG)).isTrue();
    assertThat(calls).allMatch(c -> c.isDone() && !c.isCompletedExceptionally());
    assertThat(client.isConnected()).isFalse();
    refused(ErrorCode.UNAVAILABLE, () -> shop.counter("graceful").increment())
        .hasMessageContaining("this client is closed");
    try (OsierClient other = cluster.clientOf("eu")) {
      assertThat(other.session().keyspace("shop").counter("graceful").get()).isEqualTo(2_000);
    }
  }

  @Test
  void gracefulClose_endsCallsThatTakeTooLong() {
    OsierClient client =
        OsierClient.builder().endpoint("nobody", "127.0.0.1:1").timeout(LONG).build();
    CompletableFuture<Void> call = client.session().keyspace("shop").counter("x").incrementAsync(1);
    assertThat(client.close(Duration.ofMillis(20))).isFalse();
    assertThatThrownBy(call::join).hasCauseInstanceOf(OsierException.class);
  }

  @Test
  void gracefulClose_returnsWhenWhoeverAskedHasBeenTold() throws InterruptedException {
    OsierClient client =
        OsierClient.builder()
            .endpoint("nobody", "127.0.0.1:1")
            .timeout(Duration.ofSeconds(1))
            .build();
    CountDownLatch returned = new CountDownLatch(1);
    AtomicBoolean isEarly = new AtomicBoolean();
    CompletableFuture<Void> told =
        client
            .session()
            .keyspace("shop")
            .counter("x")
            .incrementAsync(1)
            .handle(
                (made, error) -> {
                  try {
                    isEarly.set(returned.await(300, TimeUnit.MILLISECONDS));
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  return null;
                });
    assertThat(client.close(LONG)).isTrue();
    returned.countDown();
    told.join();
    assertThat(isEarly).isFalse();
  }

  // ---------------------------------------------------------------- observers

  private static ObservationRegistry registry(ConcurrentLinkedQueue<Observation.Context> stopped) {
    ObservationRegistry registry = ObservationRegistry.create();
    registry
        .observationConfig()
        .observationHandler(
            new ObservationHandler<>() {
              @Override
              public void onStop(Observation.Context context) {
                stopped.add(context);
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return true;
              }
            });
    return registry;
  }

  private static Map<String, String> values(Observation.Context context) {
    return context.getLowCardinalityKeyValues().stream()
        .collect(Collectors.toMap(v -> v.getKey(), v -> v.getValue()));
  }

  @Test
  void eachCall_isAnObservation_belowTheCurrentOne() {
    ConcurrentLinkedQueue<Observation.Context> stopped = new ConcurrentLinkedQueue<>();
    ObservationRegistry registry = registry(stopped);
    try (OsierClient client =
        cluster.client("eu", PatientClients.builder().observer(new MicrometerObserver(registry)))) {
      Keyspace shop = client.session().keyspace("shop");
      Observation around = Observation.start("request", registry);
      around.scoped(() -> shop.counter("observed").increment());
      around.stop();
      Observation.Context update = stopped.poll();
      assertThat(update.getName()).isEqualTo(MicrometerObserver.NAME);
      assertThat(update.getParentObservation()).isSameAs(around);
      assertThat(values(update))
          .isEqualTo(
              Map.of(
                  "osier.keyspace", "shop",
                  "osier.kind", "update",
                  "osier.datacenter", "eu",
                  "osier.outcome", "done",
                  "osier.error", "none"));
      assertThat(stopped.poll().getName()).isEqualTo("request");
      assertThatThrownBy(() -> shop.register("observed").get()).isInstanceOf(OsierException.class);
      Observation.Context failed = stopped.poll();
      assertThat(values(failed))
          .containsEntry("osier.kind", "read")
          .containsEntry("osier.outcome", "failed")
          .containsEntry("osier.error", "WRONG_TYPE");
      assertThat(failed.getError()).isInstanceOf(OsierException.class);
      assertThat(stopped).isEmpty();
    }
  }

  @Test
  void observersThatThrow_harmNoCall() {
    ClientObserver atOnce =
        (keyspace, update) -> {
          throw new IllegalStateException("begins");
        };
    ClientObserver later =
        (keyspace, update) ->
            (datacenter, error) -> {
              throw new IllegalStateException("ended");
            };
    for (ClientObserver observer : List.of(atOnce, later)) {
      try (OsierClient client = cluster.client("eu", PatientClients.builder().observer(observer))) {
        client.session().keyspace("shop").counter("thrown").increment();
      }
    }
  }
}
