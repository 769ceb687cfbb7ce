package io.osier.datacenter.copies;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a copy answers, and when it must not, in virtual time. */
final class CopiesTest extends CopyFixture {
  @Test
  void hotObject_isAnsweredFromACopy_andEachChangeIsTold() {
    copyOfN();
    Snapshot.Copies figures = ap.copies.figures();
    assertThat(figures.objects()).isEqualTo(1);
    assertThat(figures.hits()).isGreaterThan(50);
    assertThat(figures.bytes()).isPositive();
    assertThat(ap.copies.answers("shop", Key.of("n"))).isTrue();
    for (int i = 2; i < 20; i++) {
      Dot dot = world.increment("n");
      world.pass(CopyWorld.WAY_MILLIS + CopyWorld.HOLD_MILLIS + 2);
      assertThat(CopyWorld.count(requireNonNull(copied("n")))).as("within the bound").isEqualTo(i);
      assertThat(ap.shown("shop", 0).get(dot.replica()))
          .as("what another holder is asked for")
          .isGreaterThanOrEqualTo(dot.number());
    }
    Request.Read wrong = ofWrongType();
    assertThat(requireNonNull(ap.copies.answer(wrong, true)).reply())
        .as("as a holder says")
        .isInstanceOf(Reply.Failure.class);
    assertThat(ap.copies.answer(wrong, false)).as("behind what is under way").isNull();
  }

  /** Somebody here was shown more by a holder than the copy has. */
  @Test
  void copyThatIsOlderThanWhatWasShownHere_doesNotAnswer_untilItIsTold() {
    copyOfN();
    world.increment("n");
    assertThat(CopyWorld.count(requireNonNull(copied("n")))).as("not told yet").isEqualTo(1);
    assertThat(CopyWorld.count(ap.forwarded("n", VersionVector.EMPTY))).isEqualTo(2);
    assertThat(copied("n")).isNull();
    assertThat(ap.copies.figures().misses()).containsEntry("behind", 1L);
    world.pass(200);
    assertThat(CopyWorld.count(requireNonNull(copied("n")))).isEqualTo(2);
  }

  @Test
  void ownUpdate_isInWhatIsReadNext() {
    copyOfN();
    ap.incremented("n");
    assertThat(copied("n")).isNull();
    world.pass(200);
    assertThat(CopyWorld.count(requireNonNull(copied("n")))).isEqualTo(2);
    ap.incremented("other");
    assertThat(copied("n")).as("of another object").isNotNull();
  }

  /** Whatever says something of several keys is of each of them, also of those it renames to. */
  @Test
  void requestOfSeveralKeys_isInWhatIsReadOfEachNext_andOneOfAll_inWhatIsReadOfAny() {
    Key m = Key.of("m");
    Key n = Key.of("n");
    List<Request.Fetch> fetches =
        Stream.of(m, n)
            .map(key -> new Request.Fetch(key, Optional.empty(), new Query.Whole()))
            .toList();
    List<Request.Update> updates =
        Stream.of(m, n)
            .map(key -> new Request.Update(key, CrdtType.PN_COUNTER, new Operation.Increment(1)))
            .toList();
    for (String key : List.of("m", "n", "o")) {
      world.increment(key);
    }
    ap.heat("m", "n", "o");
    for (Request request :
        List.of(
            new Request.ReadAll("shop", fetches, VersionVector.EMPTY, false, 0),
            new Request.WriteAll("shop", updates, VersionVector.EMPTY, 0),
            program(new Call.Rename(m, n, false)),
            program(new Call.Copy(n, m, false)))) {
      Reply.Done done = new Reply.Done(world.increment("n"));
      Reply reply =
          request instanceof Request.Evaluate
              ? new Reply.Evaluated(true, Optional.of(done.dot()), List.of(done))
              : new Reply.All(List.of(done, done));
      ap.told(request, 0, reply, 20);
      assertThat(copied("m")).as("m, %s", request).isNull();
      assertThat(copied("n")).as("n, %s", request).isNull();
      assertThat(copied("o")).as("of another object").isNotNull();
      world.pass(200);
      assertThat(copied("m")).isNotNull();
    }
    scanShows(upTo(world.increment("n")));
    assertThat(copied("o")).isNull();
  }

  private static Request program(Call call) {
    return new Request.Evaluate("shop", List.of(call), List.of(), VersionVector.EMPTY, 0);
  }

  /** It says so once, and then takes this datacenter for the one that has all that it asked for. */
  @Test
  void sessionThatComesFromElsewhere_isAnsweredOnceTheCopyHasWhatItSaw() {
    world.increment("n");
    world.increment("m");
    ap.heat("n", "m");
    Dot seen = world.increment("other");
    assertThat(ap.copied("n", upTo(seen))).isNull();
    world.pass(3 * CopyWorld.WAY_MILLIS); // it was asked how far the holder is
    assertThat(ap.copied("n", upTo(seen))).isNotNull();
    assertThat(ap.shown("shop", 0).get(CopyWorld.EU)).isGreaterThanOrEqualTo(seen.number());

    long showings = ap.showings;
    assertThat(ap.copied("n", upTo(seen))).isNotNull();
    assertThat(ap.showings).as("it is noted once").isEqualTo(showings);

    Dot more = world.increment("m");
    assertThat(ap.copied("m", VersionVector.EMPTY)).as("a session that saw less").isNotNull();
    ap.forwarded("n", upTo(more)); // it has seen an update of m elsewhere
    assertThat(ap.copied("m", VersionVector.EMPTY)).as("and says it no more").isNull();
    world.pass(200);
    assertThat(CopyWorld.count(requireNonNull(ap.copied("m", VersionVector.EMPTY)))).isEqualTo(2);
  }

  /** What was shown before there was a copy is in what it shows. */
  @Test
  void copyThatBegins_hasWhatWasShownBefore() {
    world.increment("n");
    ap.shows("shop", 0, VersionVector.of(CopyWorld.EU, 100)); // by another holder
    ap.heat("n");
    assertThat(ap.copies.figures().objects()).isEqualTo(1);
    assertThat(copied("n")).isNull();
    for (int i = 0; i < 100; i++) {
      world.increment("other");
    }
    copied("n");
    world.pass(200);
    assertThat(copied("n")).isNotNull();
  }

  @Test
  void twoThatCopy_eachSeeWhatTheOtherWrote() {
    CopyWorld.Reader sa = world.new Reader("sa", SETTINGS);
    world.increment("n");
    for (int i = 0; i < 100; i++) {
      ap.read("n");
      sa.read("n");
      world.pass(100);
    }
    for (int i = 2; i < 10; i++) {
      (i % 2 == 0 ? ap : sa).incremented("n");
      assertThat(CopyWorld.count(ap.read("n"))).isEqualTo(i % 2 == 0 ? i : i - 1);
      world.pass(200);
      assertThat(CopyWorld.count(requireNonNull(ap.copied("n", VersionVector.EMPTY)))).isEqualTo(i);
      assertThat(CopyWorld.count(requireNonNull(sa.copied("n", VersionVector.EMPTY)))).isEqualTo(i);
    }
    ap.cut();
    assertThat(copied("n")).isNull();
    assertThat(sa.copied("n", VersionVector.EMPTY)).isNotNull();
  }

  @Test
  void whatExpires_isHiddenWhenItsTimeIsOver_whoeverRemovesIt() {
    world.set("k", "x");
    world.update("k", CrdtType.LWW_REGISTER, new Operation.Expire(world.millis() + 30_000, false));
    ap.heat("k");
    assertThat(((Reply.Answer) requireNonNull(copied("k"))).exists()).isTrue();
    while (world.millis() < 30_100) {
      ap.read("k");
      world.pass(100);
    }
    assertThat(((Reply.Answer) requireNonNull(copied("k"))).exists()).isFalse();
  }

  /** What is told in parts is not taken for all that there is. */
  @Test
  void moreThanOneAnswerHolds_isToldInSeveral() {
    String[] keys = IntStream.range(0, 30).mapToObj(i -> "k" + i).toArray(String[]::new);
    String text = "x".repeat(12_000);
    for (String key : keys) {
      world.set(key, text);
    }
    ap.heat(keys);
    for (String key : keys) {
      world.set(key, text + "new");
    }
    Dot last = world.increment("other");
    int answered = 0;
    for (int i = 0; i < 2_000; i++) {
      for (String key : keys) {
        Reply reply = ap.copied(key, upTo(last));
        if (reply instanceof Reply.Answer answer) {
          answered++;
          assertThat(answer.reading().toString()).contains("new");
        }
      }
      world.pass(1);
    }
    assertThat(answered).isPositive();
  }

  /** Commits are visible a while before they are told, as in a batch. */
  @Test
  void whatIsNotToldYet_isNotTakenForSeen() {
    copyOfN();
    world.tellsLater = true;
    Dot dot = world.increment("n");
    ap.copied("n", upTo(dot));
    world.pass(3 * CopyWorld.WAY_MILLIS);
    assertThat(CopyWorld.count(requireNonNull(ap.copied("n", upTo(dot))))).isEqualTo(2);
  }

  @Test
  void watcherOfAKey_isShownSomethingOfItsPartitionAlone() {
    copyOfN();
    WatchRequest.Place place =
        new WatchRequest.Place(1, 1, VersionVector.of(CopyWorld.EU, 1_000), Optional.empty());
    Request watch = new WatchRequest("shop", Optional.of(Key.of("n")), false, List.of(), false, 0);
    Reply changes = new Reply.Changes(List.of(), List.of(place), true);
    ap.told(watch, 1, changes, 10);
    assertThat(copied("n")).isNotNull();
    ap.told(watch, 0, changes, 10);
    assertThat(copied("n")).isNull();
  }

  /** No read here shows less than one before it, and own updates are seen, whatever happens. */
  @Test
  void randomly_noReadShowsLessThanWhatWasShown() {
    long hits = 0;
    for (long seed = 1; seed <= 60; seed++) {
      hits += randomly(seed, new CopyWorld());
    }
    assertThat(hits).isGreaterThan(10_000);
  }

  /** The runs above find a holder that says it has told more than it has. */
  @Test
  void randomly_holderThatBoasts_isFound() {
    CopyWorld boasting = new CopyWorld();
    boasting.boasts = true;
    assertThatThrownBy(() -> randomly(1, boasting)).hasMessageContaining("seed 1");
  }

  private static long randomly(long seed, CopyWorld world) {
    Random random = new Random(seed);
    CopyWorld.Reader reader = world.new Reader("ap", new CopySettings(6_000, 4, 1_000));
    Map<String, Long> shown = new HashMap<>();
    Map<String, Long> elsewhere = new HashMap<>();
    VersionVector after = VersionVector.EMPTY;
    for (int i = 0; i < 4_000; i++) {
      String key = "k" + random.nextInt(6);
      switch (random.nextInt(100)) {
        case 0 -> reader.cut();
        case 1, 2 -> reader.cut = false;
        case 3, 4, 5, 6 -> {
          reader.incremented(key);
          shown.put(key, world.count(key));
        }
        case 7, 8, 9 -> world.increment(key);
        case 10 -> { // by a session that comes here later
          after = upTo(world.increment(key));
          elsewhere.put(key, world.count(key));
        }
        case 11 -> world.tellsLater = random.nextBoolean();
        case 12 -> world.pass(random.nextInt(2_000));
        case 13 -> world.lateMillis = random.nextInt(200);
        default -> {
          boolean comes = random.nextInt(20) == 0; // and says what it has seen this once
          if (comes) {
            elsewhere.forEach((k, count) -> shown.merge(k, count, Math::max));
          }
          Reply reply = reader.read(key, comes ? after : VersionVector.EMPTY);
          if (reply instanceof Reply.Answer answer && answer.reading().isPresent()) {
            long read = CopyWorld.count(reply);
            assertThat(read)
                .as("seed %s, step %s, %s", seed, i, key)
                .isGreaterThanOrEqualTo(shown.getOrDefault(key, 0L));
            shown.put(key, read);
          }
        }
      }
      world.pass(random.nextInt(20));
    }
    return reader.copies.figures().hits();
  }

  /** Its questions wait there as the link breaks: that it refuses them says nothing of it. */
  @Test
  void copiesThatAHolderHasForgottenBeforeItHasToldAnything_beginAgainSoon() {
    world.increment("n");
    world.listens = false; // so it tells nothing yet
    ap.heat("n");
    world.followers.down("ap");
    world.listens = true;
    world.pass(CopyWorld.WAY_MILLIS);
    assertThat(copied("n")).isNull();
    ap.heat("n");
    assertThat(copied("n")).isNotNull();
  }
}
