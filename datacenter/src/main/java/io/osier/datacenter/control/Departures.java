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
 * Takes the steps that all datacenters must take before the rights of a departing datacenter pass
 * to another one: in bounded counters a right is held by one datacenter at each moment.
 *
 * <p>A datacenter departs by leaving or by being removed as dead. Each step follows when all that
 * stay have noted in {@code _osier} that they have taken the one before:
 *
 * <ol>
 *   <li>A leaving datacenter takes no updates, and everybody has all its updates ({@link
 *       Step#QUIET}). Nobody takes anything from a removed one any more ({@link Step#PARTED}).
 *   <li>Each that stays has all data that any of the others had then, and so every use of a right
 *       that counts. From then on it gives the departing one no share of new counters ({@link
 *       Step#UNSHARED}). Not before: a counter that is created with two lists at once belongs to
 *       the datacenters in both.
 *   <li>Each has every counter that names the departing one ({@link Step#AGREED}), and makes none
 *       of the same key without it.
 *   <li>A leaving datacenter gives its rights away. Those of a removed one pass to the first by
 *       name of the datacenters that were active at the step before and hold the keyspace. All see
 *       the same heir, as they see all notes; and if the heir departs in turn, they have its data
 *       before the next heir follows.
 * </ol>
 *
 * <p>If a removed datacenter is added again before that, it has its rights again. Used by the
 * control plane's thread.
 */
final class Departures {
  private final String dc;
  private final ControlHost host;

  /** Memberships to which this datacenter gives no share of new counters. */
  private final Set<String> unshared = new HashSet<>();

  /** The step and the memberships for which data is compared with the others. */
  private String comparing = "";

  /** The removed datacenters whose rights the host was told to take over, or to leave alone. */
  private final Set<String> inherited = new HashSet<>();

  Departures(String dc, ControlHost host) {
    this.dc = dc;
    this.host = host;
  }

  /** Returns whether a member shares the rights of new counters. */
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

  /** Returns the departing members, except this datacenter. */
  private List<Member> going(Membership membership) {
    return membership.all().values().stream()
        .filter(m -> goes(membership, m) && !m.name().equals(dc))
        .toList();
  }

  /**
   * Returns the members whose notes are waited for. A leaving datacenter does not wait for a
   * joining one, which may never come, and takes no updates before it has taken the same steps. A
   * removed one may have told a joining one something that nobody else knows.
   */
  private static List<Member> awaited(Membership membership, Member going) {
    boolean all = going.state() == Member.State.REMOVED;
    return membership.present().stream()
        .filter(m -> !m.name().equals(going.name()))
        .filter(m -> all || m.state() != Member.State.JOINING)
        .toList();
  }

  /** Returns whether all members concerned have taken a step. */
  static boolean haveAll(Membership membership, Member going, Step step) {
    return awaited(membership, going).stream().allMatch(m -> going.has(step, m));
  }

  /**
   * Returns the members whose next step is waited for before a removed one's rights are divided.
   */
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

  /**
   * Returns whether this datacenter has taken the steps that it must take before it becomes active.
   */
  boolean areAgreed(Membership membership, Member self) {
    return going(membership).stream().allMatch(m -> m.has(Step.AGREED, self));
  }

  /**
   * Takes the next steps.
   *
   * @param present whether the host replicates with the present members, and with nobody else
   * @param again runs when {@link #shares} changes
   * @return the operations that tell it in {@code _osier}
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

  /** Takes these steps; returns true if nothing is left to do. */
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
    } else if (host.isComplete()) { // complete since the partitions were told
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
    // A removed datacenter may have had rights of another removed one: all must be known of both
    // first.
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
   * Returns whether this datacenter has taken over all rights of which it is the heir. It leaves
   * after that, and datacenters that join later inherit nothing.
   */
  boolean hasInherited(Membership membership) {
    return going(membership).stream()
        .filter(m -> m.state() == Member.State.REMOVED)
        .allMatch(m -> inherited.contains(situation(membership, m)));
  }

  /** Looks again for rights of which this datacenter may be the heir. */
  void lookAgain() {
    inherited.clear();
  }

  /** Returns the datacenters that may inherit, of which the first that holds a keyspace does. */
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

  /** Returns whether all data is here that the others had when this was first asked. */
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
