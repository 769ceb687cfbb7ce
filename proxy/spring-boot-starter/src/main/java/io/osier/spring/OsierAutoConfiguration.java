package io.osier.spring;

import io.osier.proxy.ClientMetrics;
import io.osier.proxy.ClientObserver;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.TlsOptions;
import io.osier.proxy.values.Values;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Makes the client from the settings. */
@AutoConfiguration
@EnableConfigurationProperties(OsierProperties.class)
public class OsierAutoConfiguration {
  /** The address at which {@code osier server} listens by default. */
  private static final Map<String, String> LOCAL = Map.of("local", "localhost:7400");

  @Bean
  @ConditionalOnMissingBean
  OsierConnectionDetails osierConnectionDetails(OsierProperties properties) {
    return () -> properties.endpoints().isEmpty() ? LOCAL : properties.endpoints();
  }

  /**
   * Makes the client, which connects while the application starts; the health tells when it has.
   */
  @Bean
  @ConditionalOnMissingBean
  OsierClient osierClient(
      OsierProperties properties,
      OsierConnectionDetails details,
      Environment environment,
      ObjectProvider<Values> values,
      ObjectProvider<ClientMetrics> metrics,
      ObjectProvider<ClientObserver> observer,
      ObjectProvider<OsierClientCustomizer> customizers) {
    OsierClient.Builder builder =
        OsierClient.builder()
            .timeout(properties.timeout())
            .connectTimeout(properties.connectTimeout());
    details.endpoints().forEach(builder::endpoint);
    String name =
        properties.name() == null
            ? environment.getProperty("spring.application.name")
            : properties.name();
    if (name != null && !name.isEmpty()) {
      builder.name(name);
    }
    if (properties.prefer() != null) {
      builder.prefer(properties.prefer());
    }
    user(builder, properties.user(), properties.password());
    tls(builder, properties.tls());
    values.ifAvailable(builder::values);
    metrics.ifAvailable(builder::metrics);
    observer.ifAvailable(builder::observer);
    customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
    return builder.build();
  }

  /**
   * Makes the keyspace, with one session for the whole application: each request sees all that this
   * process has written before. For guarantees that follow a user from process to process there is
   * {@link OsierClient#session(io.osier.proxy.SessionOptions)}.
   */
  @Bean
  @ConditionalOnMissingBean
  Keyspace osierKeyspace(OsierClient client, OsierProperties properties) {
    return client.session().keyspace(properties.keyspace());
  }

  private static void user(
      OsierClient.Builder builder, @Nullable String user, @Nullable String password) {
    if (user != null && password != null) {
      builder.user(user, password.toCharArray());
    } else if (user != null || password != null) {
      throw new IllegalArgumentException(
          "osier.user and osier.password need each other, and only osier."
              + (user != null ? "user" : "password")
              + " is set");
    }
  }

  private static void tls(OsierClient.Builder builder, OsierProperties.Tls tls) {
    TlsOptions options = TlsOptions.DEFAULT;
    if (tls.authorities() != null) {
      options = options.authorities(tls.authorities());
    }
    if (tls.certificate() != null && tls.key() != null) {
      options = options.certificate(tls.certificate(), tls.key());
    } else if (tls.certificate() != null || tls.key() != null) {
      throw new IllegalArgumentException(
          "osier.tls.certificate and osier.tls.key need each other, and only osier.tls."
              + (tls.certificate() != null ? "certificate" : "key")
              + " is set");
    }
    if (tls.anyHost()) {
      options = options.anyHost();
    }
    if (tls.enabled() || !options.equals(TlsOptions.DEFAULT)) {
      builder.tls(options);
    }
  }
}
