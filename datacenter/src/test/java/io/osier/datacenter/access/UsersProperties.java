package io.osier.datacenter.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
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
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.testing.Refused;
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

final class UsersProperties {
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
    Request.Scan scan =
        new Request.Scan("shop", Optional.of(from), Optional.empty(), new Query.Whole(), 10);
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
  void scan_fromTheBeginning_needsTheWholeKeyspace(@ForAll("users") User user) {
    Request.Scan scan =
        new Request.Scan("shop", Optional.empty(), Optional.empty(), new Query.Whole(), 10);
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
      @ForAll Request.Want want) {
    Request.Scan scan =
        new Request.Scan(
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
    Request.Scan open =
        new Request.Scan(
            "shop",
            Optional.of(from),
            Optional.empty(),
            Optional.empty(),
            new Query.Exists(),
            1,
            want);
    if (want != Request.Want.ROWS && RequestRights.missing(user, open) == null) {
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
            new Request.Backup(Optional.empty()),
            new Request.Through("shop", 0),
            new Request.Inspect(Request.Topic.HOT, Optional.of("shop"), 1),
            new Request.Inspect(Request.Topic.STAT, Optional.empty(), 1))) {
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
            new Request.Scan("shop", Optional.of(key), Optional.empty(), new Query.Whole(), 1),
            new Request.Through("shop", 0),
            new Request.Backup(Optional.empty()),
            new Request.Inspect(Request.Topic.PEERS, Optional.empty(), 1))) {
      assertThat(RequestRights.missing(nobody, request)).as("%s", request).isNotNull();
    }
  }

  @Example
  void administering_isNotReadingOrWriting() {
    User admin = new User("admin", Optional.empty(), List.of(Grant.onAll(Right.ADMIN)));
    assertThat(RequestRights.missing(admin, new Request.Backup(Optional.empty()))).isNull();
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

  private static Request.Transact step(
      int number, List<Key> updates, List<Key> reads, Request.End end) {
    return new Request.Transact(
        "shop",
        new TransactionId(1, 2),
        number,
        number == 1
            ? Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 1_000))
            : Optional.empty(),
        updates.stream()
            .map(k -> new Request.Update(k, CrdtType.PN_COUNTER, new Operation.Increment(1)))
            .toList(),
        reads.stream().map(k -> new Request.Fetch(k, Optional.empty(), new Query.Whole())).toList(),
        end);
  }

  // ---------------------------------------------------------------- transactions

  private static final int MANY = 10_000;

  private static User writer(String name, String... prefixes) {
    List<Grant> grants = new ArrayList<>();
    for (String prefix : prefixes) {
      grants.add(Grant.on(Right.WRITE, "shop", Key.of(prefix)));
    }
    return new User(name, Optional.empty(), grants);
  }

  @Example
  void commit_needsTheRightsOfAllSteps_asTheyAreThen() {
    TransactionRights open = new TransactionRights(MANY);
    User before = writer("cart", "a", "b");
    assertThat(open.missing(before, step(1, List.of(Key.of("a1")), List.of(), Request.End.OPEN), 0))
        .isNull();
    assertThat(open.missing(before, step(2, List.of(Key.of("b1")), List.of(), Request.End.OPEN), 1))
        .isNull();
    User after = writer("cart", "b");
    Request.Transact commit = step(3, List.of(), List.of(), Request.End.COMMIT);
    assertThat(open.missing(after, commit, 2))
        .isEqualTo(Grant.on(Right.WRITE, "shop", Key.of("a")));
    assertThat(open.missing(after, commit, 2)).as("again").isNotNull();
    // A wider right is as good as the one that was taken away.
    assertThat(
            open.missing(
                new User("cart", Optional.empty(), List.of(Grant.on(Right.WRITE, "shop"))),
                commit,
                3))
        .isNull();
  }

  private static final Reply DONE =
      new Reply.Transacted(VersionVector.EMPTY, Optional.empty(), List.of());

  /** By a full disk, for example; it can be asked for again. */
  @Example
  void commitThatIsRefused_leavesItAsItWas() {
    for (ErrorCode code :
        List.of(
            ErrorCode.STORE_FULL,
            ErrorCode.OVERLOADED,
            ErrorCode.NOT_ENOUGH_RIGHTS,
            ErrorCode.INVALID_ARGUMENT)) {
      TransactionRights open = new TransactionRights(MANY);
      User before = writer("cart", "a", "b");
      Request.Transact first = step(1, List.of(Key.of("a1")), List.of(), Request.End.OPEN);
      Request.Transact commit = step(2, List.of(), List.of(), Request.End.COMMIT);
      Request.Transact behind = step(2, List.of(Key.of("b1")), List.of(), Request.End.OPEN);
      Request.Transact again = step(3, List.of(), List.of(), Request.End.COMMIT);
      open.missing(before, first, 0);
      open.answered(first, DONE);
      assertThat(open.missing(before, commit, 1)).isNull();
      assertThat(open.missing(before, behind, 2)).isNull();
      open.answered(commit, new Reply.Failure(code, "not now"));
      open.answered(behind, DONE);
      assertThat(open.missing(writer("cart", "b"), again, 3))
          .as("%s", code)
          .isEqualTo(Grant.on(Right.WRITE, "shop", Key.of("a")));
      assertThat(open.missing(writer("cart", "a"), again, 3))
          .as("what was updated behind the commit")
          .isEqualTo(Grant.on(Right.WRITE, "shop", Key.of("b")));
      assertThatThrownBy(() -> open.missing(writer("thief", "a", "b"), again, 4))
          .isInstanceOf(OsierException.class);
      assertThat(open.missing(before, again, 5)).isNull();
      open.answered(again, DONE);
      assertThat(open.size()).isZero();
    }
  }

  @Example
  void transactionThatHasEnded_isForgotten_whoeverEndedIt() {
    User cart = writer("cart", "a");
    Request.Transact first = step(1, List.of(Key.of("a1")), List.of(), Request.End.OPEN);
    Reply ended = new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "its time ran out");
    for (Request.End end : Request.End.values()) {
      TransactionRights open = new TransactionRights(MANY);
      open.missing(cart, first, 0);
      open.answered(first, DONE);
      Request.Transact next = step(2, List.of(), List.of(), end);
      open.missing(cart, next, 1);
      open.answered(next, ended);
      assertThat(open.size()).as("%s", end).isZero();
    }
  }

  /** It has ended in the partition, too. Before, the record stayed until its time was over. */
  @Example
  void stepWhoseReadsCouldNotBeTold_leavesNothing_butOneThatReadsTooMuchDoes() {
    TransactionRights open = new TransactionRights(MANY);
    Request.Transact first = step(1, List.of(Key.of("a1")), List.of(), Request.End.OPEN);
    open.missing(writer("cart", "a"), first, 0);
    open.answered(first, DONE);
    Request.Transact reads = step(1, List.of(Key.of("a1")), List.of(Key.of("b")), Request.End.OPEN);
    open.missing(writer("cart", "a"), reads, 1);
    open.answered(reads, new Reply.Failure(ErrorCode.VALUE_TOO_LARGE, "read fewer"));
    assertThat(open.missing(writer("cart"), step(2, List.of(), List.of(), Request.End.COMMIT), 3))
        .isEqualTo(Grant.on(Right.WRITE, "shop", Key.of("a")));
    open.missing(writer("cart", "a"), reads, 4);
    open.answered(reads, new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "it cannot be read"));
    assertThat(open.size()).isZero();
  }

  /** The first step waits for a disk, and others come by another connection. */
  @Example
  void endThatOvertakesTheBeginning_leavesWhatTheBeginningUpdates() {
    TransactionRights open = new TransactionRights(MANY);
    User before = writer("cart", "a");
    Request.Transact first = step(1, List.of(Key.of("a1")), List.of(), Request.End.OPEN);
    Request.Transact commit = step(2, List.of(), List.of(), Request.End.COMMIT);
    Request.Transact alone = step(1, List.of(), List.of(), Request.End.COMMIT);
    open.missing(before, first, 0);
    open.missing(before, commit, 1);
    open.answered(commit, new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "not open"));
    open.missing(before, alone, 2);
    open.answered(alone, DONE);
    open.answered(first, DONE);
    assertThat(open.missing(writer("cart"), commit, 3))
        .isEqualTo(Grant.on(Right.WRITE, "shop", Key.of("a")));
  }

  @Example
  void abort_isAlwaysAllowed_andForgetsIt() {
    TransactionRights open = new TransactionRights(MANY);
    open.missing(
        writer("cart", "a"), step(1, List.of(Key.of("a1")), List.of(), Request.End.OPEN), 0);
    Request.Transact abort = step(2, List.of(), List.of(), Request.End.ABORT);
    assertThat(open.missing(writer("cart"), abort, 1)).isNull();
    open.answered(abort, DONE);
    assertThat(open.size()).isZero();
  }

  @Example
  void transaction_isItsUsersAlone() {
    TransactionRights open = new TransactionRights(MANY);
    open.missing(
        writer("cart", "a"), step(1, List.of(Key.of("a1")), List.of(), Request.End.OPEN), 0);
    for (Request.End end : Request.End.values()) {
      assertThatThrownBy(
              () -> open.missing(writer("thief", "a"), step(2, List.of(), List.of(), end), 1))
          .is(Refused.with(ErrorCode.TRANSACTION_ENDED));
    }
  }

  @Example
  void table_isBounded_andMakesRoomWhenTheirTimeIsOver() {
    TransactionRights open = new TransactionRights(2, 2, MANY);
    User cart = writer("cart", "a");
    for (int i = 0; i < 2; i++) {
      open.missing(cart, begin(i), 0);
    }
    assertThatThrownBy(() -> open.missing(cart, begin(3), 1_000_000_000L))
        .is(Refused.with(ErrorCode.OVERLOADED));
    assertThat(open.missing(cart, begin(3), 62_000_000_000L)).isNull();
    assertThat(open.size()).isEqualTo(1);
    // The next one's time is counted from when it came.
    assertThat(open.missing(cart, begin(4), 63_000_000_000L)).isNull();
    assertThatThrownBy(() -> open.missing(cart, begin(5), 122_000_000_000L))
        .isInstanceOf(OsierException.class);
    assertThat(open.missing(cart, begin(5), 123_500_000_000L)).isNull();
    assertThat(open.size()).isEqualTo(2);
  }

  /** Nobody answers for it any more: it would stay until its time is over. */
  @Example
  void firstStepThatIsRefused_leavesNothing() {
    for (ErrorCode code :
        List.of(
            ErrorCode.OVERLOADED,
            ErrorCode.UNKNOWN_KEYSPACE,
            ErrorCode.WRONG_TYPE,
            ErrorCode.SESSION_BEHIND,
            ErrorCode.VALUE_TOO_LARGE, // what takes long to be read ends its transaction instead
            ErrorCode.STORE_DAMAGED,
            ErrorCode.SHUTTING_DOWN,
            ErrorCode.TRANSACTION_ENDED, // a repeated one that was refused, too
            ErrorCode.TRANSACTION_FORGOTTEN)) {
      for (List<Key> reads : List.of(List.<Key>of(), List.of(Key.of("r")))) {
        TransactionRights open = new TransactionRights(MANY);
        Request.Transact first = step(1, List.of(Key.of("a1")), reads, Request.End.OPEN);
        open.missing(writer("cart", "a"), first, 0);
        open.answered(first, new Reply.Failure(code, "not now"));
        assertThat(open.size()).as("%s", code).isZero();
        open.answered(first, new Reply.Failure(code, "not now")); // of when nobody was named yet
        assertThat(open.missing(writer("cart", "a"), first, 1)).isNull();
        open.answered(first, DONE);
        assertThat(open.size()).as("begun at last").isOne();
        open.missing(writer("cart", "a"), first, 2);
        open.answered(first, new Reply.Failure(code, "not now"));
        assertThat(open.size())
            .as("sent again, of one that is open, %s", code)
            .isEqualTo(code == ErrorCode.TRANSACTION_ENDED ? 0 : 1);
      }
    }
  }

  /** What failed at it may have done it. */
  @Example
  void firstStepThatMayHaveBeenDone_leavesWhatItUpdates() {
    for (ErrorCode code : List.of(ErrorCode.TIMEOUT, ErrorCode.INTERNAL)) {
      TransactionRights open = new TransactionRights(MANY);
      Request.Transact first =
          step(1, List.of(Key.of("a1")), List.of(Key.of("r")), Request.End.OPEN);
      open.missing(writer("cart", "a"), first, 0);
      open.answered(first, new Reply.Failure(code, "what it reads"));
      Request.Transact commit = step(2, List.of(), List.of(), Request.End.COMMIT);
      assertThat(open.missing(writer("cart"), commit, 1))
          .as("%s", code)
          .isEqualTo(Grant.on(Right.WRITE, "shop", Key.of("a")));
    }
  }

  /** A connection was lost with the first sending, which is still on its way to the partition. */
  @Example
  void firstStepThatWasSentTwice_isForgotten_whenBothAreRefused() {
    TransactionRights open = new TransactionRights(MANY);
    User cart = writer("cart", "a");
    Request.Transact first = step(1, List.of(Key.of("a1")), List.of(), Request.End.OPEN);
    Request.Transact commit = step(2, List.of(), List.of(), Request.End.COMMIT);
    Reply refused = new Reply.Failure(ErrorCode.OVERLOADED, "not now");
    open.missing(cart, first, 0);
    open.missing(cart, first, 1);
    open.answered(first, refused);
    assertThat(open.missing(writer("cart"), commit, 2)).as("it may still begin").isNotNull();
    open.answered(first, refused);
    assertThat(open.size()).isZero();
  }

  @Example
  void noUser_crowdsOutTheOthers() {
    TransactionRights open = new TransactionRights(4, 3, MANY);
    User cart = writer("cart", "a");
    for (int i = 0; i < 3; i++) {
      open.missing(cart, begin(i), 0);
    }
    assertThatThrownBy(() -> open.missing(cart, begin(3), 1))
        .is(Refused.with(ErrorCode.OVERLOADED))
        .hasMessageContaining("user 'cart' has 3 open transactions");
    assertThat(open.missing(writer("shop", "a"), begin(4), 2)).isNull();
    assertThatThrownBy(() -> open.missing(writer("other", "a"), begin(5), 3))
        .is(Refused.with(ErrorCode.OVERLOADED))
        .hasMessageContaining("all users together have 4 open transactions");
    open.answered(begin(0), new Reply.Failure(ErrorCode.OVERLOADED, "not now"));
    assertThat(open.missing(cart, begin(3), 4)).as("what was refused makes room").isNull();
  }

  /** Before, one could have all that a partition may have open. */
  @Example
  void noUser_hasAllThatMayBeOpenInAKeyspace() {
    TransactionRights open = new TransactionRights(4);
    User cart = writer("cart", "a");
    for (int i = 0; i < 3; i++) {
      open.missing(cart, begin(i), 0);
    }
    assertThatThrownBy(() -> open.missing(cart, begin(3), 1))
        .is(Refused.with(ErrorCode.OVERLOADED))
        .hasMessageContaining("user 'cart' has 3 open transactions in 'shop'")
        .hasMessageContaining("of the 4 that there may be");
    assertThat(open.missing(cart, begin("other", 3, 0), 2)).as("in another one").isNull();
    assertThat(open.missing(writer("user", "a"), begin(4), 3)).as("another one").isNull();
    assertThat(open.missing(cart, begin(2), 4)).as("one that it has, once more").isNull();
    open.answered(begin(0), new Reply.Failure(ErrorCode.OVERLOADED, "not now"));
    assertThat(open.missing(cart, begin("shop", 5, 700), 5)).as("one was refused").isNull();
    assertThatThrownBy(() -> open.missing(cart, begin(6), 1_000_000_000L))
        .hasMessageContaining("has 3 open transactions");
    // Those of which nothing was heard are not open any more, and kept for some time.
    long later = 1_600_000_000L;
    for (int i = 6; i < 8; i++) {
      assertThat(open.missing(cart, begin(i), later)).isNull();
    }
    assertThatThrownBy(() -> open.missing(cart, begin(8), later))
        .as("one may have waited before it began")
        .hasMessageContaining("has 3 open transactions");
    assertThat(open.missing(cart, begin(8), later + 200_000_000L)).isNull();
    assertThat(open.size()).isEqualTo(8);
  }

  private static Request.Transact begin(int number) {
    return begin("shop", number, 0);
  }

  private static Request.Transact begin(String keyspace, int number, int waitMillis) {
    return new Request.Transact(
        keyspace,
        new TransactionId(number, 0),
        1,
        Optional.of(new Request.Begin(VersionVector.EMPTY, false, waitMillis, 1_000)),
        List.of(),
        List.of(),
        Request.End.OPEN);
  }

  // ---------------------------------------------------------------- users

  @Example
  void open_letsEverybodyDoEverything() {
    User anybody = Users.OPEN.find(Users.DEFAULT).orElseThrow();
    assertThat(Users.OPEN.isOpen()).isTrue();
    assertThat(RequestRights.missing(anybody, read(Key.of("a")))).isNull();
    assertThat(RequestRights.missing(anybody, write(Key.of("a")))).isNull();
    assertThat(RequestRights.missing(anybody, new Request.Backup(Optional.empty()))).isNull();
    assertThat(Users.OPEN.administrators()).isEmpty();
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
