package io.osier.bench.sample;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.proxy.FieldType;
import io.osier.proxy.Keyspace;
import io.osier.proxy.RecordMap;
import io.osier.proxy.Scan;
import io.osier.proxy.Transaction;
import io.osier.proxy.values.KryoValues;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;

/** Changes a cart at two datacenters at once, and sells a stock that is never oversold. */
@Command(
    name = "cart",
    mixinStandardHelpOptions = true,
    description = "A cart on two devices, and checkouts that sell no more than there is.")
final class CartSample implements Callable<Integer> {
  record Article(String name, long cents) {}

  /** A cart. Its fields are merged one by one, so changes of another device are kept. */
  record Cart(String owner, Set<Article> articles, @FieldType(CrdtType.PN_COUNTER) long changes) {}

  private static final Article BOOK = new Article("book", 1_990);
  private static final Article PEN = new Article("pen", 250);
  private static final Article INK = new Article("ink", 790);
  private static final int PIECES = 10;
  private static final int CUSTOMERS = 30;

  @Override
  public Integer call() {
    KryoValues values = KryoValues.builder().register(1, Article.class).build();
    String keyspaces = "shop { sla = 200ms }\nstock { sla = 200ms, consistency = causal }";
    try (TwoDatacenters dcs = new TwoDatacenters(keyspaces, values)) {
      twoDevices(dcs);
      return sellOut(dcs) == PIECES ? 0 : 1;
    }
  }

  private static void twoDevices(TwoDatacenters dcs) {
    RecordMap<Cart> laptop = dcs.eu().keyspace("shop").map("cart:ada", Cart.class);
    RecordMap<Cart> phone = dcs.us().keyspace("shop").map("cart:ada", Cart.class);

    System.out.println("Ada's laptop, at eu, puts a book and a pen into her cart");
    laptop.update(cart -> new Cart("ada", Set.of(BOOK, PEN), cart.changes() + 1));
    TwoDatacenters.until("her phone, at us, sees them", () -> phone.get().isPresent());

    System.out.println("At the same time the laptop adds ink, and the phone removes the pen");
    laptop.update(cart -> changed(cart, INK, true));
    phone.update(cart -> changed(cart, PEN, false));
    Set<Article> expected = Set.of(BOOK, INK);
    TwoDatacenters.until(
        "eu has both changes: " + expected,
        () -> laptop.get().orElseThrow().articles().equals(expected));
    TwoDatacenters.until(
        "us has both changes, and has counted 3",
        () -> {
          Cart cart = phone.get().orElseThrow();
          return cart.articles().equals(expected) && cart.changes() == 3;
        });
  }

  private static Cart changed(Cart cart, Article article, boolean added) {
    Set<Article> articles = new HashSet<>(cart.articles());
    if (added) {
      articles.add(article);
    } else {
      articles.remove(article);
    }
    return new Cart(cart.owner(), articles, cart.changes() + 1);
  }

  /** Each datacenter sells by the rights it has, without asking the other one for each piece. */
  private static int sellOut(TwoDatacenters dcs) {
    Keyspace eu = dcs.eu().keyspace("stock");
    eu.boundedCounter("book").create(0, Long.MAX_VALUE);
    eu.boundedCounter("book").increment(PIECES);
    TwoDatacenters.until(
        PIECES + " books are in stock at us, too",
        () -> dcs.us().keyspace("stock").boundedCounter("book").get() == PIECES);

    System.out.println(CUSTOMERS + " customers buy at once, half of them at each datacenter");
    AtomicInteger sold = new AtomicInteger();
    List<CompletableFuture<?>> customers = new ArrayList<>();
    for (int i = 0; i < CUSTOMERS; i++) {
      Keyspace stock = (i % 2 == 0 ? dcs.eu() : dcs.us()).keyspace("stock");
      String order = "order:" + i;
      customers.add(
          CompletableFuture.runAsync(
              () -> {
                if (buys(stock, order)) {
                  sold.incrementAndGet();
                }
              }));
    }
    customers.forEach(CompletableFuture::join);
    System.out.println("  sold: " + sold + " of " + PIECES);
    for (Keyspace stock : List.of(dcs.eu().keyspace("stock"), dcs.us().keyspace("stock"))) {
      TwoDatacenters.until(
          "none is left, and there are " + PIECES + " orders",
          () -> stock.boundedCounter("book").get() == 0 && orders(stock) == PIECES);
    }
    return sold.get();
  }

  /** Buys a piece and writes the order, or does neither. */
  private static boolean buys(Keyspace stock, String order) {
    while (true) {
      try (Transaction tx = stock.begin()) {
        if (tx.boundedCounter("book").get() == 0) {
          return false;
        }
        tx.boundedCounter("book").decrement(1);
        tx.register(order).assign("book");
        tx.commit();
        return true;
      } catch (OsierException e) {
        if (e.code() != ErrorCode.NOT_ENOUGH_RIGHTS) {
          throw e;
        }
        // The other datacenter has the remaining rights, and is being asked for them.
      }
    }
  }

  private static long orders(Keyspace stock) {
    return stock.count(Scan.prefix("order:"));
  }
}
