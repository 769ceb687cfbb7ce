package io.osier.datacenter.control;

import io.osier.crdt.Operation;
import io.osier.datacenter.control.Member.Step;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What must have been done everywhere before the rights of a datacenter that goes fall to another
 * one: in bounded counters a right is held by one datacenter at each moment.
 *
 * <p>Each step follows when all who stay have noted in {@code _osier} that they have taken the one
 * before:
 *
 * <ol>
 *   <li>Who leaves takes no updates, and everybody has what it did ({@link Step#QUIET}). From who
 *       was given up nobody takes anything any more ({@link Step#PARTED}).
 *   <li>Each has all that any of the others knew then, and so every use of a right that counts.
 *       From then on it gives the one that goes no part of new counters ({@link Step#UNSHARED}).
 *       Not before: a counter that is created with two lists at once belongs to those in both.
 *   <li>Each has every counter that names it ({@link Step#AGREED}), and makes none of the same key
 *       without it.
 *   <li>Who leaves gives its rights away. Those of who was given up fall to the first by name of
 *       those that were active at the step before and hold the keyspace. All see the same one: they
 *       see all notes; and if that one goes in turn, they have what it had before the next one
 *       follows.
 * </ol>
 *
 * <p>If one that was given up is added again before that, it has its rights again. Used by the
 * control plane's thread.
 */
final class Departures {
  private final String dc;
  private final ControlHost host;

  /** Memberships to which this datacenter gives no part of new counters. */
  private final Set<String> unshared = new HashSet<>();

  /** For which step, and of whom, the others are compared with. */
  private String comparing = "";

  /** Whose rights the host takes over, or not, as far as this process was told. */
  private final Set<String> inherited = new HashSet<>();

  Departures(String dc, ControlHost host) {
    this.dc = dc;
    this.host = host;
  }

  /** Whether a member gets a part of the rights of new counters. */
  boolean shares(Membership membership, Member m) {
    return (m.isPresent() || m.state() == Member.State.REMOVED)
        && !(goes(membership, m) && isUnshared(membership, m));
  }

  private boolean isUnshared(Membership membership, Member m) {
    return unshared.contains(m.key())
        || membership.find(dc).filter(self -> m.has(Step.UNSHARED, self)).isPresent();
  }

  private static boolean goes(Membership membership, Member m) {
    return m.state() == Member.State.REMOVED || membership.leaves(m.name());
  }

  /** Those that go, but for this datacenter. */
  private List<Member> going(Membership membership) {
    return membership.all().values().stream()
        .filter(m -> goes(membership, m) && !m.name().equals(dc))
        .toList();
  }

  /**
   * Those whose notes are waited for. Who leaves does not wait for one that joins, which may never
   * come: that one takes no updates before it has done the same. Who was given up may have told it
   * something that nobody else knows.
   */
  private static List<Member> awaited(Membership membership, Member going) {
    boolean all = going.state() == Member.State.REMOVED;
    return membership.present().stream()
        .filter(m -> !m.name().equals(going.name()))
        .filter(m -> all || m.state() != Member.State.JOINING)
        .toList();
  }

  /** Whether all whom it concerns have taken a step. */
  static boolean haveAll(Membership membership, Member going, Step step) {
    return awaited(membership, going).stream().allMatch(m -> going.has(step, m));
  }

  /** Those whose next step is waited for, if one was given up and its rights are not divided. */
  List<String> awaitedFor(Membership membership, Member removed) {
    for (Step step : List.of(Step.PARTED, Step.UNSHARED, Step.AGREED)) {
      List<String> late =
          awaited(membership, removed).stream()
              .filter(m -> !removed.has(step, m))
              .map(Member::name)
              .toList();
      if (!late.isEmpty()) {
        return late;
      }
    }
    return List.of();
  }

  /** Whether this datacenter has done what is to be done before it may be active. */
  boolean areAgreed(Membership membership, Member self) {
    return going(membership).stream().allMatch(m -> m.has(Step.AGREED, self));
  }

  /**
   * Goes on.
   *
   * @param present whether the host replicates with those that are there, and with nobody else
   * @param again is run when {@link #shares} says something else than before
   * @return what is to be told
   */
  List<Operation> step(Membership membership, Member self, boolean present, Runnable again) {
    List<Member> going = going(membership);
    List<Operation> notes = new ArrayList<>();
    for (Member m : going) {
      boolean removed = m.state() == Member.State.REMOVED;
      if (removed && present && !m.has(Step.PARTED, self) && host.isComplete()) {
        notes.add(Membership.note(m, Step.PARTED, self));
      }
    }
    boolean done =
        unshare(membership, self, going, again, notes)
            && agree(membership, self, going, notes)
            && inherit(membership, self, going);
    if (done) {
      comparing = "";
    }
    return notes;
  }

  /** These steps: true if nothing is to be done. */
  private boolean unshare(
      Membership membership,
      Member self,
      List<Member> going,
      Runnable again,
      List<Operation> notes) {
    List<Member> ready =
        those(
            going,
            m ->
                !m.has(Step.UNSHARED, self)
                    && (m.state() == Member.State.REMOVED
                        ? haveAll(membership, m, Step.PARTED)
                        : m.has(Step.QUIET, m)));
    if (ready.isEmpty()) {
      return true;
    }
    if (!ready.stream().allMatch(m -> unshared.contains(m.key()))) {
      if (hasCompared("unshare", ready)) {
        ready.forEach(m -> unshared.add(m.key()));
        again.run();
      }
    } else if (host.isComplete()) { // since the partitions were told
      ready.forEach(m -> notes.add(Membership.note(m, Step.UNSHARED, self)));
    }
    return false;
  }

  private boolean agree(
      Membership membership, Member self, List<Member> going, List<Operation> notes) {
    List<Member> ready =
        those(going, m -> !m.has(Step.AGREED, self) && haveAll(membership, m, Step.UNSHARED));
    if (ready.isEmpty()) {
      return true;
    }
    if (hasCompared("agree", ready)) {
      for (Member m : ready) {
        notes.add(Membership.note(m, Step.AGREED, self));
        if (self.wasActive()) {
          notes.add(Membership.note(m, Step.MAY_INHERIT, self));
        }
      }
    }
    return false;
  }

  private boolean inherit(Membership membership, Member self, List<Member> going) {
    List<Member> removed = those(going, m -> m.state() == Member.State.REMOVED);
    // Whoever is gone may have had rights of another one that is: first all is known of both.
    boolean agreed = removed.stream().allMatch(m -> haveAll(membership, m, Step.AGREED));
    List<Member> ready = those(removed, m -> !inherited.contains(situation(membership, m)));
    boolean gives = membership.leaves(dc) && self.has(Step.QUIET, self);
    boolean may = self.wasActive() && !gives;
    if (!agreed || ready.isEmpty() || !may) {
      return true;
    }
    if (hasCompared("inherit", ready)) {
      for (Member m : ready) {
        if (host.inherit(new ControlHost.Estate(m.name(), m.id(), heirs(membership, m)))) {
          inherited.add(situation(membership, m));
        }
      }
    }
    return false;
  }

  /**
   * Whether this datacenter has taken over all that falls to it. It leaves after that: those that
   * join later inherit nothing.
   */
  boolean hasInherited(Membership membership) {
    return going(membership).stream()
        .filter(m -> m.state() == Member.State.REMOVED)
        .allMatch(m -> inherited.contains(situation(membership, m)));
  }

  /** What falls to this datacenter may be more than when it looked. */
  void lookAgain() {
    inherited.clear();
  }

  /** Those to whom a datacenter's rights may fall, the first of them that holds the keyspace. */
  private static List<String> heirs(Membership membership, Member removed) {
    return membership.present().stream()
        .filter(m -> removed.has(Step.MAY_INHERIT, m))
        .map(Member::name)
        .toList();
  }

  private static String situation(Membership membership, Member removed) {
    return removed.key() + heirs(membership, removed);
  }

  private static List<Member> those(List<Member> going, Predicate<Member> which) {
    return going.stream().filter(which).toList();
  }

  /** Whether all is here that the others had since this was asked first. */
  private boolean hasCompared(String step, List<Member> of) {
    String what = step + of.stream().map(Member::key).collect(Collectors.joining(","));
    if (!comparing.equals(what)) {
      comparing = what;
      host.compareAnew();
      return false;
    }
    return host.isComplete();
  }
}
