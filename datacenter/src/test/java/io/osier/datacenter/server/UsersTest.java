package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.ongres.scram.client.ScramClient;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.BatchException;
import io.osier.proxy.BoundedCounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Scan;
import io.osier.proxy.Transaction;
import io.osier.proxy.Watch;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users may do over real connections, and those who try to get further than they may. */
final class UsersTest extends UsersFixture {
  // ---------------------------------------------------------------- rights

  @Test
  void prefix_isTheBorder_ofReadsWritesAndScans() {
    Datacenter eu =
        start(
            cart("\"read shop cart:\", \"write shop cart:\"")
                + ", "
                + cart(EVERYTHING).replace("cart {", "admin {"),
            "");
    OsierClient all = build(builder(eu).user("admin", PASSWORD.toCharArray()));
    all.awaitConnected(LONG);
    for (String key : List.of("a", "cart", "cart:1", "cart:2", "cart:3", "cart;", "z")) {
      all.session().keyspace("shop").counter(key).increment(1);
    }
    OsierClient cart = asCart(eu);
    Keyspace shop = cart.session().keyspace("shop");
    shop.counter("cart:1").increment(1);
    forbidden("write shop cart", () -> shop.counter("cart").increment(1));
    forbidden("read shop cart;", () -> shop.counter("cart;").get());
    forbidden("read shop", () -> scan(shop, null, 100));
    forbidden("read shop cart", () -> scan(shop, "cart", 100));
    Keyspace.Page page = scan(shop, "cart:", 100);
    assertThat(page.rows().stream().map(r -> r.key().toString()))
        .containsExactly("cart:1", "cart:2", "cart:3");
    assertThat(page.next()).isEmpty();
    Keyspace.Page first = scan(shop, "cart:", 2);
    assertThat(first.rows()).hasSize(2);
    assertThat(first.next()).contains(Key.of("cart:3"));
    assertThat(scan(shop, "cart:3", 1).next()).as("the next one is nobody's business").isEmpty();
    // What there is elsewhere is not told: a keyspace that is missing is a right that is missing.
    forbidden("read bank cart:1", () -> cart.session().keyspace("bank").counter("cart:1").get());
    forbidden("admin *", () -> Inquiry.stat(cart, Optional.empty()));
    forbidden("admin shop", () -> Inquiry.stat(cart, Optional.of("shop")));
    forbidden("admin *", () -> Inquiry.backup(cart));
  }

  @Test
  void scans_needTheRightToReadAllOfTheirRange() {
    Datacenter eu = start(cart("\"read shop cart:\", \"write shop\""), "");
    Keyspace shop = asCart(eu).session().keyspace("shop");
    for (String key : List.of("a", "cart:1", "cart:2", "cart:3", "cart;", "z")) {
      shop.counter(key).increment(1);
    }
    for (String prefix : List.of("", "c", "cart", "cart;", "d")) {
      String missing = prefix.isEmpty() ? "read shop" : "read shop " + prefix;
      forbidden(missing, () -> shop.page(Scan.prefix(prefix)));
      forbidden(missing, () -> shop.count(Scan.prefix(prefix)));
    }
    forbidden("read shop cart;", () -> shop.page(Scan.range(Key.of("cart:2"), Key.of("d"))));
    forbidden("read shop cart;", () -> shop.count(Scan.range(Key.of("cart:2"), Key.of("d"))));
    forbidden("read shop cart;", () -> shop.count(Scan.all().from(Key.of("cart:2"))));
    forbidden("read shop a", () -> shop.page(Scan.range(Key.of("a"), Key.of("cart:2"))));
    assertThat(shop.count(Scan.prefix("cart:"))).isEqualTo(3);
    assertThat(shop.count(Scan.prefix("cart:").from(Key.of("cart:2")))).isEqualTo(2);
    assertThat(shop.count(Scan.prefix("cart:2"))).isEqualTo(1);
    assertThat(shop.scan(Scan.prefix("cart:").pageRows(1)).map(r -> r.key().toString()))
        .containsExactly("cart:1", "cart:2", "cart:3");
    assertThat(shop.scan(Scan.all().from(Key.of("cart:2"))).map(r -> r.key().toString()))
        .as("without an end it ends with the right")
        .containsExactly("cart:2", "cart:3");
    // A place that somebody made up is no right.
    forbidden(
        "read shop z",
        () -> shop.page(Scan.range(Key.of("cart:"), Key.of("zz")).from(Key.of("z"))));
  }

  /** Each key by itself, wherever it lies. */
  @Test
  void batch_isDoneAsFarAsTheRightsGo() {
    Datacenter eu = start(cart("\"read shop cart:\", \"write shop cart:\""), "");
    Keyspace shop = asCart(eu).session().keyspace("shop");
    List<Keyspace.Change> changes = new ArrayList<>();
    List<String> keys = List.of("a", "cart:1", "cart", "cart:2", "z");
    for (String key : keys) {
      changes.add(new Keyspace.Change(key, CrdtType.PN_COUNTER, new Operation.Increment(1)));
    }
    BatchException failed =
        catchThrowableOfType(BatchException.class, () -> shop.updateAll(changes));
    assertThat(failed.code()).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(failed.errors().keySet()).containsExactly(0, 2, 4);
    assertThat(failed.errors().get(2)).hasMessageContaining("write shop cart");
    failed = catchThrowableOfType(BatchException.class, () -> shop.getAll(keys));
    assertThat(failed.errors().keySet()).containsExactly(0, 2, 4);
    assertThat(failed.errors().get(4)).hasMessageContaining("read shop z");
    assertThat(failed.found().keySet()).containsExactly(1, 3);
    assertThat(failed.found().values()).allMatch(Keyspace.Found::exists);
    forbidden("read shop a", () -> shop.exists("a"));
  }

  private static Keyspace.Page scan(Keyspace of, @Nullable String from, int limit) {
    return of.scan(
        Optional.ofNullable(from).map(Key::of), Optional.empty(), new Query.Whole(), limit);
  }

  /** Asynchronous calls, whose errors come as they are. */
  private static final class Inquiry {
    static void stat(OsierClient client, Optional<String> keyspace) {
      join(client.inspectAsync("eu", Request.Topic.STAT, keyspace, 0));
    }

    static void backup(OsierClient client) {
      join(client.backupAsync("eu", Optional.empty(), Patience.LIMIT));
    }

    private static void join(CompletableFuture<String> answer) {
      try {
        answer.join();
      } catch (CompletionException e) {
        throw (RuntimeException) e.getCause();
      }
    }
  }

  @Test
  void rightsTakenAway_duringATransaction_stopItsCommit() {
    Datacenter eu = withCart(EVERYTHING);
    OsierClient cart = asCart(eu);
    Transaction begun = cart.session().keyspace("bank").begin();
    begun.counter("a").increment(1);
    assertThat(begun.counter("a").get()).isEqualTo(1); // so the datacenter has the update
    eu.setUsers(only("cart", "read *", "write bank b"));
    forbidden("write *", begun::commit);
    assertThat(cart.session().keyspace("bank").counter("a").get()).isZero();
    cart.session().keyspace("bank").counter("b").increment(1);
  }

  /** What it has set aside of a bounded counter is others' at once, though nobody closes it. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void commitThatIsForbidden_endsItsTransaction_andFreesItsRights(boolean takenAway) {
    Datacenter eu = withCart(EVERYTHING);
    Keyspace bank = asCart(eu).session().keyspace("bank");
    bank.boundedCounter("stock").create(0, 100);
    bank.boundedCounter("stock").increment(5);
    eu.setUsers(cartAndShop("write bank stock"));
    Transaction begun = asCart(eu).session().keyspace("bank").begin();
    begun.boundedCounter("stock").decrement(5);
    assertThat(begun.boundedCounter("stock").get()).as("it is set aside").isZero();
    OsierClient other = build(builder(eu).user("shop", PASSWORD.toCharArray()));
    other.awaitConnected(LONG);
    BoundedCounterHandle stock = other.session().keyspace("bank").boundedCounter("stock");
    failure(ErrorCode.NOT_ENOUGH_RIGHTS, () -> stock.decrement(5));
    if (takenAway) {
      eu.setUsers(cartAndShop("write bank nothing"));
    } else {
      begun.counter("not mine").increment(1);
    }
    failure(ErrorCode.FORBIDDEN, begun::commit);
    stock.decrement(5);
    failure(ErrorCode.TRANSACTION_ENDED, begun::commit);
    assertThat(stock.get()).isZero();
  }

  private static Users cartAndShop(String ofCart) {
    return new Users(
        Stream.of(List.of("cart", "read *", ofCart), List.of("shop", "read *", "write *"))
            .map(
                u ->
                    new User(
                        u.getFirst(),
                        Optional.of(CREDENTIAL),
                        u.stream().skip(1).map(Grant::parse).toList()))
            .toList());
  }

  @Test
  void changedRights_holdForOpenConnections_atTheNextRequest() {
    Datacenter eu = withCart("\"read shop\"");
    Keyspace shop = asCart(eu).session().keyspace("shop");
    forbidden("write shop c", () -> shop.counter("c").increment(1));
    eu.setUsers(only("cart", "read shop", "write shop"));
    shop.counter("c").increment(1);
    eu.setUsers(only("cart"));
    forbidden("read shop c", () -> shop.counter("c").get());
  }

  @Test
  void userWhoIsDropped_isThrownOut_idleConnectionsToo() throws Exception {
    Datacenter eu = withCart(EVERYTHING);
    OsierClient cart = asCart(eu);
    RawClient idle = raw(eu, "127.0.0.1");
    ScramClient scram = scram("cart", PASSWORD);
    scram.serverFirstMessage(challenge(idle, scram.clientFirstMessage().toString()));
    idle.send(proof(scram.clientFinalMessage().toString()));
    idle.reply();
    assertThat(idle.reply().message()).isInstanceOf(Reply.Welcome.class);
    eu.setUsers(only("other", "read *"));
    assertThat(idle.isEnded()).isTrue();
    await()
        .untilAsserted(
            () ->
                failure(
                    ErrorCode.NOT_AUTHENTICATED,
                    () -> cart.session().keyspace("shop").counter("c").get()));
  }

  @Test
  void changedPassword_endsTheConnectionsOfTheFormerOne() {
    Datacenter eu = withCart(EVERYTHING);
    String[] password = {PASSWORD};
    OsierClient cart = build(builder(eu).user("cart", () -> password[0].toCharArray()));
    cart.awaitConnected(LONG);
    password[0] = "battery staple";
    eu.setUsers(
        new Users(
            List.of(
                new User(
                    "cart",
                    Optional.of(
                        ScramCredential.of(
                            password[0].toCharArray(),
                            new byte[] {7},
                            ScramCredential.ITERATIONS_MIN)),
                    List.of(Grant.parse("read shop"))))));
    // The client logs in again by itself, with what its supplier says now.
    await()
        .ignoreExceptionsInstanceOf(OsierException.class)
        .untilAsserted(
            () -> assertThat(cart.session().keyspace("shop").counter("c").get()).isZero());
  }

  // ---------------------------------------------------------------- what is told

  @Test
  void auditLog_tellsLoginsAndRefusals_andNoLogHasASecret() throws Exception {
    try (LoggedLines audit = new LoggedLines(AuditLog.LOGGER);
        LoggedLines all = new LoggedLines("io.osier")) {
      Datacenter eu = withCart("\"read shop\"");
      OsierClient cart = asCart(eu);
      forbidden("write shop c", () -> cart.session().keyspace("shop").counter("c").increment(1));
      tryPassword(eu, "127.0.0.1", "cart", "guessed");
      assertThat(audit.all())
          .anySatisfy(
              l -> assertThat(l).contains("\"event\":\"login\"", "\"user\":\"cart\"", "127.0.0.1"))
          .anySatisfy(
              l -> assertThat(l).contains("\"event\":\"refused\"", "\"missing\":\"write shop c\""))
          .anySatisfy(l -> assertThat(l).contains("\"event\":\"login-failed\""));
      assertThat(all.all())
          .anyMatch(l -> l.startsWith("configuration: ") && l.contains("(not shown)"));
      String[] keys = CREDENTIAL.line().split("[$:]", -1);
      assertThat(String.join("\n", all.all()))
          .doesNotContain(PASSWORD, "guessed", keys[keys.length - 1], keys[keys.length - 2]);
    }
  }

  /** A watcher needs the right to read all that it may be told of, and ends when that is taken. */
  @Test
  void watcher_needsToRead_andEndsWithTheRight() {
    Datacenter eu = withCart("\"read shop cart:\", \"write shop\"");
    OsierClient cart = build(builder(eu).user("cart", PASSWORD.toCharArray()));
    cart.awaitConnected(LONG);
    Keyspace shop = cart.session().keyspace("shop");
    for (Watch refused : List.of(shop.changes(), shop.watchPrefix("car"), shop.watch("stock:1"))) {
      assertThat(refused.listen(told -> {}).ended())
          .failsWithin(LONG)
          .withThrowableOfType(ExecutionException.class)
          .withMessageContaining("a right is missing: read shop");
    }
    List<Watch.Watching> allowed =
        List.of(
            shop.watchPrefix("cart:").listen(told -> {}),
            shop.watchPrefix("cart:7").listen(told -> {}),
            shop.watch("cart:1").listen(told -> {}));
    allowed.forEach(w -> w.begun().orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join());
    shop.counter("cart:1").increment();
    eu.setUsers(only("cart", "read bank", "write shop")); // who asked again before that waits 20 s
    for (Watch.Watching watching : allowed) {
      assertThat(watching.ended())
          .failsWithin(LONG)
          .withThrowableOfType(ExecutionException.class)
          .withMessageContaining("a right is missing: read shop");
    }
  }
}
