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
 * Caches in a keyspace: what one process puts, others find, at all datacenters that hold the
 * keyspace. A cache is made when it is first asked for. Thread-safe.
 */
public final class OsierCacheManager implements CacheManager {
  private final Keyspace keyspace;
  private final String prefix;
  private final ValueCodec<Object> codec;
  private final Function<String, @Nullable Duration> timeToLive;
  private final ConcurrentMap<String, OsierCache> caches = new ConcurrentHashMap<>();

  /**
   * Caches in a keyspace.
   *
   * @param prefix what the keys of all caches begin with
   * @param codec how objects are kept
   * @param timeToLive by a cache's name, how long what is put into it stays; null for ever
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

  /** The caches that were asked for so far. */
  @Override
  public Collection<String> getCacheNames() {
    return List.copyOf(caches.keySet());
  }
}
