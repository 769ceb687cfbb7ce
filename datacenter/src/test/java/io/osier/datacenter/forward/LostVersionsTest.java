package io.osier.datacenter.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A holder has lost its memory: connections that were shown something of that go on. */
final class LostVersionsTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId EU_AGAIN = new ReplicaId("eu", 2);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final Request READ =
      new Request.Read(
          "shop", Key.of("k"), Optional.empty(), new Query.Whole(), VersionVector.EMPTY, false, 0);

  private final HolderChoice choice =
      new HolderChoice("ap", (keyspace, partition) -> VersionVector.EMPTY);
  private final Object lane = new Object();
  private String creation = "first";
  private List<String> holders = List.of("eu", "us");

  private Asks.Ask ask(String... up) {
    ForwardingHost.Held held = new ForwardingHost.Held(holders, Partitioning.byKey(1), creation);
    HolderChoice.Chosen to =
        (HolderChoice.Chosen) choice.choose(READ, "shop", held, List.of(up), lane, 0);
    Asks.Forms forms = new Asks.Forms(READ, to.request());
    Asks.Ask ask = new Asks.Ask(to.dc(), forms, lane, Optional.of(0), 0, 0, 1, reply -> {});
    choice.begins(ask, "shop");
    choice.ends(ask);
    return ask;
  }

  private static Reply showing(VersionVector seen) {
    return new Reply.Answer(Optional.empty(), Optional.empty(), false, seen);
  }

  @Test
  void whatIsLost_isNotAskedForAgain_andTheRestIs() {
    choice.up(EU);
    choice.up(US);
    choice.answered(EU, ask("eu"), showing(VersionVector.of(EU, 7).with(US, 3)), 0);
    choice.down("eu");
    choice.up(EU_AGAIN);

    Asks.Ask moved = ask("us");
    assertThat(moved.request().after()).isEqualTo(VersionVector.of(EU, 7).with(US, 3));
    Reply lost = new Reply.Failure(ErrorCode.SESSION_LOST, "lost");
    assertThat(choice.answered(US, moved, lost, 0)).as("its client is told").isEqualTo(lost);

    assertThat(ask("us").request().after()).isEqualTo(VersionVector.of(US, 3));
  }

  /** It has been added again as a holder before: its replica there has its term. */
  @Test
  void whatIsLost_ofALaterTerm_isNotAskedForAgain() {
    ReplicaId holder = HolderTerms.in(EU, Map.of("eu", 1));
    choice.up(EU);
    choice.up(US);
    choice.answered(EU, ask("eu"), showing(VersionVector.of(holder, 7).with(US, 3)), 0);
    choice.down("eu");
    choice.up(EU_AGAIN);
    choice.answered(US, ask("us"), new Reply.Failure(ErrorCode.SESSION_LOST, "lost"), 0);
    assertThat(ask("us").request().after()).isEqualTo(VersionVector.of(US, 3));
  }

  /** It was given up, and never comes back to say that it lives anew. */
  @Test
  void whatIsLost_withAHolderThatWasRemoved_isNotAskedForAgain() {
    choice.up(EU);
    choice.up(US);
    choice.answered(EU, ask("eu"), showing(VersionVector.of(EU, 7).with(US, 3)), 0);
    choice.down("eu");
    holders = List.of("us");
    choice.answered(US, ask("us"), new Reply.Failure(ErrorCode.SESSION_LOST, "lost"), 0);
    assertThat(ask("us").request().after()).isEqualTo(VersionVector.of(US, 3));
  }

  @Test
  void whatIsLost_isNotWaitedForAtOthersEither() {
    choice.up(EU);
    choice.up(US);
    choice.answered(EU, ask("eu"), showing(VersionVector.of(EU, 7).with(US, 3)), 0);
    choice.down("eu");
    choice.up(EU_AGAIN);
    choice.lost(new ProgressRequest.Spread("shop", 0, 0, choice.shown("shop", 0), 1, 0));
    assertThat(choice.shown("shop", 0)).isEqualTo(VersionVector.of(US, 3));
  }

  @Test
  void whatWasShown_ofAKeyspaceOfTheSameNameBeforeIt_isNotAskedFor() {
    choice.up(EU);
    choice.up(US);
    choice.answered(EU, ask("eu"), showing(VersionVector.of(EU, 7)), 0);
    assertThat(ask("us").request().after()).isEqualTo(VersionVector.of(EU, 7));
    creation = "second";
    assertThat(ask("us").request().after()).isEqualTo(VersionVector.EMPTY);
  }

  @Test
  void whatWasShownWhileItWasHeldHere_isWhatWasShown() {
    HolderChoice former = new HolderChoice("ap", (name, partition) -> VersionVector.of(US, 4));
    former.shows("shop", 0, VersionVector.of(EU, 7));
    assertThat(former.shown("shop", 0)).isEqualTo(VersionVector.of(EU, 7).with(US, 4));
  }

  @Test
  void whatPresentLivesHaveShown_isAskedFor_whateverIsLost() {
    choice.up(EU);
    choice.up(US);
    choice.answered(EU, ask("eu"), showing(VersionVector.of(EU, 7)), 0);
    choice.answered(US, ask("us"), new Reply.Failure(ErrorCode.SESSION_LOST, "lost"), 0);
    assertThat(ask("us").request().after()).isEqualTo(VersionVector.of(EU, 7));
  }
}
