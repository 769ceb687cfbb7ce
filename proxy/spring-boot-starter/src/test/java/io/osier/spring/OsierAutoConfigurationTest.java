package io.osier.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TypedRegister;
import io.osier.proxy.values.KryoValues;
import io.osier.proxy.values.Values;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The beans that an application gets, each time with a datacenter that is real. */
final class OsierAutoConfigurationTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private static final EmbeddedDatacenter EU = OneDatacenter.start();

  private final ApplicationContextRunner bare =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  OsierAutoConfiguration.class,
                  OsierHealthAutoConfiguration.class,
                  OsierMetricsAutoConfiguration.class,
                  OsierCacheAutoConfiguration.class));
  private final ApplicationContextRunner app =
      bare.withPropertyValues(OneDatacenter.endpoint(EU), "osier.keyspace=shop");

  @AfterAll
  static void stop() {
    EU.close();
  }

  private AbstractThrowableAssert<?, ? extends Throwable> whyNot(String... settings) {
    Throwable[] why = new Throwable[1];
    app.withPropertyValues(settings).run(context -> why[0] = context.getStartupFailure());
    return assertThat(why[0]).as("the failure to start").isNotNull().rootCause();
  }

  @Test
  void keyspace_isOfTheSettings_andWritesToTheDatacenter() {
    app.run(
        context -> {
          context.getBean(Keyspace.class).counter("likes:1").increment(3);
          assertThat(EU.session().keyspace("shop").counter("likes:1").get()).isEqualTo(3);
          assertThat(context.getBean(OsierClient.class).nearest()).contains("eu");
        });
  }

  @Test
  void withoutSettings_isTheClientOfALocalServer() {
    bare.run(
        context -> {
          assertThat(context).hasNotFailed();
          assertThat(context.getBean(OsierClient.class).status())
              .extracting(OsierClient.Status::address)
              .containsExactly("localhost:7400");
          assertThat(context.getBean(Keyspace.class).name()).isEqualTo("default");
        });
  }

  @Test
  void client_isClosedWithTheApplication() {
    OsierClient[] client = new OsierClient[1];
    app.run(
        context -> {
          client[0] = context.getBean(OsierClient.class);
          client[0].awaitConnected(LONG);
        });
    assertThat(client[0].isConnected()).isFalse();
  }

  @Test
  void ownBeans_takeThePlace() {
    app.withBean(OsierClient.class, EU::client)
        .withBean("mine", Keyspace.class, () -> EU.session().keyspace("default"))
        .run(
            context -> {
              assertThat(context.getBean(OsierClient.class)).isSameAs(EU.client());
              assertThat(context.getBean(Keyspace.class).name()).isEqualTo("default");
            });
  }

  @Test
  void connectionDetails_winOverSettings() {
    bare.withPropertyValues("osier.endpoints.nowhere=127.0.0.1:1")
        .withBean(
            OsierConnectionDetails.class, () -> () -> Map.of("eu", "127.0.0.1:" + EU.clientPort()))
        .run(
            context -> {
              context.getBean(OsierClient.class).awaitConnected(LONG);
              assertThat(context.getBean(OsierClient.class).status())
                  .extracting(OsierClient.Status::dc)
                  .containsExactly("eu");
            });
  }

  @Test
  void customizer_hasTheLastWord() {
    app.withPropertyValues("osier.name=settings")
        .withBean(OsierClientCustomizer.class, () -> builder -> builder.prefer("none"))
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .isInstanceOf(OsierException.class)
                    .hasMessageContaining("prefer(\"none\") names no endpoint"));
  }

  @Test
  void preferred_isOneOfTheEndpoints() {
    whyNot("osier.prefer=mars").hasMessageContaining("prefer(\"mars\") names no endpoint");
    app.withPropertyValues("osier.prefer=eu").run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void halfASetting_isRefused_naming_theOtherHalf() {
    whyNot("osier.user=ada").hasMessageContaining("only osier.user is set");
    whyNot("osier.password=x").hasMessageContaining("only osier.password is set");
    whyNot("osier.tls.key=k.pem").hasMessageContaining("only osier.tls.key is set");
    whyNot("osier.tls.certificate=c.pem").hasMessageContaining("only osier.tls.certificate is set");
  }

  @Test
  void tls_readsItsFiles() {
    whyNot("osier.tls.authorities=/nowhere/ca.pem").hasMessageContaining("/nowhere/ca.pem");
    whyNot("osier.tls.certificate=/nowhere/c.pem", "osier.tls.key=/nowhere/k.pem")
        .hasMessageContaining("/nowhere/");
  }

  /** The datacenter speaks no TLS, so a client that does is not connected. */
  @Test
  void tlsEnabled_isSpoken() {
    app.withPropertyValues("osier.tls.enabled=true", "osier.timeout=1s")
        .run(
            context -> {
              OsierClient client = context.getBean(OsierClient.class);
              await().atMost(LONG).until(() -> client.status().getFirst().trouble().isPresent());
              assertThat(client.isConnected()).isFalse();
            });
  }

  /** What only a codec of the application's own can keep. */
  record Price(String article, long cents) {}

  @Test
  void ownValues_keepTheObjectsOfTypedHandles() {
    app.withBean(Values.class, () -> KryoValues.builder().register(1, Price.class).build())
        .run(
            context -> {
              TypedRegister<Price> price =
                  context.getBean(Keyspace.class).register("price", Price.class);
              price.assign(new Price("book", 999));
              assertThat(price.get()).contains(new Price("book", 999));
            });
  }

  @Test
  void timeouts_areTheClients() {
    whyNot("osier.timeout=0s").hasMessageContaining("must be above 0, not PT0S");
    whyNot("osier.connect-timeout=0s").hasMessageContaining("must be above 0, not PT0S");
  }

  /** The datacenter has no users, so nobody can log in. */
  @Test
  void user_logsIn() {
    app.withPropertyValues("osier.user=ada", "osier.password=secret77")
        .run(
            context ->
                assertThatThrownBy(() -> context.getBean(OsierClient.class).awaitConnected(LONG))
                    .isInstanceOfSatisfying(
                        OsierException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_AUTHENTICATED)));
  }

  @Test
  void password_isNotInTheText() {
    app.withPropertyValues("osier.user=ada", "osier.password=secret77")
        .run(
            context ->
                assertThat(context.getBean(OsierProperties.class).toString())
                    .contains("keyspace=shop")
                    .doesNotContain("secret77"));
  }

  @Test
  void health_isUpWithTheDatacenter_andSaysWhereItIs() {
    app.run(
        context -> {
          context.getBean(OsierClient.class).awaitConnected(LONG);
          Health health = context.getBean(OsierHealthIndicator.class).health();
          assertThat(health.getStatus()).isEqualTo(Status.UP);
          assertThat(health.getDetails()).containsEntry("nearest", "eu");
          assertThat(health.getDetails().get("eu"))
              .asString()
              .contains("address=127.0.0.1:" + EU.clientPort(), "connected=true");
        });
  }

  /** A port that is held and answers nothing. */
  @Test
  void health_isDownWithoutADatacenter_andTheApplicationStarts() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      bare.withPropertyValues("osier.endpoints.us=127.0.0.1:" + silent.getLocalPort())
          .run(
              context -> {
                Health health = context.getBean(OsierHealthIndicator.class).health();
                assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                assertThat(health.getDetails()).doesNotContainKey("nearest").containsKey("us");
              });
    }
  }

  @Test
  void health_canBeSwitchedOff() {
    app.withPropertyValues("management.health.osier.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(OsierHealthIndicator.class));
  }

  @Test
  void meters_tellOfRequests_andOfConnections() {
    app.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class))
        .withBean(SimpleMeterRegistry.class)
        .run(
            context -> {
              Keyspace shop = context.getBean(Keyspace.class);
              IntStream.range(0, 100).forEach(i -> shop.counter("likes:2").increment());
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              assertThat(
                      registry.get("osier.client.requests").tag("datacenter", "eu").timer().count())
                  .as("with the client's own, such as pings")
                  .isGreaterThanOrEqualTo(100);
              assertThat(gauge(registry, "osier.client.connected")).isEqualTo(1);
              assertThat(gauge(registry, "osier.client.requests.active")).isZero();
              await()
                  .atMost(LONG)
                  .until(
                      () ->
                          registry
                                  .get("osier.client.round.trip")
                                  .timeGauge()
                                  .value(TimeUnit.NANOSECONDS)
                              > 0);
            });
  }

  private static double gauge(MeterRegistry registry, String name) {
    return registry.get(name).tag("datacenter", "eu").gauge().value();
  }

  @Test
  void meters_countFailures() {
    app.withBean(SimpleMeterRegistry.class)
        .run(
            context -> {
              Keyspace shop = context.getBean(Keyspace.class);
              shop.counter("typed").increment();
              assertThatThrownBy(() -> shop.set("typed").get()).isInstanceOf(OsierException.class);
              assertThat(
                      context
                          .getBean(MeterRegistry.class)
                          .get("osier.client.failures")
                          .tags("code", "WRONG_TYPE", "datacenter", "eu")
                          .counter()
                          .count())
                  .isEqualTo(1);
            });
  }

  @Test
  void calls_areObserved() {
    app.withBean(SimpleMeterRegistry.class)
        .withBean(ObservationRegistry.class, ObservationRegistry::create)
        .run(
            context -> {
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              context
                  .getBean(ObservationRegistry.class)
                  .observationConfig()
                  .observationHandler(new DefaultMeterObservationHandler(registry));
              context.getBean(Keyspace.class).counter("likes:3").increment();
              assertThat(
                      registry
                          .get("osier.client.call")
                          .tag("osier.keyspace", "shop")
                          .tag("osier.outcome", "done")
                          .timer()
                          .count())
                  .isEqualTo(1);
            });
  }

  /** By their names, as in an application. */
  @ImportAutoConfiguration({
    OsierAutoConfiguration.class,
    OsierHealthAutoConfiguration.class,
    OsierMetricsAutoConfiguration.class,
    OsierCacheAutoConfiguration.class
  })
  static class Imports {}

  /** Without Actuator, and Micrometer there is a client all the same. */
  @Test
  void whatIsOptional_isNotNeeded() {
    new ApplicationContextRunner()
        .withUserConfiguration(Imports.class)
        .withPropertyValues(OneDatacenter.endpoint(EU))
        .withClassLoader(
            new FilteredClassLoader(
                "io.micrometer",
                "org.springframework.boot.health",
                "org.springframework.boot.micrometer"))
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context.getBean(Keyspace.class).counter("nothing").get()).isZero();
              assertThat(context).doesNotHaveBean(OsierHealthIndicator.class);
            });
  }
}
