package io.osier.propagation.net.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.propagation.net.Greeting;
import io.osier.propagation.net.ProcessIdentity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/**
 * The version that two programs speak, whatever becomes of their dials: programs of one version or
 * of two, one of which may be upgraded, and between them a proxy that takes connections and closes
 * them.
 */
final class SpokenVersionProperties {
  private static final int NEW = PeerVersions.NEWEST;
  private static final int OLD = PeerVersions.OLDEST;
  private static final ReplicaId EU = new ReplicaId("eu", 100);
  private static final ReplicaId US = new ReplicaId("us", 200);

  /** After this many answered dials, the newest version is spoken that both know. */
  private static final int ANSWERS_MAX = NEW - OLD + 1;

  private enum Dial {
    CLOSED,
    HALF,
    UNREACHABLE,
    REFUSED,
    ANSWERED,
    GREETS_HERE,
    LOST,
    UPGRADED
  }

  /** Returns the other end's refusal of a greeting, if it refuses it. */
  private static Optional<PeerMessage.Refused> judged(PeerMessage.Hello hello, int version) {
    Greeting there = new Greeting(new ProcessIdentity(US, "c", 2, List.of(), version));
    return there.judge(hello, Set.of("eu"), Optional.empty(), Optional.empty());
  }

  @Property(tries = 2_000)
  void versionThatIsSpoken_isTheNewestThatBothKnow_howeverDialsEnd(
      @ForAll @Size(min = 1, max = 60) List<@IntRange(max = 7) Integer> dials,
      @ForAll @IntRange(min = 9, max = 10) int first,
      @ForAll long seed) {
    Random random = new Random(seed);
    List<String> log = new ArrayList<>();
    Greeting here = new Greeting(new ProcessIdentity(EU, "c", 1, List.of()));
    DialAttempts dialling = new DialAttempts(EU, NEW);
    int theirVersion = first;
    int answers = 0;
    int known = OLD;
    for (int number : dials) {
      Dial dial = Dial.values()[number];
      PeerMessage.Hello hello = here.hello("us", List.of(), dialling.version());
      log.add(dial + " in " + hello.protocolVersion());
      assertThat(hello.protocolVersion()).as("%s", log).isBetween(OLD, NEW);
      switch (dial) {
        case CLOSED, HALF -> {} // nothing is learned from it
        case UNREACHABLE -> dialling.failed("nobody listens");
        case REFUSED -> dialling.refused(refusal(random), OLD);
        case LOST -> {
          dialling.lost();
          answers = 0;
        }
        case UPGRADED -> {
          if (theirVersion < NEW) { // the former program's connections are lost with it
            theirVersion = NEW;
            dialling.lost();
            answers = 0;
          }
        }
        case GREETS_HERE -> here.heard(US, random.nextInt(4) > 0 ? theirVersion : OLD);
        case ANSWERED -> {
          answers++;
          Optional<PeerMessage.Refused> refused = judged(hello, theirVersion);
          if (refused.isPresent()) {
            dialling.refused(refused.get(), OLD);
          } else {
            dialling.welcomed(hello.protocolVersion());
            here.welcomed(US, hello.protocolVersion());
            assertThat(hello.protocolVersion()).as("%s", log).isEqualTo(theirVersion);
          }
          if (answers >= ANSWERS_MAX) {
            assertThat(dialling.version()).as("%s", log).isEqualTo(theirVersion);
          }
        }
      }
      assertThat(here.version("us")).as("%s", log).isBetween(known, theirVersion);
      known = here.version("us");
    }
  }

  /** Returns any refusal but one because of the version, which only the other end gives. */
  private static PeerMessage.Refused refusal(Random random) {
    ErrorCode[] codes = ErrorCode.values();
    ErrorCode code = codes[random.nextInt(codes.length)];
    return new PeerMessage.Refused(
        code == ErrorCode.VERSION_MISMATCH ? ErrorCode.CONFIGURATION : code, "no", 7);
  }

  /** A proxy that led to the former program answers for the new one. */
  @Property(tries = 500)
  void wordOfWhoIsGone_isTakenBack_whenTheNewestIsTriedBeside(
      @ForAll @Size(max = 20) List<@IntRange(max = 2) Integer> between) {
    Greeting here = new Greeting(new ProcessIdentity(EU, "c", 1, List.of()));
    DialAttempts dialling = new DialAttempts(EU, NEW);
    here.heard(US, NEW);
    dialling.refused(new PeerMessage.Refused(ErrorCode.VERSION_MISMATCH, "too new", 0), OLD);
    between.forEach(n -> dialling.failed("closed " + n));
    dialling.welcomed(dialling.version());
    here.welcomed(US, dialling.version());
    assertThat(dialling.isOlder()).as("so it is doubted").isTrue();
    assertThat(here.version("us")).as("it has greeted in the newest").isEqualTo(NEW);
    PeerMessage.Hello beside = here.hello("us", List.of(), NEW);
    assertThat(judged(beside, NEW)).isEmpty();
    dialling.welcomed(beside.protocolVersion());
    assertThat(dialling.isOlder()).isFalse();
    here.setTold(Map.of("us", NEW));
    assertThat(here.version("us")).isEqualTo(NEW);
  }
}
