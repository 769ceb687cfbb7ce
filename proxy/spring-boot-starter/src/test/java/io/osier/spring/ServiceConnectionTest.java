package io.osier.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testcontainers.OsierContainer;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.test.context.TestContextManager;
import org.testcontainers.DockerClientFactory;

/**
 * What an application's {@code @SpringBootTest} gets from a container that it names. Spring's test
 * framework is driven by hand: its extension needs a newer JUnit than there is here. Needs the
 * image that the tests of containers in bench have built, or OSIER_IMAGE.
 */
@Timeout(300)
final class ServiceConnectionTest {
  private static final String IMAGE = System.getenv().getOrDefault("OSIER_IMAGE", "osier:test");

  /** What an application has. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Application {}

  /** What its test has. */
  @SpringBootTest(
      classes = Application.class,
      webEnvironment = SpringBootTest.WebEnvironment.NONE,
      properties = "osier.keyspace=shop")
  static class ApplicationTest {
    @ServiceConnection
    static final OsierContainer OSIER = new OsierContainer(IMAGE, "eu").withKeyspace("shop", "");
  }

  private static Optional<String> obstacle() {
    if (!DockerClientFactory.instance().isDockerAvailable()) {
      return Optional.of("no container engine can be reached");
    }
    boolean there =
        DockerClientFactory.instance().client().listImagesCmd().exec().stream()
            .map(image -> image.getRepoTags())
            .anyMatch(tags -> tags != null && List.of(tags).contains(IMAGE));
    return there ? Optional.empty() : Optional.of("there is no image " + IMAGE);
  }

  @Test
  void applicationsTest_isConnectedToItsContainer() throws Exception {
    Optional<String> obstacle = obstacle();
    if (obstacle.isPresent()) {
      String skipped = "ServiceConnectionTest is skipped: " + obstacle.get();
      if ("required".equals(System.getenv("OSIER_CONTAINERS"))) {
        fail(skipped);
      }
      System.out.println(skipped);
      Assumptions.abort(skipped);
    }
    try (OsierContainer container = ApplicationTest.OSIER) {
      container.start();
      TestContextManager manager = new TestContextManager(ApplicationTest.class);
      manager.beforeTestClass();
      manager.prepareTestInstance(new ApplicationTest());
      try (OsierClient direct = container.client()) {
        var context = manager.getTestContext().getApplicationContext();
        context.getBean(Keyspace.class).counter("likes").increment(2);
        assertThat(direct.session().keyspace("shop").counter("likes").get()).isEqualTo(2);
      } finally {
        manager.getTestContext().markApplicationContextDirty(null);
        manager.afterTestClass();
      }
    }
  }
}
