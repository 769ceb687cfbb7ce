package io.osier.bench.demo;

import io.osier.bench.cluster.Members;
import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.SetHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Shopping carts: sets to which users add articles and from which they sometimes remove one. */
final class Carts extends Kind {
  /** Open carts at each datacenter; at 4,000 operations a second each is changed every 5 s. */
  private static final int OPEN = 700;

  /** After this many changes a cart is left as it is, and another one opened. */
  private static final int CHANGES = 12;

  private static final int ARTICLES = 100_000;

  private final Members members = new Members();

  Carts() {
    super(
        "carts",
        "2s",
        1,
        "nothing: a cart changes every 5 s, so within 2 s there is nothing to join, and each"
            + " update leaves at once");
  }

  private static final class Cart extends Open {
    final String key;

    /** Used only by the cart's present update until that has ended. */
    final List<Value> articles = new ArrayList<>();

    Cart(String key) {
      this.key = key;
    }
  }

  @Override
  Part part(int number, Keyspace space, SplittableRandom random) {
    Open.Pool<Cart> open =
        new Open.Pool<>(OPEN, CHANGES, n -> new Cart("cart:" + number + ":" + n));
    return calls -> {
      Cart cart = open.take(() -> random.nextInt(OPEN));
      SetHandle set = space.set(cart.key);
      if (cart.articles.size() > 2 && random.nextInt(4) == 0) {
        // An article of unknown outcome is not touched again.
        Value article = cart.articles.remove(random.nextInt(cart.articles.size()));
        cart.update(
            calls,
            set.removeAsync(List.of(article)),
            () -> members.removed(cart.key, article),
            () -> members.unknown(cart.key, article));
      } else {
        // With the number it is an article that was never in this cart.
        Value article = Value.of(random.nextInt(ARTICLES) + "-" + cart.updates());
        cart.update(
            calls,
            set.addAsync(List.of(article)),
            () -> {
              members.added(cart.key, article);
              cart.articles.add(article);
            },
            () -> members.unknown(cart.key, article));
      }
    };
  }

  @Override
  Audit audit(Map<String, Reading> there, long fromMillis, long toMillis) {
    return members.audit(
        cart -> Members.elements(there, cart), there.keySet(), fromMillis, toMillis);
  }
}
