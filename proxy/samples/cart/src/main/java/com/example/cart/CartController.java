package com.example.cart;

import io.osier.proxy.Keyspace;
import io.osier.proxy.MapHandle;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * A cart is a map of counters, one for each article. What is put in at two datacenters at the same
 * time adds up, and what is put in while it is taken out elsewhere stays.
 */
@RestController
@RequestMapping("/carts/{user}")
class CartController {
  /** A cart that nobody touches for so long is gone. */
  private static final Duration KEPT = Duration.ofDays(30);

  private final Keyspace keyspace;
  private final Prices prices;

  CartController(Keyspace keyspace, Prices prices) {
    this.keyspace = keyspace;
    this.prices = prices;
  }

  /** What is shown of a cart. */
  record Cart(Map<String, Long> items, long cents) {}

  private MapHandle cart(String user) {
    return keyspace.expiring(KEPT).map("cart:" + user);
  }

  @GetMapping
  Cart get(@PathVariable String user) {
    Map<String, Long> items = cart(user).counters();
    items.values().removeIf(quantity -> quantity <= 0);
    long cents =
        items.entrySet().stream()
            .mapToLong(item -> item.getValue() * prices.cents(item.getKey()))
            .sum();
    return new Cart(items, cents);
  }

  @PostMapping("/{article}")
  Cart put(
      @PathVariable String user,
      @PathVariable String article,
      @RequestParam(defaultValue = "1") long quantity) {
    cart(user).counter(article).increment(quantity);
    return get(user);
  }

  @DeleteMapping("/{article}")
  Cart remove(@PathVariable String user, @PathVariable String article) {
    cart(user).remove(List.of(article));
    return get(user);
  }
}
