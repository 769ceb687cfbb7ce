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
import java.util.stream.IntStream;

/** Carts: sets to which their users add now and then, and from which they take something out. */
final class Carts extends Kind {
  /** At each datacenter at a time: with 4,000 operations a second each changes every 5 s. */
  private static final int OPEN = 700;

  /** After so many changes a cart is left as it is, and another one opened. */
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

  private static final class Cart {
    final String key;
    final List<Value> articles = new ArrayList<>();
    int changes;

    /** Whether a change is being made; what is above belongs to it until it has ended. */
    volatile boolean isBusy;

    Cart(String key) {
      this.key = key;
    }
  }

  @Override
  Part part(int number, Keyspace space, SplittableRandom random) {
    return new Shoppers(number, space, random);
  }

  private final class Shoppers implements Part {
    private final int number;
    private final Keyspace space;
    private final SplittableRandom random;
    private final Cart[] open;
    private int carts;

    Shoppers(int number, Keyspace space, SplittableRandom random) {
      this.number = number;
      this.space = space;
      this.random = random;
      open = IntStream.range(0, OPEN).mapToObj(i -> cart()).toArray(Cart[]::new);
    }

    private Cart cart() {
      return new Cart("cart:" + number + ":" + carts++);
    }

    @Override
    public void call(Calls calls) {
      int at = random.nextInt(OPEN);
      while (open[at].isBusy) {
        at = random.nextInt(OPEN);
      }
      if (open[at].changes == CHANGES) {
        open[at] = cart();
      }
      Cart cart = open[at];
      cart.isBusy = true;
      cart.changes++;
      if (cart.articles.size() > 2 && random.nextInt(4) == 0) {
        takeOut(cart, cart.articles.remove(random.nextInt(cart.articles.size())), calls);
      } else {
        // The number makes it one that was never in this cart.
        add(cart, Value.of(random.nextInt(ARTICLES) + "-" + cart.changes), calls);
      }
    }

    private void add(Cart cart, Value article, Calls calls) {
      SetHandle set = space.set(cart.key);
      calls.update(
          set.addAsync(List.of(article)),
          () -> {
            members.added(cart.key, article);
            cart.articles.add(article);
            cart.isBusy = false;
          },
          mayBeDone -> failed(cart, article, mayBeDone));
    }

    private void takeOut(Cart cart, Value article, Calls calls) {
      calls.update(
          space.set(cart.key).removeAsync(List.of(article)),
          () -> {
            members.removed(cart.key, article);
            cart.isBusy = false;
          },
          mayBeDone -> failed(cart, article, mayBeDone));
    }

    /** An article that may be there or not is not touched any more. */
    private void failed(Cart cart, Value article, boolean mayBeDone) {
      if (mayBeDone) {
        members.unknown(cart.key, article);
      }
      cart.isBusy = false;
    }
  }

  @Override
  Audit audit(Map<String, Reading> there, long fromMillis, long toMillis) {
    return members.audit(
        cart -> Members.elements(there, cart), there.keySet(), fromMillis, toMillis);
  }
}
