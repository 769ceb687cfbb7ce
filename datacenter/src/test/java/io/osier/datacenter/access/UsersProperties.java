package io.osier.datacenter.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Grant;
import io.osier.core.Grant.Right;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.scram.ScramCredential;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Call;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

final class UsersProperties extends RightsFixture {
  private static final byte[] LETTERS = {'a', 'b', (byte) 0xff};
  private static final List<Key> ALL_KEYS = allKeys();

  private static List<Key> allKeys() {
    List<Key> all = new ArrayList<>();
    for (byte a : LETTERS) {
      all.add(Key.of(new byte[] {a}));
      for (byte b : LETTERS) {
        all.add(Key.of(new byte[] {a, b}));
        for (byte c : LETTERS) {
          all.add(Key.of(new byte[] {a, b, c}));
        }
      }
    }
    all.sort(Key::compareTo);
    return all;
  }

  @Provide
  Arbitrary<Key> keys() {
    return Arbitraries.of(ALL_KEYS);
  }

  @Provide
  Arbitrary<User> users() {
    return Combinators.combine(
            Arbitraries.of(Right.class),
            Arbitraries.of("shop", "bank").optional(0.8),
            keys().optional(0.9))
        .as(Grant::new)
        .list()
        .ofMaxSize(6)
        .map(grants -> new User("cart", Optional.empty(), grants));
  }

  private static boolean mayRead(User user, Key key) {
    return user.may(Right.READ, "shop", key);
  }

  @Property(tries = 2_000)
  void scan_showsExactlyWhatMayBeReadWithoutAGap(
      @ForAll("users") User user, @ForAll("keys") Key from) {
    ScanRequest scan =
        new ScanRequest("shop", Optional.of(from), Optional.empty(), new Query.Whole(), 10);
    if (RequestRights.missing(user, scan) != null) {
      assertThat(mayRead(user, from)).isFalse();
      return;
    }
    assertThat(mayRead(user, from)).isTrue();
    Optional<Key> end = RequestRights.endOf(user, scan);
    for (Key key : ALL_KEYS) {
      if (key.compareTo(from) >= 0 && (end.isEmpty() || key.compareTo(end.get()) < 0)) {
        assertThat(mayRead(user, key)).as("%s is shown", key).isTrue();
      }
    }
    end.ifPresent(e -> assertThat(mayRead(user, e)).as("it goes on at its end").isFalse());
  }

  @Property
  void rightsOnAKeyspace_areThoseOnItsHomes(
      @ForAll("users") User user, @ForAll Right right, @ForAll("keys") Key key) {
    assertThat(user.may(right, "shop@eu", key)).isEqualTo(user.may(right, "shop", key));
    assertThat(user.may(Grant.on(right, "shop@eu"))).isEqualTo(user.may(Grant.on(right, "shop")));
    assertThat(user.mayAnything("shop@eu")).isEqualTo(user.mayAnything("shop"));
    assertThat(user.readable("shop@eu", Optional.of(key)))
        .isEqualTo(user.readable("shop", Optional.of(key)));
  }

  @Property
  void scan_fromTheBeginning_needsTheWholeKeyspace(@ForAll("users") User user) {
    ScanRequest scan =
        new ScanRequest("shop", Optional.empty(), Optional.empty(), new Query.Whole(), 10);
    boolean whole = user.may(Grant.on(Right.READ, "shop"));
    assertThat(RequestRights.missing(user, scan) == null).isEqualTo(whole);
    if (whole) {
      assertThat(RequestRights.endOf(user, scan)).isEmpty();
    }
  }

  /** Nothing that may not be read is between the ends of a scan that may be done. */
  @Property(tries = 2_000)
  void scanWithAnEnd_needsTheRightToReadAllOfIt(
      @ForAll("users") User user,
      @ForAll("keys") Key from,
      @ForAll("keys") Key to,
      @ForAll ScanRequest.Want want) {
    ScanRequest scan =
        new ScanRequest(
            "shop",
            Optional.of(from),
            Optional.of(to),
            Optional.empty(),
            new Query.Exists(),
            1,
            want);
    List<Key> within =
        ALL_KEYS.stream().filter(k -> k.compareTo(from) >= 0 && k.compareTo(to) < 0).toList();
    Grant missing = RequestRights.missing(user, scan);
    if (missing == null) {
      assertThat(within).allMatch(key -> mayRead(user, key));
      Optional<Key> end = RequestRights.endOf(user, scan);
      assertThat(end.isEmpty() || end.get().compareTo(to) >= 0).isTrue();
    } else {
      assertThat(mayRead(user, missing.prefix().orElse(from))).isFalse();
    }
    ScanRequest open =
        new ScanRequest(
            "shop",
            Optional.of(from),
            Optional.empty(),
            Optional.empty(),
            new Query.Exists(),
            1,
            want);
    if (want != ScanRequest.Want.ROWS && RequestRights.missing(user, open) == null) {
      assertThat(ALL_KEYS.stream().filter(k -> k.compareTo(from) >= 0))
          .allMatch(key -> mayRead(user, key));
    }
  }

  @Property
  void requests_needTheRightOnEachOfTheirKeys(
      @ForAll("users") User user, @ForAll("keys") Key a, @ForAll("keys") Key b) {
    boolean readsA = user.may(Right.READ, "shop", a);
    boolean writesB = user.may(Right.WRITE, "shop", b);
    assertThat(RequestRights.missing(user, read(a)) == null).isEqualTo(readsA);
    assertThat(RequestRights.missing(user, write(b)) == null).isEqualTo(writesB);
    Request.Transact step = step(1, List.of(b), List.of(a), Request.End.COMMIT);
    assertThat(RequestRights.missing(user, step) == null).isEqualTo(readsA && writesB);
    assertThat(
            RequestRights.missing(user, new Request.Repeat(new ReplicaId("eu", 1), 0, step))
                == null)
        .isEqualTo(readsA && writesB);
    boolean asksB = writesB && user.may(Right.READ, "shop", b);
    Request.Write w = write(b);
    Optional<Request.Ask> ask = Optional.of(new Request.Ask(true, new Query.Whole()));
    Optional<Request.Condition> none =
        Optional.of(new Request.Condition(List.of(), new Query.Exists(), new Reading.Flag(false)));
    for (Request.Write tells :
        List.of(
            new Request.Write("shop", b, w.type(), w.operation(), VersionVector.EMPTY, 0, ask),
            new Request.Write(
                "shop",
                b,
                w.type(),
                w.operation(),
                VersionVector.EMPTY,
                0,
                Optional.empty(),
                none))) {
      assertThat(RequestRights.missing(user, tells) == null).isEqualTo(asksB);
    }
  }

  /** A program is done as a whole: it needs each right that one of its calls needs. */
  @Property
  void programs_needTheRightsOfAllTheirCalls(
      @ForAll("users") User user, @ForAll("keys") Key a, @ForAll("keys") Key b) {
    boolean reads = user.may(Right.READ, "shop", a);
    boolean writes = user.may(Right.WRITE, "shop", a);
    boolean readsB = user.may(Right.READ, "shop", b);
    boolean writesB = user.may(Right.WRITE, "shop", b);
    Operation add = new Operation.Increment(1);
    Optional<Request.Ask> ask = Optional.of(new Request.Ask(true, new Query.Whole()));
    Request.Condition exists =
        new Request.Condition(List.of(), new Query.Exists(), new Reading.Flag(true));
    Map<Call, Boolean> needs = new LinkedHashMap<>();
    needs.put(new Call.Read(a, Optional.empty(), new Query.Whole()), reads);
    needs.put(new Call.Version(a), reads);
    needs.put(new Call.Test(a, Optional.empty(), exists), reads);
    needs.put(new Call.Update(a, CrdtType.STRING, add, Optional.empty()), writes);
    needs.put(new Call.Update(a, CrdtType.STRING, add, ask), reads && writes);
    needs.put(new Call.Replace(a, CrdtType.STRING, add, true), writes);
    needs.put(new Call.Take(a, CrdtType.AW_SET, 1, 0), reads && writes);
    needs.put(new Call.ExpireIf(a, new Operation.Expire(5, true), Call.When.NONE), reads && writes);
    if (!a.equals(b)) {
      for (boolean only : new boolean[] {true, false}) {
        boolean other = writesB && (readsB || !only);
        needs.put(new Call.Rename(a, b, only), reads && writes && other);
        needs.put(new Call.Copy(a, b, only), reads && other);
      }
    }
    needs.forEach(
        (call, may) ->
            assertThat(may(user, List.of(call), List.of())).as("%s", call).isEqualTo(may));
    List<Call> all = List.copyOf(needs.keySet());
    assertThat(may(user, all, List.of())).isEqualTo(!needs.containsValue(false));
    Call blind = new Call.Replace(a, CrdtType.STRING, add, true);
    List<Call.Guard> guard = List.of(new Call.Guard(a, VersionVector.EMPTY));
    assertThat(may(user, List.of(blind), guard)).as("a guard tells").isEqualTo(reads && writes);
  }

  private static boolean may(User user, List<Call> calls, List<Call.Guard> guards) {
    Request program = new Request.Evaluate("shop", calls, guards, VersionVector.EMPTY, 0);
    return RequestRights.missing(user, program) == null;
  }

  @Property
  void batches_needTheRightOnEachOfTheirKeys_forEach(
      @ForAll("users") User user, @ForAll("keys") Key a, @ForAll("keys") Key b) {
    Request reads =
        new Request.ReadAll("shop", List.of(fetch(a), fetch(b)), VersionVector.EMPTY, false, 0);
    Request writes =
        new Request.WriteAll("shop", List.of(update(a), update(b)), VersionVector.EMPTY, 0);
    for (Request batch : List.of(reads, writes)) {
      Right right = batch == reads ? Right.READ : Right.WRITE;
      Map<Integer, Grant> missing = RequestRights.missingOfParts(user, batch);
      assertThat(missing.containsKey(0)).isEqualTo(!user.may(right, "shop", a));
      assertThat(missing.containsKey(1)).isEqualTo(!user.may(right, "shop", b));
      assertThat(RequestRights.missing(user, batch) == null)
          .as("something may be done")
          .isEqualTo(missing.size() < 2);
    }
  }

  @Property
  void whatIsMissing_isEnough(@ForAll("users") User user, @ForAll("keys") Key key) {
    for (Request request :
        List.of(
            read(key),
            write(key),
            new AdminRequest.Backup(Optional.empty()),
            new ProgressRequest.Through("shop", 0),
            new AdminRequest.Inspect(Request.Topic.HOT, Optional.of("shop"), 1),
            new AdminRequest.Inspect(Request.Topic.STAT, Optional.empty(), 1))) {
      Grant missing = RequestRights.missing(user, request);
      if (missing != null) {
        List<Grant> more = new ArrayList<>(user.grants());
        more.add(missing);
        assertThat(RequestRights.missing(new User("cart", Optional.empty(), more), request))
            .isNull();
      }
    }
  }

  @Example
  void aloneThePing_needsNoRight() {
    User nobody = new User("nobody", Optional.empty(), List.of());
    assertThat(RequestRights.missing(nobody, new Request.Ping())).isNull();
    Key key = Key.of("a");
    for (Request request :
        List.of(
            read(key),
            write(key),
            step(1, List.of(), List.of(), Request.End.OPEN),
            new ScanRequest("shop", Optional.of(key), Optional.empty(), new Query.Whole(), 1),
            new ProgressRequest.Through("shop", 0),
            new AdminRequest.Backup(Optional.empty()),
            new AdminRequest.Inspect(Request.Topic.PEERS, Optional.empty(), 1))) {
      assertThat(RequestRights.missing(nobody, request)).as("%s", request).isNotNull();
    }
  }

  @Example
  void administering_isNotReadingOrWriting() {
    User admin = new User("admin", Optional.empty(), List.of(Grant.onAll(Right.ADMIN)));
    assertThat(RequestRights.missing(admin, new AdminRequest.Backup(Optional.empty()))).isNull();
    assertThat(RequestRights.missing(admin, read(Key.of("a")))).isNotNull();
    assertThat(RequestRights.missing(admin, write(Key.of("a")))).isNotNull();
  }

  private static Request.Read read(Key key) {
    return Requests.read("shop", key, Optional.empty(), new Query.Whole());
  }

  private static Request.Write write(Key key) {
    return Requests.write("shop", key, CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  private static Request.Fetch fetch(Key key) {
    return new Request.Fetch(key, Optional.empty(), new Query.Exists());
  }

  private static Request.Update update(Key key) {
    return new Request.Update(key, CrdtType.PN_COUNTER, new Operation.Increment(1));
  }

  // ---------------------------------------------------------------- users

  @Example
  void open_letsEverybodyDoEverything() {
    User anybody = Users.OPEN.find(Users.DEFAULT).orElseThrow();
    assertThat(Users.OPEN.isOpen()).isTrue();
    assertThat(RequestRights.missing(anybody, read(Key.of("a")))).isNull();
    assertThat(RequestRights.missing(anybody, write(Key.of("a")))).isNull();
    assertThat(RequestRights.missing(anybody, new AdminRequest.Backup(Optional.empty()))).isNull();
    assertThat(new Users(List.of()).isOpen()).isFalse();
  }

  @Example
  void identity_endsWithItsUser_andWithItsPassword() {
    byte[] salt = {1};
    ScramCredential old =
        ScramCredential.of("old".toCharArray(), salt, ScramCredential.ITERATIONS_MIN);
    ScramCredential changed =
        ScramCredential.of("new".toCharArray(), salt, ScramCredential.ITERATIONS_MIN);
    Identity byPassword = new Identity("cart", Optional.of(old));
    Identity byCertificate = new Identity("cart", Optional.empty());
    Users with = new Users(List.of(new User("cart", Optional.of(old), List.of())));
    Users after = new Users(List.of(new User("cart", Optional.of(changed), List.of())));
    assertThat(byPassword.in(with)).isPresent();
    assertThat(byPassword.in(after)).isEmpty();
    assertThat(byCertificate.in(after)).isPresent();
    assertThat(byCertificate.in(new Users(List.of()))).isEmpty();
  }

  @Example
  void text_showsNoSecret() {
    User cart =
        new User(
            "cart",
            Optional.of(
                ScramCredential.of(
                    "pencil".toCharArray(), new byte[] {1}, ScramCredential.ITERATIONS_MIN)),
            List.of(Grant.on(Right.READ, "shop")));
    assertThat(new Users(List.of(cart))).hasToString("[cart with a password: [read shop]]");
  }

  @Example
  void wrongUsers_areRefused() {
    for (String name : List.of("", "-a", "a b", "a/b", "x".repeat(65), "\u00e4")) {
      assertThatThrownBy(() -> new User(name, Optional.empty(), List.of()))
          .isInstanceOf(OsierException.class);
    }
    User cart = writer("cart", "a");
    assertThatThrownBy(() -> new Users(List.of(cart, cart))).isInstanceOf(OsierException.class);
  }
}
