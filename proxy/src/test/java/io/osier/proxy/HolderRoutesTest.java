package io.osier.proxy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which way calls of keyspaces go that the nearest datacenter does not hold. */
final class HolderRoutesTest extends HolderRoutesFixture {
  @Test
  void callGoesToTheNearestHolder_andWhatAllHoldToTheNearest() {
    Session session = client(ap, us, eu).session();
    CompletableFuture<Void> call = increment(session, "carts");
    eu.isDone();
    assertThat(call).isCompleted();
    CompletableFuture<Void> here = increment(session, "k");
    ap.isDone();
    assertThat(here).isCompleted();
    assertThat(us.open).isEmpty();
    assertThat(List.of(ap.asked, eu.asked, us.asked)).containsOnly(0);
    assertThat(dialled).isEmpty();
  }

  /** A session that uses both does not move between them: each has what it has seen there. */
  @Test
  void keyspacesOfDifferentHolders_haveADatacenterEach() {
    Session session = client(ap, eu, us).session();
    increment(session, "carts");
    eu.isDone();
    increment(session, "k");
    ap.isDone();
    for (int i = 0; i < 2; i++) {
      get(session, "carts");
      assertThat(after(eu)).isEqualTo(VersionVector.EMPTY);
      eu.open.remove();
      get(session, "k");
      assertThat(after(ap)).isEqualTo(VersionVector.EMPTY);
      ap.open.remove();
    }
  }

  @Test
  void holderThatIsDown_isReplacedByAnother_whichIsAskedForWhatTheSessionHasSeen() {
    Session session = client(ap, eu, us).session();
    increment(session, "carts");
    eu.isDone();
    increment(session, "k");
    ap.isDone();
    goes(eu);
    get(session, "carts");
    assertThat(after(us)).isEqualTo(VersionVector.of(eu.replica(), 1));
    get(session, "k");
    assertThat(after(ap)).as("nothing has moved there").isEqualTo(VersionVector.EMPTY);
    comes(eu);
    get(session, "carts");
    assertThat(after(eu)).isEqualTo(VersionVector.of(eu.replica(), 1));
  }

  @Test
  void holderThatRefuses_isLeftForTheOtherAtOnce_andNotForOneThatHoldsNothing() {
    Session session = client(ap, eu, us).session();
    CompletableFuture<Void> call = increment(session, "carts");
    eu.fails(ErrorCode.SHUTTING_DOWN);
    steps.pass(0);
    us.fails(ErrorCode.UNAVAILABLE);
    steps.pass(0);
    assertThat(ap.open).isEmpty();
    steps.pass(20); // all were tried: it begins again
    eu.isDone();
    assertThat(call).isCompleted();
  }

  @Test
  void noHolderInReach_isUnavailable_andTheHoldersAreNamed() {
    Session session = client(ap, eu).session();
    ap.elsewhere = elsewhere(Map.of(), "eu", "us");
    goes(eu);
    CompletableFuture<Void> call = increment(session, "carts");
    assertThat(call).isNotDone();
    steps.pass(1_000);
    OsierException error = errorOf(call);
    assertThat(error.code()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(error)
        .hasMessageContaining("keyspace 'carts' is held by eu, us, of which none can be reached")
        .hasMessageContaining("eu at eu:1: ")
        .hasMessageContaining("us: its address is not known here");
    assertThat(ap.asked).as("whether others hold it now").isEqualTo(1);
    assertThat(ap.open).isEmpty();
  }

  /** The nearest asks a holder then; it is told all that the session has seen, each time. */
  @Test
  void noHolderInReach_isForwarded_alwaysBehindWhatTheSessionHasSeen() {
    Session session = client(ap, eu).session();
    ap.elsewhere = elsewhere(Map.of(), "eu");
    increment(session, "carts");
    eu.isDone();
    goes(eu);
    CompletableFuture<Long> early = get(session, "carts");
    assertThat(ap.open).as("it may yet come").isEmpty();
    eu.trouble = "connection refused";
    steps.pass(20);
    VersionVector seen = VersionVector.of(eu.replica(), 1);
    assertThat(after(ap)).isEqualTo(seen);
    ap.answers(1, VersionVector.of(us.replica(), 7));
    assertThat(early).isCompletedWithValue(1L);
    int asked = ap.asked;
    get(session, "carts");
    assertThat(after(ap)).as("another holder may be asked").isEqualTo(seen.with(us.replica(), 7));
    ap.fails(ErrorCode.UNAVAILABLE);
    assertThat(ap.open).as("not at once").isEmpty();
    assertThat(ap.asked).as("who holds it, for each call").isEqualTo(asked);
    comes(eu);
    steps.pass(20);
    assertThat(after(eu)).isEqualTo(seen.with(us.replica(), 7));
    eu.answers(1, seen.with(us.replica(), 7));
    get(session, "carts");
    assertThat(after(eu)).as("of one who has it all").isEqualTo(VersionVector.EMPTY);
  }

  @Test
  void endpointThatForwardsInVain_isOneOfTheReasons_andPinnedSessionsAreNotForwarded() {
    OsierClient client = client(ap, eu);
    ap.elsewhere = elsewhere(Map.of(), "eu");
    goes(eu);
    eu.trouble = "connection refused";
    CompletableFuture<Void> call = increment(client.session(), "carts");
    while (!call.isDone()) {
      ap.fails(ErrorCode.UNAVAILABLE);
      steps.pass(400);
    }
    assertThat(errorOf(call).code()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(errorOf(call))
        .hasMessageContaining("eu at eu:1: connection refused")
        .hasMessageContaining("as the test wants");
    Session pinned = client.session(SessionOptions.DEFAULT.at("ap"));
    assertThat(errorOf(increment(pinned, "carts")).code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(client.inspectAsync(Request.Topic.HOT, "carts", 3)).isNotDone();
    assertThat(ap.open).as("what is asked of a holder itself").isEmpty();
  }

  @Test
  void keyspaceThatNobodyHas_isUnknown_onceAllHaveSaidSo() {
    Session session = client(ap, eu, us).session();
    CompletableFuture<Void> call = increment(session, "cart");
    OsierException error = errorOf(call);
    assertThat(error.code()).isEqualTo(ErrorCode.UNKNOWN_KEYSPACE);
    assertThat(error).hasMessageContaining("no keyspace 'cart'");
    assertThat(List.of(ap.asked, eu.asked, us.asked)).containsOnly(1);
  }

  @Test
  void keyspaceThatWasCreatedSince_isFoundByAsking_alsoWhereTheNearestHasNotHeardOfIt() {
    Session session = client(ap, eu, us).session();
    ap.elsewhere = Reply.Elsewhere.NOTHING;
    eu.keyspaces = List.of(K);
    us.keyspaces = List.of(K);
    us.whenAsked = () -> us.keyspaces = List.of(K, CARTS);
    CompletableFuture<Void> call = increment(session, "carts");
    us.isDone();
    assertThat(call).isCompleted();
    assertThat(List.of(ap.asked, eu.asked, us.asked)).containsOnly(1);
  }

  @Test
  void holderThatHasNotOpenedItYet_isTriedAgainLater() {
    Session session = client(ap, eu).session();
    eu.keyspaces = List.of(K);
    CompletableFuture<Void> call = increment(session, "carts");
    steps.pass(10);
    assertThat(call).isNotDone();
    assertThat(eu.open).isEmpty();
    eu.whenAsked = () -> eu.keyspaces = List.of(K, CARTS);
    steps.pass(200);
    eu.isDone();
    assertThat(call).isCompleted();
  }

  /** Nobody has told the client; who was asked says so, and who holds it instead. */
  @Test
  void holderThatHoldsItNoLonger_isAskedWhoDoes_andTheCallGoesThere() {
    Session session = client(ap, eu, us).session();
    increment(session, "carts");
    eu.isDone();
    eu.whenAsked =
        () -> {
          eu.keyspaces = List.of(K);
          eu.elsewhere = elsewhere(ADDRESSES, "us");
        };
    CompletableFuture<Void> call = increment(session, "carts");
    eu.fails(ErrorCode.UNKNOWN_KEYSPACE);
    Request.Write write = (Request.Write) requireNonNull(us.open.peek()).request();
    assertThat(write.after()).isEqualTo(VersionVector.of(eu.replica(), 1));
    us.isDone();
    assertThat(call).isCompleted();
    get(session, "carts");
    assertThat(us.open).hasSize(1);
    assertThat(eu.open).isEmpty();
    assertThat(eu.asked).isEqualTo(1);
  }

  @Test
  void holderThatSaysBoth_isNotAskedForEver() {
    Session session = client(ap, eu).session();
    CompletableFuture<Void> call = increment(session, "carts");
    eu.fails(ErrorCode.UNKNOWN_KEYSPACE);
    eu.fails(ErrorCode.UNKNOWN_KEYSPACE);
    assertThat(errorOf(call).code()).isEqualTo(ErrorCode.UNKNOWN_KEYSPACE);
  }

  @Test
  void holderThatWasAdded_isUsedOnceTheEndpointsAreAskedAgain() {
    OsierClient client = client(ap, eu, us);
    increment(client.session(), "carts");
    eu.isDone();
    ap.whenAsked =
        () -> {
          ap.keyspaces = List.of(K, CARTS);
          ap.elsewhere = Reply.Elsewhere.NOTHING;
        };
    for (int i = 0; i < 30; i++) {
      measure.run();
    }
    CompletableFuture<Void> call = increment(client.session(), "carts");
    ap.isDone();
    assertThat(call).isCompleted();
    assertThat(List.of(ap.asked, eu.asked, us.asked)).containsOnly(1);
  }

  @Test
  void sessionThatIsPinnedWhereItIsNotHeld_isToldWhoHoldsIt() {
    OsierClient client = client(ap, eu, us);
    Session session = client.session(SessionOptions.DEFAULT.at("ap"));
    OsierException error = errorOf(increment(session, "carts"));
    assertThat(error.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(error)
        .hasMessageContaining("ap, where this session is pinned, does not hold keyspace 'carts'")
        .hasMessageContaining("eu, us");
    assertThat(errorOf(increment(session, "cart")).code()).isEqualTo(ErrorCode.UNKNOWN_KEYSPACE);
    session.pin("us");
    CompletableFuture<Void> call = increment(session, "carts");
    us.isDone();
    assertThat(call).isCompleted();
  }

  /** Its name tells nothing of its homes: they may be others once it was dropped and created. */
  @Test
  void callOfAHomeThatIsNoneAnyMore_goesWhereItsKeyIsNow() {
    Session session = client(eu).session();
    eu.keyspaces = List.of(WITH_HOME, HOME);
    eu.whenAsked = () -> eu.keyspaces = List.of(homed("carts", "sa"));
    CompletableFuture<Void> call = session.keyspace("carts").counter("ap:c").incrementAsync(1);
    assertThat(keyspaceAsked()).isEqualTo("carts@ap");
    eu.fails(ErrorCode.UNKNOWN_KEYSPACE);
    assertThat(keyspaceAsked()).isEqualTo("carts");
    eu.isDone();
    assertThat(call).isCompleted();
  }

  private String keyspaceAsked() {
    return ((Request.Write) requireNonNull(eu.open.peek()).request()).keyspace();
  }

  /** Its rows would be sent again with each page, and thrown away. */
  @Test
  void scan_asksAHomeAgain_onlyWhenItsRowsCome() {
    Session session = client(eu).session();
    eu.keyspaces = List.of(WITH_HOME, HOME);
    List<String> shown = new ArrayList<>();
    session
        .keyspace("carts")
        .publish(Scan.all().pageRows(1))
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
              }

              @Override
              public void onNext(Keyspace.Row row) {
                shown.add(row.key().toString());
              }

              @Override
              public void onError(Throwable error) {
                throw new AssertionError(error);
              }

              @Override
              public void onComplete() {}
            });
    List<String> asked = new ArrayList<>();
    while (!eu.open.isEmpty()) {
      Far.Sent sent = eu.open.remove();
      ScanRequest scan = (ScanRequest) sent.request();
      asked.add(scan.keyspace());
      sent.answered().answered(page(scan));
    }
    assertThat(shown).containsExactly("ap:1", "ap:2", "ap:3", "z");
    assertThat(asked).filteredOn("carts"::equals).as("at first, and for its row").hasSize(2);
  }

  private static Reply.Page page(ScanRequest scan) {
    List<Reply.Row> rows =
        (scan.keyspace().equals("carts") ? Stream.of("z") : Stream.of("ap:1", "ap:2", "ap:3"))
            .map(Key::of)
            .filter(key -> scan.from().isEmpty() || key.compareTo(scan.from().get()) >= 0)
            .map(key -> new Reply.Row(key, CrdtType.EW_FLAG, new Reading.Flag(true)))
            .toList();
    return new Reply.Page(
        rows.stream().limit(1).toList(),
        rows.stream().skip(1).findFirst().map(Reply.Row::key),
        List.of(VersionVector.EMPTY));
  }
}
