package io.osier.spring;

import io.osier.proxy.Keyspace;
import io.osier.proxy.values.ValueCodec;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;

/**
 * Provides caches in a keyspace, which all processes share, at all datacenters that hold the
 * keyspace. Makes a cache when it is first asked for. Thread-safe.
 */
public final class OsierCacheManager implements CacheManager {
  private final Keyspace keyspace;
  private final String prefix;
  private final ValueCodec<Object> codec;
  private final Function<String, @Nullable Duration> timeToLive;
  private final ConcurrentMap<String, OsierCache> caches = new ConcurrentHashMap<>();

  /**
   * Makes a manager of caches in a keyspace.
   *
   * @param prefix the beginning of the keys of all caches
   * @param codec the encoding of objects
   * @param timeToLive returns how long a value stays in a cache, by the cache's name; null for ever
   */
  public OsierCacheManager(
      Keyspace keyspace,
      String prefix,
      ValueCodec<Object> codec,
      Function<String, @Nullable Duration> timeToLive) {
    this.keyspace = keyspace;
    this.prefix = prefix;
    this.codec = codec;
    this.timeToLive = timeToLive;
  }

  @Override
  public Cache getCache(String name) {
    return caches.computeIfAbsent(
        name, n -> new OsierCache(n, keyspace, prefix + n + ":", codec, timeToLive.apply(n)));
  }

  /** Returns the names of the caches that were asked for so far. */
  @Override
  public Collection<String> getCacheNames() {
    return List.copyOf(caches.keySet());
  }
}
