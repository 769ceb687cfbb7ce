package io.osier.spring;

import io.osier.core.Value;
import io.osier.proxy.Keyspace;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.Scan;
import io.osier.proxy.TypedRegister;
import io.osier.proxy.values.ValueCodec;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.support.AbstractValueAdaptingCache;
import org.springframework.cache.support.NullValue;

/**
 * A cache that stores each key's value in a register, in which the last assignment wins. A key is
 * stored as its text, so 1 and "1" are one key, and so are ("a, b", "c") and ("a", "b, c") if
 * Spring makes the key of several arguments. Null is a value, too. Calls fail with {@link
 * io.osier.core.OsierException} if no datacenter answers; an application that prefers to go on
 * without its cache sets Spring's {@code LoggingCacheErrorHandler}. Thread-safe.
 */
final class OsierCache extends AbstractValueAdaptingCache {
  /** A value that is being loaded, and the thread that loads it. */
  private record Loading(Thread by, CompletableFuture<@Nullable Object> value) {}

  /** Adds an encoding of null, which other codecs do not have. */
  private record NullableCodec(ValueCodec<Object> codec) implements ValueCodec<Object> {
    private static final Value NULL = Value.of(new byte[0]);

    @Override
    public Value encode(Object object) {
      return object instanceof NullValue ? NULL : codec.encode(object);
    }

    @Override
    public Object decode(Value value) {
      return value.equals(NULL) ? NullValue.INSTANCE : codec.decode(value);
    }
  }

  private final String name;
  private final Keyspace keyspace;
  private final ObjectSpace written;
  private final String prefix;
  private final ValueCodec<Object> codec;
  private final ConcurrentMap<String, Loading> loading = new ConcurrentHashMap<>();

  OsierCache(
      String name,
      Keyspace keyspace,
      String prefix,
      ValueCodec<Object> codec,
      @Nullable Duration timeToLive) {
    super(true);
    this.name = name;
    this.keyspace = keyspace;
    this.written = timeToLive == null ? keyspace : keyspace.expiring(timeToLive);
    this.prefix = prefix;
    this.codec = new NullableCodec(codec);
  }

  @Override
  public String getName() {
    return name;
  }

  /** Returns the keyspace. */
  @Override
  public Object getNativeCache() {
    return keyspace;
  }

  private String at(Object key) {
    if (!(key instanceof CharSequence) && hasNoText(key.getClass())) {
      throw new IllegalArgumentException(
          ("a key of the cache '%s' is of %s, whose text does not tell one from another:"
                  + " give it a toString, or the annotation a key")
              .formatted(name, key.getClass().getTypeName()));
    }
    return prefix + key;
  }

  private static boolean hasNoText(Class<?> type) {
    try {
      return type.getMethod("toString").getDeclaringClass() == Object.class;
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e); // every object has one
    }
  }

  private TypedRegister<Object> register(ObjectSpace space, Object key) {
    return space.register(at(key)).as(codec);
  }

  @Override
  protected @Nullable Object lookup(Object key) {
    return register(keyspace, key).get().orElse(null);
  }

  @Override
  public void put(Object key, @Nullable Object value) {
    register(written, key).assign(toStoreValue(value));
  }

  @Override
  public @Nullable ValueWrapper putIfAbsent(Object key, @Nullable Object value) {
    ValueWrapper present = null;
    // What is there may expire before it is read.
    while (present == null && !register(written, key).assignIfAbsent(toStoreValue(value))) {
      present = get(key);
    }
    return present;
  }

  @Override
  public void evict(Object key) {
    evictIfPresent(key);
  }

  @Override
  public boolean evictIfPresent(Object key) {
    return keyspace.delete(at(key));
  }

  /** Deletes the keys one by one; keys that are put meanwhile may stay. */
  @Override
  public void clear() {
    invalidate();
  }

  @Override
  public boolean invalidate() {
    boolean any = false;
    Optional<Scan> rest = Optional.of(Scan.prefix(prefix).keysOnly());
    while (rest.isPresent()) {
      Scan scan = rest.get();
      Keyspace.Page page = keyspace.page(scan);
      any |= !page.rows().isEmpty();
      join(
          CompletableFuture.allOf(
              page.rows().stream()
                  .map(row -> keyspace.deleteAsync(row.key().toString()))
                  .toArray(CompletableFuture<?>[]::new)));
      rest = page.next().map(scan::from);
    }
    return any;
  }

  /**
   * As {@link org.springframework.cache.Cache#get(Object, Callable)}. One thread of this process
   * loads the value and the others wait for it; other processes may load it at the same time.
   */
  @Override
  @SuppressWarnings("unchecked") // as the caller says
  public <T> @Nullable T get(Object key, Callable<T> loader) {
    ValueWrapper found = get(key);
    if (found != null) {
      return (T) found.get();
    }
    Loading mine = new Loading(Thread.currentThread(), new CompletableFuture<>());
    Loading first = loading.putIfAbsent(at(key), mine);
    if (first != null && first.by() != mine.by()) {
      return (T) awaited(key, loader, first);
    }
    try { // a loader that comes back to its own key loads again: it cannot wait for itself
      found = get(key); // another thread may have loaded it since this one looked
      T value = found == null ? loaded(key, loader) : (T) found.get();
      mine.value().complete(value);
      return value;
    } catch (RuntimeException | Error e) {
      mine.value().completeExceptionally(e);
      throw e;
    } finally {
      loading.remove(at(key), mine);
    }
  }

  private <T> T loaded(Object key, Callable<T> loader) {
    T value;
    try {
      value = loader.call();
    } catch (Exception e) {
      throw new ValueRetrievalException(key, loader, e);
    }
    put(key, value);
    return value;
  }

  private static @Nullable Object awaited(Object key, Callable<?> loader, Loading other) {
    try {
      return join(other.value());
    } catch (ValueRetrievalException e) {
      throw new ValueRetrievalException(key, loader, e.getCause());
    }
  }

  @Override
  public CompletableFuture<@Nullable Object> retrieve(Object key) {
    return apart(register(keyspace, key).getAsync())
        .thenApply(found -> found.map(this::toValueWrapper).orElse(null));
  }

  @Override
  @SuppressWarnings("unchecked") // as the caller says
  public <T> CompletableFuture<T> retrieve(Object key, Supplier<CompletableFuture<T>> loader) {
    return apart(register(keyspace, key).getAsync())
        .thenCompose(
            found ->
                found.isPresent()
                    ? CompletableFuture.completedFuture((T) fromStoreValue(found.get()))
                    : loader.get().thenCompose(value -> stored(key, value)));
  }

  /**
   * Returns a future with the same outcome that a thread of its own completes: Spring puts values
   * into the cache, and waits for that, in the thread that completes the future, and callbacks of
   * the client must not wait.
   */
  private static <T> CompletableFuture<T> apart(CompletableFuture<T> answer) {
    return answer.whenCompleteAsync((found, error) -> {}, Thread::startVirtualThread);
  }

  private <T> CompletableFuture<T> stored(Object key, T value) {
    return register(written, key).assignAsync(toStoreValue(value)).thenApply(done -> value);
  }

  private static <T extends @Nullable Object> T join(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
