package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Value;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Session;
import io.osier.testing.Patience;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The first program of a user, against a real datacenter. */
final class ExampleTest {
  @Test
  void aShop() {
    try (TestCluster cluster = new TestCluster("eu")) {
      shop("127.0.0.1:" + cluster.clientPort("eu"));
    }
  }

  private static void shop(String address) {
    try (OsierClient client = PatientClients.builder().endpoint("eu", address).build()) {
      client.awaitConnected(Patience.LIMIT);
      Session ada = client.session();
      Keyspace shop = ada.keyspace("shop");

      shop.set("cart:ada").add("book", "pen");
      shop.set("cart:ada").remove("pen");
      shop.counter("sold:book").increment(1);
      shop.map("user:ada").register("city").assign("London");
      shop.map("user:ada").counter("visits").increment(1);
      shop.flag("seen:ada:42").set(true);

      List<Value> cart = shop.set("cart:ada").get();
      long sold = shop.counter("sold:book").getAsync().join();
      System.out.println("Ada's cart: " + cart + ", books sold: " + sold);

      assertThat(cart).containsExactly(Value.of("book"));
      assertThat(sold).isEqualTo(1);
      assertThat(shop.map("user:ada").get()).hasSize(2);
    }
  }
}
