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
import org.springframework.cache.CacheManager;
import org.springframework.cache.interceptor.CacheAspectSupport;
import org.springframework.context.annotation.Bean;

/**
 * What {@code @Cacheable} keeps is in Osier, if the application enables caching, has no cache
 * manager of its own and names no {@code spring.cache.type}.
 */
@AutoConfiguration(
    after = OsierAutoConfiguration.class,
    beforeName = "org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration")
@ConditionalOnClass({CacheManager.class, CacheAspectSupport.class})
@ConditionalOnBean({OsierClient.class, CacheAspectSupport.class})
@ConditionalOnMissingBean(value = CacheManager.class, name = "cacheResolver")
@ConditionalOnProperty(name = "osier.cache.enabled", havingValue = "true", matchIfMissing = true)
@ConditionalOnProperty(name = "spring.cache.type", havingValue = "osier", matchIfMissing = true)
public class OsierCacheAutoConfiguration implements BeanClassLoaderAware {
  private ClassLoader classes = OsierCacheAutoConfiguration.class.getClassLoader();

  @Override
  public void setBeanClassLoader(ClassLoader classLoader) {
    classes = classLoader;
  }

  /** A bean {@code ValueCodec<Object>} says how objects are kept, if there is one. */
  @Bean
  OsierCacheManager cacheManager(
      OsierClient client, OsierProperties properties, ObjectProvider<ValueCodec<Object>> codec) {
    OsierProperties.Cache cache = properties.cache();
    String name = cache.keyspace() == null ? properties.keyspace() : cache.keyspace();
    Keyspace keyspace = client.session().keyspace(name);
    return new OsierCacheManager(
        keyspace,
        cache.prefix(),
        codec.getIfAvailable(() -> new SerializedValues(classes)),
        cacheName -> {
          var own = cache.timeToLives().get(cacheName);
          return own == null ? cache.timeToLive() : own;
        });
  }
}
