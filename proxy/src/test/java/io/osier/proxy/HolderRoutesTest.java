package io.osier.proxy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.client.ClientSettings;
import io.osier.proxy.connection.Datacenters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Keyspaces that the nearest datacenter does not hold: {@code k} is everywhere, {@code carts} at eu
 * and us, and the client's nearest is ap.
 */
final class HolderRoutesTest {
  private static final Reply.KeyspaceInfo K = new Reply.KeyspaceInfo("k", 1_000, 1, false);
  private static final Reply.KeyspaceInfo CARTS = new Reply.KeyspaceInfo("carts", 500, 1, false);
  private static final Reply.KeyspaceInfo BY_TAG =
      new Reply.KeyspaceInfo("carts", 500, new Partitioning(4, Partitioning.Hash.TAG), false);
  private static final Map<String, String> ADDRESSES =
      Map.of("eu", "eu.example:7400", "us", "us.example:7400");

  private final Steps steps = new Steps();
  private final Far ap = new Far("ap", 1);
  private final Far eu = new Far("eu", 40);
  private final Far us = new Far("us", 80);

  /** What was dialled besides the endpoints. */
  private final List<String> dialled = new ArrayList<>();

  /** Says that a datacenter has come or gone. */
  private Runnable changed = () -> {};

  private Runnable measure = () -> {};

  private static Reply.Elsewhere elsewhere(Map<String, String> addresses, String... holders) {
    return new Reply.Elsewhere(
        List.of(new Reply.HeldElsewhere(CARTS, List.of(holders))), addresses);
  }

  private OsierClient client(Far... endpoints) {
    ap.elsewhere = elsewhere(ADDRESSES, "eu", "us");
    eu.keyspaces = List.of(K, CARTS);
    us.keyspaces = List.of(K, CARTS);
    OsierClient.Builder builder = OsierClient.builder().timeout(Duration.ofSeconds(1));
    List.of(endpoints).forEach(e -> builder.endpoint(e.dc(), e.dc() + ":1"));
    ClientSettings settings = builder.settings();
    Datacenters datacenters = new Datacenters(settings.endpoints(), settings.preferred());
    List.of(endpoints).forEach(datacenters::add);
    datacenters.setDialler(
        (dc, at) -> {
          dialled.add(dc + " at " + at);
          return dc.equals("eu") ? eu : us;
        });
    changed = datacenters::changed;
    measure = datacenters::measure;
    changed.run();
    return new OsierClient(new ClientCore(settings, steps, datacenters, () -> {}));
  }

  private void goes(Far down) {
    down.up = false;
    changed.run();
  }

  private void comes(Far up) {
    up.up = true;
    changed.run();
  }

  private static CompletableFuture<Void> increment(Session session, String keyspace) {
    return session.keyspace(keyspace).counter("c").incrementAsync(1);
  }

  private static CompletableFuture<Long> get(Session session, String keyspace) {
    return session.keyspace(keyspace).counter("c").getAsync();
  }

  private static VersionVector after(Far at) {
    return ((Request.Read) requireNonNull(at.open.peek()).request()).after();
  }

  private static OsierException errorOf(CompletableFuture<?> call) {
    assertThat(call).isDone();
    return (OsierException) requireNonNull(catchThrowable(call::join).getCause());
  }

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

  // ---------------------------------------------------------------- who is no endpoint

  @Test
  void holdersThatAreNoEndpoints_areDialled_whenTheyAreNeeded_andServeNothingElse() {
    OsierClient client = client(ap);
    Session session = client.session();
    eu.up = false;
    us.up = false;
    increment(session, "k");
    ap.isDone();
    assertThat(dialled).isEmpty();
    CompletableFuture<Void> call = increment(session, "carts");
    steps.pass(100);
    assertThat(dialled).containsExactlyInAnyOrder("eu at eu.example:7400", "us at us.example:7400");
    comes(us);
    steps.pass(20);
    us.isDone();
    assertThat(call).isCompleted();
    assertThat(client.status()).extracting(OsierClient.Status::dc).contains("ap", "eu", "us");
    goes(ap);
    CompletableFuture<Void> elsewhere = increment(session, "k");
    steps.pass(1_000);
    assertThat(errorOf(elsewhere).code()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(us.open).isEmpty();
    client.close();
    assertThat(us.up).isFalse();
  }

  @Test
  void endpointThatHoldsIt_isEnough_untilItIsDown() {
    Session session = client(ap, eu).session();
    increment(session, "carts");
    eu.isDone();
    assertThat(dialled).isEmpty();
    goes(eu);
    CompletableFuture<Void> call = increment(session, "carts");
    steps.pass(20);
    assertThat(dialled).containsExactly("us at us.example:7400");
    us.isDone();
    assertThat(call).isCompleted();
  }

  @Test
  void addressThatIsNew_isDialledInstead_andOneThatIsNoneNever() {
    Session session = client(ap).session();
    us.up = false;
    ap.elsewhere = elsewhere(Map.of("us", "nowhere"), "us");
    increment(session, "carts");
    steps.pass(1_000);
    assertThat(dialled).isEmpty();
    ap.elsewhere = elsewhere(Map.of("us", "old.example:1"), "us");
    increment(session, "carts");
    steps.pass(1_000);
    ap.whenAsked = () -> ap.elsewhere = elsewhere(Map.of("us", "new.example:1"), "us");
    CompletableFuture<Void> call = increment(session, "carts");
    steps.pass(1_000);
    assertThat(dialled).containsExactly("us at old.example:1", "us at new.example:1");
    assertThat(errorOf(call)).hasMessageContaining("us at new.example:1: no answer yet");
  }

  /** It was dropped and created anew by tag: what a connection was told first does not stay. */
  @Test
  void holderThatIsNoEndpoint_isAskedAgain_whatItHolds() {
    OsierClient client = client(ap);
    goes(eu);
    increment(client.session(), "carts");
    steps.pass(20);
    us.isDone();
    us.whenAsked = () -> us.keyspaces = List.of(K, BY_TAG);
    for (int i = 0; i < 30; i++) {
      measure.run();
    }
    assertThat(us.asked).isEqualTo(1);
    assertThat(us.keyspace("carts")).isEqualTo(BY_TAG);
  }

  /** One that was not asked since is asked; who has used the former one is told, as before. */
  @Test
  void holderThatTellsOfAFormerKeyspace_isAskedOnce() {
    OsierClient client = client(ap, eu, us);
    Session former = client.session();
    increment(former, "carts");
    eu.isDone();
    eu.keyspaces = List.of(K, BY_TAG);
    Session session = client.session();
    increment(session, "carts");
    eu.isDone();
    goes(eu);
    us.whenAsked = () -> us.keyspaces = List.of(K, BY_TAG);
    CompletableFuture<Void> call = increment(session, "carts");
    us.isDone();
    assertThat(call).isCompleted();
    assertThat(us.asked).isEqualTo(1);
    OsierException error = errorOf(increment(former, "carts"));
    assertThat(error.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(us.asked).as("once for each call").isEqualTo(2);
  }
}
