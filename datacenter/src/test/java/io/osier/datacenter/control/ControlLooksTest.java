package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The control plane looks all the time, and reads only what may be another than before. */
final class ControlLooksTest {
  private long clock = 1_000;
  private int asked;
  private int looked;
  private long recorded;
  private boolean tells = true;

  /** Whether nothing can be changed, and how often that was tried. */
  private boolean full;

  private int refused;

  /** Whether no keyspace can be opened, and how often that was tried. */
  private boolean closed;

  private int opened;

  /** Whether what is recorded is not counted yet. */
  private boolean late;

  private final OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
  private final OsierCopy us = new OsierCopy(new ReplicaId("us", 1), () -> ++clock);
  private final ControlPlane plane = plane(eu);
  private final ControlPlane other = plane(us);

  private ControlPlane plane(OsierCopy copy) {
    boolean isEu = copy == eu;
    ControlHost host =
        new StillHost(copy.replica().dc(), copy) {
          @Override
          public Reply ask(Request request, int timeoutMillis) {
            boolean changes = request instanceof Request.Transact;
            asked += isEu ? 1 : 0;
            if (isEu && full && changes) {
              refused++;
              return new Reply.Failure(ErrorCode.STORE_FULL, "the disk is full");
            }
            recorded += changes && !late ? 1 : 0;
            return super.ask(request, timeoutMillis);
          }

          @Override
          public void open(
              KeyspacePolicy policy, String created, boolean first, List<String> awaited) {
            opened += isEu ? 1 : 0;
            if (isEu && closed) {
              throw new IllegalStateException("the disk is full");
            }
          }

          @Override
          public void hinders(List<String> words) {
            looked += isEu ? 1 : 0;
          }

          @Override
          public int protocol(String name) {
            return 0; // nothing to be told
          }

          @Override
          public void setPeers(ControlHost.Peers changed) {}

          @Override
          public int protocolMin(String name) {
            return 0;
          }

          @Override
          public String clients() {
            return "";
          }

          @Override
          public OptionalLong recorded() {
            return isEu && tells ? OptionalLong.of(recorded) : OptionalLong.empty();
          }
        };
    SortedMap<String, Optional<String>> file = new TreeMap<>();
    List.of("eu", "us").forEach(dc -> file.put(dc, Optional.of(dc + ":1")));
    return new ControlPlane(copy.replica().dc(), file, Map.of(), () -> ++clock, host);
  }

  private int askedBy(Runnable step) {
    asked = 0;
    step.run();
    return asked;
  }

  private static void create(ControlPlane at, String name) {
    at.administer(new AdminRequest.Administer("keyspace", "create", name, new TreeMap<>()), "ada");
  }

  /** A disk may be full for hours, and there are four looks a second or more. */
  @Test
  void whatCannotBeTold_isTriedMoreAndMoreSeldom_andIsCounted_andToldInTheEnd() {
    assertThat(askedBy(plane::look)).isPositive();
    create(other, "carts");
    eu.hear(us);
    full = true;
    long began = clock;
    for (int looks = 0; looks < 1_000; looks++) {
      clock += 250;
      recorded++;
      plane.look();
    }
    assertThat(refused).isBetween(100, (int) (clock - began) / 1_000 + 10);
    assertThat(plane.refused()).isEqualTo(refused);
    full = false;
    clock += 2_000;
    recorded++;
    plane.look();
    us.hear(eu);
    other.look();
    assertThat(other.views("carts").getFirst().awaited()).isEmpty();
  }

  @Test
  void keyspaceThatCannotBeOpened_isTriedAgain_andIsCounted() {
    plane.look();
    create(other, "carts");
    eu.hear(us);
    closed = true;
    for (int looks = 0; looks < 100; looks++) {
      clock += 250;
      recorded++;
      plane.look();
    }
    assertThat(opened).isPositive();
    assertThat(plane.failedKeyspaces()).isEqualTo(opened);
    closed = false;
    clock += 2_000;
    recorded++;
    plane.look();
    assertThat(plane.failedKeyspaces()).isEqualTo(opened - 1);
  }

  @Test
  void nothingIsRead_untilSomethingWasRecorded() {
    assertThat(askedBy(plane::look)).isPositive();
    assertThat(askedBy(plane::look)).isZero();
    create(other, "carts");
    eu.hear(us);
    recorded++;
    assertThat(askedBy(plane::look)).isPositive();
    assertThat(plane.views("carts")).hasSize(1);
    assertThat(askedBy(plane::look)).isPositive(); // its own note, that it has opened it
    assertThat(askedBy(plane::look)).isZero();
  }

  @Test
  void whatWasChangedHere_isReadAtOnce() {
    plane.look();
    create(plane, "carts");
    assertThat(plane.views("carts")).hasSize(1);
  }

  /** It is known by what the commit was answered with. */
  @Test
  void whatWasChangedHere_isRead_alsoWhileItIsNotCounted() {
    plane.look();
    plane.look();
    late = true;
    create(plane, "carts");
    assertThat(plane.views("carts")).hasSize(1);
  }

  @Test
  void whereNothingIsRecorded_isReadEachTime() {
    tells = false;
    plane.look();
    assertThat(askedBy(plane::look)).isPositive();
  }

  private int lookedIn(int looks) {
    looked = 0;
    for (int i = 0; i < looks; i++) {
      plane.look();
    }
    return looked;
  }

  @Test
  void whereAllIsSteady_oneLookOfFourIsAWholeOne() {
    plane.look();
    assertThat(plane.isAtRest()).isFalse();
    assertThat(lookedIn(100)).isEqualTo(25);
    plane.look();
    assertThat(plane.isAtRest()).isTrue();
    recorded++;
    assertThat(lookedIn(1)).isEqualTo(1);
    assertThat(plane.isAtRest()).isFalse();
    plane.administerDatacenters(
        new AdminRequest.Administer("dc", "add", "ap", new TreeMap<>(Map.of("address", "ap:1"))),
        "ada");
    assertThat(lookedIn(100)).as("while ap joins").isEqualTo(100);
  }
}
