package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.propagation.net.link.DialAttempts;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerVersions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class GreetingTest {
  private static final ReplicaId EU = new ReplicaId("eu", 100);
  private static final ReplicaId US = new ReplicaId("us", 200);
  private static final int NEW = PeerVersions.NEWEST;
  private static final int OLD = PeerVersions.OLDEST;
  private static final Set<String> PEERS = Set.of("us");

  private final Greeting greeting = new Greeting(process(EU));

  private static ProcessIdentity process(ReplicaId replica) {
    return new ProcessIdentity(replica, "test", 7, List.of());
  }

  private static PeerMessage.Hello hello(ReplicaId from) {
    return new Greeting(process(from)).hello("eu", List.of(), PeerVersions.NEWEST);
  }

  private Optional<ErrorCode> judged(PeerMessage.Hello hello, Optional<ReplicaId> connected) {
    return greeting.judge(hello, PEERS, connected, Optional.empty()).map(PeerMessage.Refused::code);
  }

  /** Datacenters are upgraded one by one. */
  @Test
  void oldestVersion_isStillWelcome_andTheOneBeforeItIsNot() {
    Greeting us = new Greeting(process(US));
    int oldest = PeerVersions.OLDEST;
    assertThat(judged(us.hello("eu", List.of(), oldest), Optional.empty())).isEmpty();
    assertThat(judged(us.hello("eu", List.of(), oldest - 1), Optional.empty()))
        .contains(ErrorCode.VERSION_MISMATCH);
  }

  @Test
  void oneProcessOfEachName_atATime() {
    ReplicaId newer = new ReplicaId("us", 201);
    assertThat(judged(hello(US), Optional.empty())).isEmpty();
    greeting.met(US);
    assertThat(judged(hello(US), Optional.of(US))).as("its new connection").isEmpty();
    assertThat(judged(hello(newer), Optional.of(US))).contains(ErrorCode.DUPLICATE_DC);
    assertThat(judged(hello(newer), Optional.empty())).isEmpty();
  }

  @Test
  void dials_areNumbered_whoeverIsDialled() {
    int version = PeerVersions.NEWEST;
    assertThat(greeting.hello("us", List.of(), version).dial()).isEqualTo(1);
    assertThat(greeting.hello("ap", List.of(), version).dial()).isEqualTo(2);
    assertThat(greeting.hello("us", List.of(), version).dial()).isEqualTo(3);
  }

  /** Other datacenters have forgotten removals that it does not know. */
  @Test
  void incarnationThatWasGivenUp_isRefusedWithWhatHelps_andANewOneIsNot() {
    greeting.setIncarnationsMin(Map.of("us", US.incarnation() + 1));
    PeerMessage.Refused refused =
        greeting.judge(hello(US), PEERS, Optional.empty(), Optional.empty()).orElseThrow();
    assertThat(refused.code()).isEqualTo(ErrorCode.NOT_A_MEMBER);
    assertThat(refused.message()).contains("'us'", "osier rebuild");
    ReplicaId rebuilt = new ReplicaId("us", US.incarnation() + 1);
    assertThat(judged(hello(rebuilt), Optional.empty())).isEmpty();
    assertThat(greeting.givenUp(rebuilt)).isEmpty();
  }

  @Test
  void whoWasRemoved_isRefusedWithWhatHelps_andForgotten() {
    greeting.met(US);
    greeting.heard(US, PeerVersions.NEWEST);
    greeting.forgetOthers(PEERS);
    assertThat(greeting.version("us")).as("still a peer").isEqualTo(PeerVersions.NEWEST);
    PeerMessage.Refused refused =
        greeting.judge(hello(US), Set.of("ap"), Optional.empty(), Optional.empty()).orElseThrow();
    assertThat(refused.code()).isEqualTo(ErrorCode.CONFIGURATION);
    assertThat(refused.message())
        .isEqualTo(
            "datacenter 'us' is not among the peers [ap] of eu: it stands in no configuration file"
                + " here and was not added; run 'osier cli dc add us ADDRESS' at a datacenter of"
                + " the cluster to add it; if it was added there before, eu does not know of it (an"
                + " old backup, an empty store): name it under osier.peers of eu, and restart"
                + " that");
    greeting.setIncarnationsMin(Map.of("us", Long.MAX_VALUE));
    PeerMessage.Refused removed =
        greeting.judge(hello(US), Set.of("ap"), Optional.empty(), Optional.empty()).orElseThrow();
    assertThat(removed.code()).isEqualTo(ErrorCode.NOT_A_MEMBER);
    assertThat(removed.message()).contains("was removed", "osier rebuild", "osier cli dc add");
    greeting.setIncarnationsMin(Map.of());
    greeting.forgetOthers(Set.of("ap"));
    assertThat(greeting.version("us")).as("not heard").isEqualTo(PeerVersions.OLDEST);
    assertThat(judged(hello(new ReplicaId("us", 199)), Optional.empty())).isEmpty();
  }

  @Test
  void whoWasNeverHeard_countsAsOneOfTheOldestVersion() {
    assertThat(greeting.version("us")).isEqualTo(OLD);
    greeting.setTold(Map.of("us", NEW));
    assertThat(greeting.version("us")).isEqualTo(NEW);
  }

  @Test
  void greetingOfTheSameProcessInAnOlderVersion_unlearnsNothing() {
    greeting.heard(US, NEW);
    greeting.heard(US, OLD);
    assertThat(greeting.version("us")).isEqualTo(NEW);
    greeting.welcomed(US, NEW);
    greeting.heard(US, OLD);
    greeting.heard(new ReplicaId("us", US.incarnation() - 1), OLD);
    assertThat(greeting.version("us")).isEqualTo(NEW);
    greeting.heard(new ReplicaId("us", US.incarnation() + 1), OLD);
    assertThat(greeting.version("us")).as("another life").isEqualTo(OLD);
  }

  /**
   * The former program runs again on the same store: it refuses the newest version, and greets in
   * the older one.
   */
  @Test
  void whoSpeaksTheOlderVersionBothWays_isOfTheOlderVersion() {
    greeting.setTold(Map.of("us", NEW));
    greeting.heard(US, NEW);
    greeting.welcomed(US, NEW);
    greeting.heard(US, OLD);
    greeting.welcomed(US, OLD);
    assertThat(greeting.version("us")).isEqualTo(OLD);
    greeting.setTold(Map.of("us", NEW));
    assertThat(greeting.version("us")).as("nothing new was told").isEqualTo(OLD);
    greeting.heard(US, NEW);
    assertThat(greeting.version("us")).as("it was upgraded").isEqualTo(NEW);
  }

  /** The datacenter was upgraded while it could not be reached from here. */
  @Test
  void whoTellsANewerVersionThanItSpokeBefore_isOfThatVersion() {
    greeting.heard(US, OLD);
    greeting.welcomed(US, OLD);
    greeting.setTold(Map.of("us", NEW));
    assertThat(greeting.version("us")).isEqualTo(NEW);
  }

  @Test
  void longName_isLetInOnceAllOthersCanReadIt_andNeverInAVersionThatCannot() {
    ReplicaId named = new ReplicaId("northamerica-northeast1", 5);
    Set<String> all = Set.of("us", "ap", named.dc(), "southamerica-east1");
    PeerMessage.Hello hello = new Greeting(process(named)).hello("eu", List.of(), NEW);
    greeting.heard(US, NEW);
    greeting.setTold(Map.of("ap", OLD));
    PeerMessage.Refused refused =
        greeting.judge(hello, all, Optional.empty(), Optional.empty()).orElseThrow();
    assertThat(refused.code().retryable()).isTrue();
    assertThat(refused.message()).contains("'ap' speaks version 9", named.dc(), "upgrade it first");
    greeting.setTold(Map.of("ap", NEW));
    assertThat(greeting.judge(hello, all, Optional.empty(), Optional.empty())).isEmpty();
    PeerMessage.Hello former = new Greeting(process(US)).hello(named.dc(), List.of(), OLD);
    Greeting there = new Greeting(process(named));
    assertThat(there.judge(former, Set.of("us"), Optional.empty(), Optional.empty()))
        .map(PeerMessage.Refused::code)
        .contains(ErrorCode.VERSION_MISMATCH);
  }

  /**
   * The named datacenter was added before it was started, or is dead: a reconnect would otherwise
   * cut replication for ever.
   */
  @Test
  void besideALongName_whoWasNeverHeardIsNotInTheWay_andIsRefusedInAnOlderVersion() {
    ReplicaId named = new ReplicaId("northamerica-northeast1", 5);
    Set<String> all = Set.of("us", named.dc());
    PeerMessage.Hello hello = new Greeting(process(named)).hello("eu", List.of(), NEW);
    assertThat(greeting.judge(hello, all, Optional.empty(), Optional.empty())).isEmpty();
    PeerMessage.Hello former = new Greeting(process(US)).hello("eu", List.of(), OLD);
    greeting.welcomed(named, NEW);
    assertThat(greeting.judge(former, all, Optional.empty(), Optional.empty()))
        .as("whoever is let in first stays")
        .isEmpty();
    greeting.heard(named, NEW);
    PeerMessage.Refused refused =
        greeting.judge(former, all, Optional.empty(), Optional.empty()).orElseThrow();
    assertThat(refused.code()).isEqualTo(ErrorCode.VERSION_MISMATCH);
    assertThat(refused.message()).contains("beside the name '" + named.dc() + "'");
    assertThat(greeting.judge(former, PEERS, Optional.empty(), Optional.empty())).isEmpty();
    assertThat(greeting.oldest(all)).isEqualTo(PeerVersions.LONG_NAMES);
    assertThat(greeting.oldest(PEERS)).isEqualTo(OLD);
  }

  @Test
  void olderIncarnation_isToldTheNewest() {
    greeting.met(US);
    greeting.met(new ReplicaId("us", 150));
    PeerMessage.Refused refused =
        greeting
            .judge(hello(new ReplicaId("us", 199)), PEERS, Optional.empty(), Optional.empty())
            .orElseThrow();
    assertThat(refused.newest()).isEqualTo(200);
  }

  /**
   * A datacenter came back after a crash that no peer had noticed yet, was dialled, and dialled
   * itself: it was told that it was in its own way, and stopped for good.
   */
  @Test
  void newIncarnationThatWasDialled_isToldOfTheConnectionThatLingers() {
    ReplicaId newer = new ReplicaId("us", 201);
    greeting.met(US);
    greeting.met(newer);
    PeerMessage.Refused refused =
        greeting.judge(hello(newer), PEERS, Optional.of(US), Optional.empty()).orElseThrow();
    assertThat(refused.newest()).isEqualTo(200);
    assertThat(new DialAttempts(newer, NEW).refused(refused, OLD))
        .as("the process must hear of it")
        .isFalse();
  }
}
