package io.osier.spring;

import io.osier.testcontainers.OsierContainer;
import java.util.Map;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;

/** Lets a test's {@code @ServiceConnection} on an {@link OsierContainer} say where to connect. */
final class OsierContainerConnectionDetailsFactory
    extends ContainerConnectionDetailsFactory<OsierContainer, OsierConnectionDetails> {
  /** By Spring, which finds it in META-INF/spring.factories. */
  OsierContainerConnectionDetailsFactory() {}

  @Override
  protected OsierConnectionDetails getContainerConnectionDetails(
      ContainerConnectionSource<OsierContainer> source) {
    return new Details(source);
  }

  private static final class Details extends ContainerConnectionDetails<OsierContainer>
      implements OsierConnectionDetails {
    Details(ContainerConnectionSource<OsierContainer> source) {
      super(source);
    }

    @Override
    public Map<String, String> endpoints() {
      OsierContainer container = getContainer();
      return Map.of(container.dc(), container.endpoint());
    }
  }
}
