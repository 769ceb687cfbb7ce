package io.osier.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.observation.ObservationRegistry;
import io.osier.proxy.ClientMetrics;
import io.osier.proxy.ClientObserver;
import io.osier.proxy.OsierClient;
import io.osier.proxy.observe.MicrometerObserver;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * What the client does, as meters ({@link OsierMeters}) and as observations ({@link
 * MicrometerObserver}): of each call a timer and, with tracing, a span.
 */
@AutoConfiguration(
    before = OsierAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.micrometer.metrics.autoconfigure"
          + ".CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
    })
public class OsierMetricsAutoConfiguration {
  /** Meters. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  @ConditionalOnBean(MeterRegistry.class)
  static class Meters {
    @Bean
    @ConditionalOnMissingBean(ClientMetrics.class)
    OsierMeters osierMeters(MeterRegistry registry) {
      return new OsierMeters(registry);
    }

    /** Bound when there are all beans, so the client can hear of the registry before. */
    @Bean
    MeterBinder osierConnectionMeters(OsierClient client) {
      return registry -> OsierMeters.bindConnections(client, registry);
    }
  }

  /** Observations. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ObservationRegistry.class)
  @ConditionalOnBean(ObservationRegistry.class)
  static class Observations {
    @Bean
    @ConditionalOnMissingBean(ClientObserver.class)
    MicrometerObserver osierObserver(ObservationRegistry registry) {
      return new MicrometerObserver(registry);
    }
  }
}
