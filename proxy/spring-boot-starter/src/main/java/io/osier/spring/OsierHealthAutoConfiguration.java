package io.osier.spring;

import io.osier.proxy.OsierClient;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** The client in the application's health, as {@code osier}. */
@AutoConfiguration(after = OsierAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(OsierClient.class)
@ConditionalOnEnabledHealthIndicator("osier")
public class OsierHealthAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean(name = "osierHealthIndicator")
  OsierHealthIndicator osierHealthIndicator(OsierClient client) {
    return new OsierHealthIndicator(client);
  }
}
