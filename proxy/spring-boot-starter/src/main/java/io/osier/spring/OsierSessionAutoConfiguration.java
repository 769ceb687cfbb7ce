package io.osier.spring;

import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.values.ValueCodec;
import org.springframework.beans.factory.BeanClassLoaderAware;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.session.SessionRepository;
import org.springframework.session.config.annotation.web.http.SpringHttpSessionConfiguration;

/**
 * The sessions of a servlet application are in Osier, if {@code osier.session.enabled} is set and
 * Spring Session is there.
 */
@AutoConfiguration(
    after = OsierAutoConfiguration.class,
    beforeName = "org.springframework.boot.session.autoconfigure.SessionAutoConfiguration")
@ConditionalOnClass(SessionRepository.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnBean(OsierClient.class)
@ConditionalOnMissingBean(SessionRepository.class)
@ConditionalOnProperty(name = "osier.session.enabled", havingValue = "true")
@Import(SpringHttpSessionConfiguration.class)
public class OsierSessionAutoConfiguration implements BeanClassLoaderAware {
  private ClassLoader classes = OsierSessionAutoConfiguration.class.getClassLoader();

  @Override
  public void setBeanClassLoader(ClassLoader classLoader) {
    classes = classLoader;
  }

  /** A bean {@code ValueCodec<Object>} says how attributes are kept, if there is one. */
  @Bean
  OsierSessionRepository sessionRepository(
      OsierClient client, OsierProperties properties, ObjectProvider<ValueCodec<Object>> codec) {
    OsierProperties.Session session = properties.session();
    String name = session.keyspace() == null ? properties.keyspace() : session.keyspace();
    Keyspace keyspace = client.session().keyspace(name);
    return new OsierSessionRepository(
        keyspace,
        session.prefix(),
        session.timeout(),
        codec.getIfAvailable(() -> new SerializedValues(classes)));
  }
}
