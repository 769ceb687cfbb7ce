package io.osier.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.InvalidRequestException;
import io.osier.core.Value;
import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.Keyspace;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * An application that keeps what it looked up: its cache is in a datacenter. It is started as by
 * its main method: Spring's own extension for tests needs a newer JUnit than there is here.
 */
@Timeout(120)
final class CacheApplicationTest {
  private static final EmbeddedDatacenter EU = OneDatacenter.start();

  /** What an application has. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  @EnableCaching
  static class Application {
    @Bean
    Shop shop() {
      return new Shop();
    }
  }

  /** What it looks up. */
  record Price(String article, BigDecimal euros) implements Serializable {}

  /** Where it does. */
  static class Shop {
    private final AtomicInteger asked = new AtomicInteger();

    AtomicInteger asked() {
      return asked;
    }

    @Cacheable("prices")
    public @Nullable Price price(String article) {
      asked.incrementAndGet();
      return article.isEmpty() ? null : new Price(article, new BigDecimal("9.99"));
    }

    @CacheEvict("prices")
    public void priceChanged(String article) {}

    @Cacheable(value = "stock", sync = true)
    public long stock(String article, int house) {
      return asked.incrementAndGet();
    }

    @Cacheable("later")
    public CompletableFuture<String> later(String article) {
      return CompletableFuture.completedFuture(article + asked.incrementAndGet());
    }
  }

  private static final ConfigurableApplicationContext APP =
      new SpringApplicationBuilder(Application.class)
          .web(WebApplicationType.NONE)
          .bannerMode(Banner.Mode.OFF)
          .logStartupInfo(false)
          .run(
              "--" + OneDatacenter.endpoint(EU),
              "--osier.keyspace=shop",
              "--osier.cache.time-to-live=1h",
              "--osier.cache.time-to-lives.stock=2m");

  private final Shop shop = APP.getBean(Shop.class);
  private final CacheManager caches = APP.getBean(CacheManager.class);
  private final Keyspace elsewhere = EU.session().keyspace("shop");

  @AfterAll
  static void stop() {
    APP.close();
    EU.close();
  }

  @BeforeEach
  void empty() {
    for (String name : new String[] {"prices", "stock", "later", "direct"}) {
      cache(name).clear();
    }
    shop.asked().set(0);
  }

  private Cache cache(String name) {
    Cache cache = caches.getCache(name);
    assertThat(cache).isNotNull();
    return cache;
  }

  @Test
  void secondCall_isAnsweredFromTheCache_untilItIsEvicted() {
    Price first = shop.price("book");
    assertThat(shop.price("book")).isEqualTo(first);
    assertThat(shop.asked()).hasValue(1);
    shop.priceChanged("book");
    assertThat(shop.price("book")).isEqualTo(first);
    assertThat(shop.asked()).hasValue(2);
  }

  @Test
  void null_isKept() {
    assertThat(shop.price("")).isNull();
    assertThat(shop.price("")).isNull();
    assertThat(shop.asked()).hasValue(1);
  }

  @Test
  void whatIsKept_liesInTheKeyspace_withItsTimeToLive() {
    shop.price("book");
    shop.stock("book", 3);
    String price = "cache:prices:book";
    String stock = "cache:stock:SimpleKey [book, 3]";
    assertThat(elsewhere.timeToLive(price).orElseThrow())
        .isBetween(Duration.ofMinutes(55), Duration.ofHours(1));
    assertThat(elsewhere.timeToLive(stock).orElseThrow())
        .isBetween(Duration.ofSeconds(1), Duration.ofMinutes(2));
    assertThat(elsewhere.register(stock).get()).contains(Value.of(2));
    elsewhere.expireAfter(price, Duration.ZERO);
    shop.price("book");
    assertThat(shop.asked()).as("it had expired").hasValue(3);
  }

  @Test
  void futures_areKept_whenTheyAreDone() {
    assertThat(shop.later("book").join()).isEqualTo("book1");
    assertThat(shop.later("book").join()).isEqualTo("book1");
    assertThat(elsewhere.register("cache:later:book").get()).contains(Value.of("book1"));
  }

  @Test
  void clear_removesAllOfThisCache_andNothingElse() {
    Cache direct = cache("direct");
    IntStream.range(0, 1_200).forEach(i -> direct.put(i, i));
    shop.price("book");
    assertThat(direct.get(1_199, Integer.class)).isEqualTo(1_199);
    assertThat(direct.invalidate()).isTrue();
    assertThat(direct.get(0)).isNull();
    assertThat(direct.get(1_199)).isNull();
    assertThat(direct.invalidate()).isFalse();
    assertThat(elsewhere.exists("cache:prices:book")).isTrue();
  }

  @Test
  void putIfAbsent_tellsWhatIsThere() {
    Cache direct = cache("direct");
    assertThat(direct.putIfAbsent("k", "a")).isNull();
    assertThat(Optional.ofNullable(direct.putIfAbsent("k", "b")).map(Cache.ValueWrapper::get))
        .contains("a");
    assertThat(direct.evictIfPresent("k")).isTrue();
    assertThat(direct.evictIfPresent("k")).isFalse();
  }

  /** What two threads get of which the second asks while the first one loads. */
  private static List<CompletableFuture<Object>> together(
      Cache cache, String key, Callable<Object> loader) throws InterruptedException {
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    CompletableFuture<Object> first =
        CompletableFuture.supplyAsync(
            () ->
                cache.get(
                    key,
                    () -> {
                      loading.countDown();
                      goOn.await();
                      return loader.call();
                    }));
    loading.await();
    CompletableFuture<Object> second = new CompletableFuture<>();
    Thread waits =
        Thread.ofPlatform()
            .start(() -> second.completeAsync(() -> cache.get(key, loader), Runnable::run));
    while (!second.isDone() && !isIn(waits, "awaited")) {
      Thread.onSpinWait();
    }
    goOn.countDown();
    return List.of(first, second);
  }

  @Test
  void twoThreads_loadOnce() throws Exception {
    AtomicInteger loads = new AtomicInteger();
    for (var got : together(cache("direct"), "slow", () -> "loaded" + loads.incrementAndGet())) {
      assertThat(got.join()).isEqualTo("loaded1");
    }
  }

  /** What an error handler of Spring's sees of the cache must not look like the loader's. */
  @Test
  void whatCannotBePut_isTheCachesError_toWhoeverWaited() throws Exception {
    for (var got : together(cache("direct"), "slow", Object::new)) {
      assertThatThrownBy(got::join).hasCauseInstanceOf(InvalidRequestException.class);
    }
  }

  @Test
  void loaderThatFails_hasFailed_forWhoeverWaited() throws Exception {
    Callable<Object> failing =
        () -> {
          throw new IllegalStateException("no price");
        };
    for (var got : together(cache("direct"), "slow", failing)) {
      assertThatThrownBy(got::join)
          .hasCauseInstanceOf(Cache.ValueRetrievalException.class)
          .hasRootCauseMessage("no price");
    }
  }

  /** Another thread has loaded it between this one's look and its loading. */
  @Test
  void whatWasLoadedMeanwhile_isNotLoadedAgain() {
    Cache direct = cache("direct");
    AtomicInteger asked = new AtomicInteger();
    Object key =
        new Object() {
          @Override
          public String toString() {
            if (asked.incrementAndGet() == 2) {
              direct.get("k", () -> "first");
            }
            return "k";
          }
        };
    assertThat(direct.get(key, () -> "second")).isEqualTo("first");
  }

  private static boolean isIn(Thread thread, String method) {
    return Arrays.stream(thread.getStackTrace()).anyMatch(e -> e.getMethodName().equals(method));
  }

  @Test
  void loader_thatFails_orComesBackToItsKey() {
    Cache direct = cache("direct");
    assertThatThrownBy(
            () ->
                direct.get(
                    "k",
                    () -> {
                      throw new IllegalStateException("no price");
                    }))
        .isInstanceOf(Cache.ValueRetrievalException.class)
        .hasCauseInstanceOf(IllegalStateException.class);
    assertThat(direct.get("k", () -> direct.get("k", () -> "inner") + "+")).isEqualTo("inner+");
    assertThat(direct.get("k", String.class)).isEqualTo("inner+");
  }

  @Test
  void whatCannotBeKept_isNamed() {
    Cache direct = cache("direct");
    assertThatThrownBy(() -> direct.put("k", new Object()))
        .isExactlyInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("java.lang.Object cannot be serialized");
    assertThatThrownBy(() -> direct.get(new int[] {1}))
        .hasMessageContaining("int[], whose text does not tell one from another");
    elsewhere.register("cache:direct:foreign").assign(Value.of(new byte[] {1, 2, 3}));
    assertThatThrownBy(() -> direct.get("foreign"))
        .hasMessageContaining("3 bytes cannot be deserialized");
  }
}
