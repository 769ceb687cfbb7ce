package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.ongres.scram.client.ScramClient;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.core.tls.TlsName;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.cli.command.CertificateMaker;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.BatchException;
import io.osier.proxy.BoundedCounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Scan;
import io.osier.proxy.TlsOptions;
import io.osier.proxy.Transaction;
import io.osier.proxy.Watch;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Users over real connections, and those who try to get in, or further than they may. */
final class UsersTest {
  private static final Duration LONG = Patience.LIMIT;
  private static final String PASSWORD = "correct horse";
  private static final ScramCredential CREDENTIAL =
      ScramCredential.of(PASSWORD.toCharArray(), new byte[16], ScramCredential.ITERATIONS_MIN);
  private static final String EVERYTHING = "\"read *\", \"write *\", \"admin *\"";

  @AutoClose private final Opened open = new Opened();

  private Datacenter start(String users, String more) {
    return open.add(
        Datacenter.start(
            ConfigReader.read(
                "eu",
                """
                osier {
                  dc = eu, store.dir = "", shutdown-timeout = 0s
                  keyspaces { shop {}, bank { consistency = causal } }
                  listen { client-port = 0, peer-port = 0 }
                  users { %s }
                  %s
                }
                """
                    .formatted(users, more),
                Map.of())));
  }

  private Datacenter withCart(String rights) {
    return start(cart(rights), "");
  }

  private static String cart(String rights) {
    return "cart { credential = \"" + CREDENTIAL.line() + "\", rights = [" + rights + "] }";
  }

  private static Users only(String name, String... rights) {
    return new Users(
        List.of(
            new User(
                name,
                name.equals(Users.DEFAULT) ? Optional.empty() : Optional.of(CREDENTIAL),
                Arrays.stream(rights).map(Grant::parse).toList())));
  }

  private OsierClient.Builder builder(Datacenter of) {
    return PatientClients.of("eu", of.clientPort());
  }

  private OsierClient build(OsierClient.Builder builder) {
    return open.add(builder.build());
  }

  private OsierClient asCart(Datacenter of) {
    OsierClient client = build(builder(of).user("cart", PASSWORD.toCharArray()));
    client.awaitConnected(LONG);
    return client;
  }

  private static OsierException failure(ErrorCode code, ThrowingCallable call) {
    OsierException[] thrown = new OsierException[1];
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            OsierException.class,
            e -> {
              assertThat(e.code()).as("%s", e).isEqualTo(code);
              thrown[0] = e;
            });
    return thrown[0];
  }

  private static void forbidden(String right, ThrowingCallable call) {
    assertThat(failure(ErrorCode.FORBIDDEN, call))
        .hasMessageEndingWith("a right is missing: " + right);
  }

  // ---------------------------------------------------------------- logins

  @Test
  void passwordFile_isAPasswordToo(@TempDir Path dir) throws IOException {
    Path file = Files.writeString(dir.resolve("cart.password"), PASSWORD + "\nsecond line\n");
    Datacenter eu =
        start("cart { password-file = \"" + file + "\", rights = [" + EVERYTHING + "] }", "");
    assertThat(asCart(eu).session().keyspace("shop").counter("c").get()).isZero();
  }

  @Test
  void noLogin_isRefused_andSaidAtOnce() {
    OsierClient client = build(builder(withCart(EVERYTHING)));
    OsierException e = failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG));
    assertThat(e).hasMessageContaining("must log in");
    failure(
        ErrorCode.NOT_AUTHENTICATED, () -> client.session().keyspace("shop").counter("c").get());
  }

  @Test
  void wrongPassword_andUnknownUser_areRefusedAlike() {
    List<String> said = new ArrayList<>();
    for (String[] login :
        List.of(new String[] {"cart", "guess"}, new String[] {"card", PASSWORD})) {
      // Each at a datacenter of its own: both try again and again, and would be slowed down soon.
      OsierClient client =
          build(builder(withCart(EVERYTHING)).user(login[0], login[1].toCharArray()));
      said.add(
          failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG)).getMessage());
      failure(
          ErrorCode.NOT_AUTHENTICATED, () -> client.session().keyspace("shop").counter("c").get());
      client.close();
    }
    assertThat(said.getFirst()).contains("the user is unknown, or the password is wrong");
    assertThat(said.getLast()).isEqualTo(said.getFirst());
  }

  @Test
  void userWhoIsCreatedLater_getsInByItself() {
    Datacenter eu = start("other {}", "");
    OsierClient client = build(builder(eu).user("cart", PASSWORD.toCharArray()));
    failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG));
    eu.setUsers(only("cart", "read shop"));
    await()
        .ignoreExceptionsInstanceOf(OsierException.class)
        .untilAsserted(
            () -> assertThat(client.session().keyspace("shop").counter("c").get()).isZero());
  }

  @Test
  void passwordSupplier_isAskedForEachConnection_andItsTroubleIsNotShown() {
    Datacenter eu = withCart(EVERYTHING);
    OsierClient client =
        build(
            builder(eu)
                .user(
                    "cart",
                    () -> {
                      throw new IllegalStateException("the secret is " + PASSWORD);
                    }));
    OsierException e = failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG));
    assertThat(e).hasMessageContaining("IllegalStateException");
    assertThat(e.getMessage()).doesNotContain(PASSWORD);
  }

  @Test
  void defaultUser_isWhoDoesNotLogIn_andCanBeSwitchedOff() {
    Datacenter eu = start(cart(EVERYTHING) + ", default { rights = [\"read shop public:\"] }", "");
    OsierClient anybody = build(builder(eu));
    anybody.awaitConnected(LONG);
    Keyspace shop = anybody.session().keyspace("shop");
    assertThat(shop.counter("public:c").get()).isZero();
    forbidden("write shop public:c", () -> shop.counter("public:c").increment(1));
    forbidden("read shop c", () -> shop.counter("c").get());
    eu.setUsers(only("cart", "read *"));
    await()
        .untilAsserted(
            () ->
                failure(
                    ErrorCode.NOT_AUTHENTICATED,
                    () -> anybody.awaitConnected(Duration.ofMillis(1))));
  }

  private static ScramClient scram(String user, String password) {
    return ScramClient.builder()
        .advertisedMechanisms(List.of(ScramCredential.MECHANISM))
        .username(user)
        .password(password.toCharArray())
        .build();
  }

  private static byte[] login(String message) {
    return RawClient.frame(0, new Request.Login(Request.PROTOCOL_VERSION, "raw", message));
  }

  private static byte[] proof(String message) {
    return RawClient.frame(0, new Request.Proof(message));
  }

  private RawClient raw(Datacenter to, String from) throws IOException {
    return open.add(new RawClient(to.clientPort(), from));
  }

  private static String challenge(RawClient client, String first) throws IOException {
    Reply reply = client.send(login(first)).reply().message();
    assertThat(reply).isInstanceOf(Reply.Challenge.class);
    return ((Reply.Challenge) reply).message();
  }

  private static ErrorCode refusal(RawClient client) throws IOException {
    Reply reply = client.reply().message();
    assertThat(reply).isInstanceOf(Reply.Failure.class);
    assertThat(client.isEnded()).isTrue();
    return ((Reply.Failure) reply).code();
  }

  /** What becomes of a login with a password; INTERNAL if it is let in. */
  private ErrorCode tryPassword(Datacenter at, String from, String user, String password)
      throws Exception {
    try (RawClient client = new RawClient(at.clientPort(), from)) {
      ScramClient scram = scram(user, password);
      Reply reply = client.send(login(scram.clientFirstMessage().toString())).reply().message();
      if (reply instanceof Reply.Challenge challenge) {
        scram.serverFirstMessage(challenge.message());
        client.send(proof(scram.clientFinalMessage().toString()));
        reply = client.reply().message();
      }
      return reply instanceof Reply.Failure f ? f.code() : ErrorCode.INTERNAL;
    }
  }

  @Test
  void nothingIsDone_beforeTheLoginIsThrough() throws Exception {
    Datacenter eu = withCart(EVERYTHING);
    Request read = Requests.read("shop", Key.of("c"), Optional.empty(), new Query.Whole());
    assertThat(refusal(raw(eu, "127.0.0.1").send(RawClient.frame(1, read))))
        .isEqualTo(ErrorCode.MALFORMED);
    assertThat(refusal(raw(eu, "127.0.0.1").send(proof("c=biws,r=x,p=y"))))
        .isEqualTo(ErrorCode.MALFORMED);
    for (byte[] instead :
        List.of(
            RawClient.frame(1, read),
            login("n,,n=cart,r=abc"),
            RawClient.frame(0, new Request.Hello(Request.PROTOCOL_VERSION, "raw")))) {
      RawClient client = raw(eu, "127.0.0.1");
      challenge(client, "n,,n=cart,r=abc");
      assertThat(refusal(client.send(instead))).isEqualTo(ErrorCode.MALFORMED);
    }
  }

  @Test
  void largeMessagesOfALogin_areRefused() throws Exception {
    Datacenter eu = withCart(EVERYTHING);
    String large = "n,,n=cart,r=" + "x".repeat(Request.LOGIN_BYTES_MAX);
    assertThat(refusal(raw(eu, "127.0.0.1").send(login(large)))).isEqualTo(ErrorCode.MALFORMED);
    RawClient larger = raw(eu, "127.0.0.1").send(login("x".repeat(1 << 10)));
    assertThat(larger.isEnded()).isTrue();
    RawClient after = raw(eu, "127.0.0.1");
    challenge(after, "n,,n=cart,r=abc");
    assertThat(after.send(proof("x".repeat(1 << 10))).isEnded()).isTrue();
  }

  @Test
  void recordedLogin_isOfNoUseToAnother() throws Exception {
    Datacenter eu = withCart(EVERYTHING);
    ScramClient scram = scram("cart", PASSWORD);
    String first = scram.clientFirstMessage().toString();
    RawClient honest = raw(eu, "127.0.0.1");
    scram.serverFirstMessage(challenge(honest, first));
    String last = scram.clientFinalMessage().toString();
    assertThat(honest.send(proof(last)).reply().message()).isInstanceOf(Reply.Challenge.class);
    assertThat(honest.reply().message()).isInstanceOf(Reply.Welcome.class);

    RawClient thief = raw(eu, "127.0.0.1");
    String asked = challenge(thief, first);
    assertThat(refusal(thief.send(proof(last)))).isEqualTo(ErrorCode.MALFORMED);
    // With the nonce that is asked for now it is the wrong proof.
    RawClient again = raw(eu, "127.0.0.1");
    String nonce = challenge(again, first).replaceAll("r=([^,]*),.*", "$1");
    assertThat(refusal(again.send(proof("c=biws,r=" + nonce + last.replaceAll(".*(,p=)", "$1")))))
        .isEqualTo(ErrorCode.NOT_AUTHENTICATED);
    assertThat(asked).doesNotContain(nonce);
  }

  @Test
  void halfALogin_isClosedInTime_andNobodyWaitsForIt() throws Exception {
    Datacenter eu = start(cart(EVERYTHING), "listen.greeting-timeout = 5s");
    List<RawClient> idle = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      RawClient one = raw(eu, "127.0.0.1");
      challenge(one, "n,,n=cart,r=abc" + i);
      idle.add(one);
    }
    asCart(eu).session().keyspace("shop").counter("c").increment(1);
    for (RawClient one : idle) {
      assertThat(one.isEnded()).isTrue();
    }
  }

  @Test
  void unknownUsers_areAskedAsKnownOnesAre_afterARestart_too(@TempDir Path dir) throws Exception {
    String store = "store.dir = \"" + dir + "\"";
    Datacenter eu = start(cart(EVERYTHING), store);
    String known = challenge(raw(eu, "127.0.0.1"), "n,,n=cart,r=abc");
    String unknown = challenge(raw(eu, "127.0.0.1"), "n,,n=card,r=abc");
    String form = "r=abc[!-~&&[^,]]{24},s=[A-Za-z0-9+/]{22}==,i=4096";
    assertThat(known).matches(form);
    assertThat(unknown).matches(form);
    eu.close();
    Datacenter again = start(cart(EVERYTHING), store);
    assertThat(salt(challenge(raw(again, "127.0.0.1"), "n,,n=card,r=abc")))
        .isEqualTo(salt(unknown));
    assertThat(salt(challenge(raw(again, "127.0.0.1"), "n,,n=cart,r=abc"))).isEqualTo(salt(known));
  }

  private static String salt(String challenge) {
    return challenge.replaceAll(".*,s=([^,]*),.*", "$1");
  }

  /**
   * Guesses from an address. The fifth wrong password is followed by a pause of a second, and each
   * more by one that is twice as long: not even the right one is looked at then, nor another
   * user's.
   *
   * @return false if the last pause was over before that could be seen
   */
  private boolean isSlowedDown(Datacenter eu, String from) throws Exception {
    int wrong = 0;
    long lastNanos = 0;
    for (int i = 0; i < 40; i++) {
      long now = System.nanoTime();
      ErrorCode code = tryPassword(eu, from, "cart", "guess" + i);
      assertThat(code).isIn(ErrorCode.NOT_AUTHENTICATED, ErrorCode.OVERLOADED);
      if (code == ErrorCode.NOT_AUTHENTICATED) {
        wrong++;
        lastNanos = now;
      }
    }
    assertThat(wrong).isBetween(5, 20);
    ErrorCode right = tryPassword(eu, from, "cart", PASSWORD);
    ErrorCode other = tryPassword(eu, from, "bank", PASSWORD);
    if (System.nanoTime() - lastNanos >= 1_000_000_000L << (wrong - 5)) {
      return false;
    }
    assertThat(List.of(right, other)).containsOnly(ErrorCode.OVERLOADED);
    return true;
  }

  @Test
  void floodOfBadPasswords_isSlowedDown_andOthersWorkOn() throws Exception {
    Datacenter eu;
    OsierClient working;
    do {
      eu = start(cart(EVERYTHING) + ", " + cart(EVERYTHING).replace("cart {", "bank {"), "");
      working = asCart(eu); // known from 127.0.0.1 from now on
    } while (!isSlowedDown(eu, "127.0.0.66"));
    // The user whose password is guessed is let in from where it has been before; others anywhere.
    working.session().keyspace("shop").counter("c").increment(1);
    asCart(eu).session().keyspace("shop").counter("c").increment(1);
    OsierClient bank = build(builder(eu).user("bank", PASSWORD.toCharArray()));
    bank.awaitConnected(LONG);
    assertThat(bank.session().keyspace("shop").counter("c").get()).isEqualTo(2);
  }

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

  // ---------------------------------------------------------------- certificates

  @Test
  void usersCertificate_logsIn_withoutAPassword(@TempDir Path certs) {
    CertificateMaker.authority(certs, "osier", 10);
    CertificateMaker.signed(
        certs, "eu", TlsName.ofDatacenter("osier", "eu"), List.of("localhost", "127.0.0.1"), 10);
    CertificateMaker.signed(certs, "cart", TlsName.ofUser("osier", "cart"), List.of(), 10);
    CertificateMaker.signed(certs, "card", TlsName.ofUser("osier", "card"), List.of(), 10);
    CertificateMaker.signed(certs, "far", TlsName.ofUser("other", "cart"), List.of(), 10);
    Datacenter eu =
        start(
            "cart { rights = [\"read shop\"] }",
            """
            tls {
              certificate = "%1$s/eu.pem", key = "%1$s/eu.key", authorities = "%1$s/authority.pem"
              client-certificates = optional
            }
            """
                .formatted(certs));
    TlsOptions tls = TlsOptions.DEFAULT.authorities(certs.resolve("authority.pem"));
    OsierClient cart =
        build(
            builder(eu).tls(tls.certificate(certs.resolve("cart.pem"), certs.resolve("cart.key"))));
    cart.awaitConnected(LONG);
    assertThat(cart.session().keyspace("shop").counter("c").get()).isZero();
    forbidden("write shop c", () -> cart.session().keyspace("shop").counter("c").increment(1));
    for (String other : List.of("card", "far")) {
      OsierClient client =
          build(
              builder(eu)
                  .tls(
                      tls.certificate(
                          certs.resolve(other + ".pem"), certs.resolve(other + ".key"))));
      failure(ErrorCode.NOT_AUTHENTICATED, () -> client.awaitConnected(LONG));
    }
    OsierClient without = build(builder(eu).tls(tls));
    failure(ErrorCode.NOT_AUTHENTICATED, () -> without.awaitConnected(LONG));
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
