package io.osier.datacenter.control;

import io.osier.crdt.Operation;
import io.osier.datacenter.control.HolderState.Removal;
import io.osier.datacenter.control.HolderState.Step;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Removes a datacenter from the holders of a keyspace that others go on to hold, as {@link
 * Departures} does for all keyspaces of a datacenter. Each step follows when all staying holders
 * have noted in {@code _osier} that they have taken the one before:
 *
 * <ol>
 *   <li>The leaving holder waits until the others can have heard of its removal, and then forwards
 *       requests. Once all its updates have spread, it notes that it is {@link Step#QUIET}.
 *   <li>A staying holder gets all data that any other holder had then, and so everything that was
 *       ever shown there and every right that was used. From then on it gives the leaving holder no
 *       share of new bounded counters ({@link Step#UNSHARED}).
 *   <li>It has every counter that names the leaving holder ({@link Step#AGREED}).
 *   <li>The leaving holder gives its rights away, notes that it is gone when the staying ones have
 *       that, and drops its data when the others can have heard of it.
 * </ol>
 *
 * <p>Two leaving holders cannot let each other go: a holder that has agreed was staying then, and
 * becomes quiet later than the one about which it has agreed. So at least one stays. A datacenter
 * that leaves the cluster agrees to nothing, and leaves when another holder of the keyspace stays.
 * Used by the control plane's thread.
 */
final class HolderRemovals {
  /**
   * How long a holder that was told to leave goes on serving: meanwhile the others stop asking it.
   */
  static final long NOTICE_MILLIS = 1_000;

  /** After this time a former holder's data is dropped, whoever has not heard of it. */
  static final long GONE_MILLIS = 30_000;

  private final String dc;
  private final MemberPlane members;
  private final LongSupplier millis;
  private final ControlHost host;

  /** When this process heard of a removal of this datacenter, or that it is gone. */
  private final Map<String, Long> since = new HashMap<>();

  /** Removals of this datacenter of which it may have told that it is quiet. */
  private final Set<String> quiet = new HashSet<>();

  /** Removals of others, to which this datacenter gives no share of new counters. */
  private final Set<String> unshared = new HashSet<>();

  /** The step for which data is compared with the others, by keyspace. */
  private final Map<String, String> comparing = new HashMap<>();

  /** The keyspaces that the host gives up. */
  private final Set<String> ceased = new HashSet<>();

  HolderRemovals(String dc, MemberPlane members, LongSupplier millis, ControlHost host) {
    this.dc = dc;
    this.members = members;
    this.millis = millis;
    this.host = host;
  }

  /** Forgets a keyspace that is no longer open. */
  void forget(String keyspace) {
    comparing.remove(keyspace);
    ceased.remove(keyspace);
    for (Set<String> keys : List.of(since.keySet(), quiet, unshared)) {
      keys.removeIf(key -> key.startsWith(keyspace + " ")); // one of that name may come
    }
  }

  private static String key(KeyspaceDefinition keyspace, String name) {
    HolderState of = keyspace.holders().of(name);
    return keyspace.name() + " " + name + " " + of.removal().map(Removal::id).orElse("");
  }

  /** Returns the holders that get no share of the rights of new counters. */
  Set<String> unshared(KeyspaceDefinition keyspace) {
    HolderSet holders = keyspace.holders();
    Set<String> names = new TreeSet<>(holders.those(HolderState::leaves));
    names.removeIf(
        name -> {
          HolderState of = holders.of(name);
          return !unshared.contains(key(keyspace, name)) && !of.has(Step.UNSHARED, dc);
        });
    return names;
  }

  /**
   * Returns whether no requests reach this datacenter any more: it has said that it is quiet, or
   * may have.
   */
  boolean isQuiet(KeyspaceDefinition keyspace) {
    HolderState self = keyspace.holders().of(dc);
    return self.removal().isPresent() && (self.isQuiet(dc) || quiet.contains(key(keyspace, dc)));
  }

  /**
   * Returns whether this datacenter's data of a keyspace that it no longer holds may be dropped.
   */
  boolean mayDrop(KeyspaceDefinition keyspace) {
    String key = keyspace.name() + " gone " + keyspace.holders().of(dc).term();
    long heard = since.computeIfAbsent(key, k -> millis.getAsLong());
    return host.isShipped() || millis.getAsLong() - heard > GONE_MILLIS;
  }

  /**
   * Takes the next steps.
   *
   * @param again runs when {@link #unshared} changes
   * @return the operations that tell it in {@code _osier}
   */
  List<Operation> step(KeyspaceDefinition keyspace, Runnable again) {
    HolderSet holders = keyspace.holders();
    HolderState self = holders.of(dc);
    if (self.isGone()) {
      return List.of();
    }
    List<Operation> notes = new ArrayList<>();
    if (self.leaves()) {
      leave(keyspace, notes);
      return notes;
    }
    if (self.removal().isEmpty()) {
      if (ceased.remove(keyspace.name())) {
        host.resume(keyspace.name());
      }
    } else if (mayStay(keyspace)) {
      notes.add(note(keyspace, dc, Step.STAYS));
    }
    if (members.goes()) {
      return notes; // a datacenter that leaves the cluster gives no word that others rely on
    }
    List<String> going =
        holders.those(HolderState::leaves).stream().filter(members.names()::contains).toList();
    if (unshare(keyspace, going, notes, again) && agree(keyspace, going, notes)) {
      comparing.remove(keyspace.name());
    }
    return notes;
  }

  /**
   * Returns whether this datacenter, which must stay, may take updates again. If it was quiet,
   * others may have stopped sharing rights with it, so they must be quiet, too.
   */
  private boolean mayStay(KeyspaceDefinition keyspace) {
    HolderSet holders = keyspace.holders();
    boolean isOne = members.isActive() && holders.of(dc).serves();
    return isOne
        && (!isQuiet(keyspace)
            || holders.those(of -> !of.isGone()).stream()
                .allMatch(other -> isQuiet(holders.of(other), other)));
  }

  /** Returns whether a datacenter takes no updates, if it leaves the keyspace or the cluster. */
  private boolean isQuiet(HolderState of, String other) {
    boolean goes = of.leaves() || members.membership().leaves(other);
    return !goes || of.isQuiet(other) || members.isQuiet(other);
  }

  /** Returns the holders that stay when one leaves. */
  private List<String> staying(HolderSet holders) {
    Set<String> present = members.names();
    return holders.those(of -> !of.isGone() && !of.leaves()).stream()
        .filter(present::contains)
        .toList();
  }

  private void leave(KeyspaceDefinition keyspace, List<Operation> notes) {
    HolderSet holders = keyspace.holders();
    HolderState self = holders.of(dc);
    String key = key(keyspace, dc);
    long heard = since.computeIfAbsent(key, k -> millis.getAsLong());
    boolean wasQuiet = self.isQuiet(dc);
    if (!wasQuiet && millis.getAsLong() - heard < NOTICE_MILLIS) {
      return;
    }
    ceased.add(keyspace.name());
    if (!host.cease(keyspace.name())) {
      return;
    }
    if (!wasQuiet) {
      quiet.add(key);
      notes.add(note(keyspace, dc, Step.QUIET));
      return;
    }
    List<String> stay = staying(holders);
    List<String> heirs =
        stay.stream()
            .filter(other -> holders.of(other).serves() && members.staying().contains(other))
            .toList();
    boolean agreed = stay.stream().allMatch(other -> self.has(Step.AGREED, other));
    if (agreed && !heirs.isEmpty() && host.giveAway(keyspace.name(), heirs)) {
      notes.add(holders.gone(keyspace.name(), dc, keyspace.created()));
    }
  }

  /** Returns the operation that notes this datacenter's step for the removal of a holder. */
  private Operation note(KeyspaceDefinition keyspace, String holder, Step step) {
    return keyspace.holders().note(keyspace.name(), holder, step, dc, keyspace.created());
  }

  /** Takes these steps; returns true if nothing is left to do. */
  private boolean unshare(
      KeyspaceDefinition keyspace, List<String> going, List<Operation> notes, Runnable again) {
    HolderSet holders = keyspace.holders();
    List<String> ready =
        going.stream()
            .filter(x -> holders.of(x).isQuiet(x) && !holders.of(x).has(Step.UNSHARED, dc))
            .toList();
    if (ready.isEmpty()) {
      return true;
    }
    Set<String> keys = ready.stream().map(x -> key(keyspace, x)).collect(Collectors.toSet());
    if (!unshared.containsAll(keys)) {
      if (hasCompared(keyspace, "unshare" + keys)) {
        unshared.addAll(keys);
        again.run();
      }
    } else if (host.isWhole(keyspace.name())) { // complete since the partitions were told
      ready.forEach(x -> notes.add(note(keyspace, x, Step.UNSHARED)));
    }
    return false;
  }

  private boolean agree(KeyspaceDefinition keyspace, List<String> going, List<Operation> notes) {
    HolderSet holders = keyspace.holders();
    List<String> stay = staying(holders);
    List<String> ready =
        going.stream()
            .filter(x -> !holders.of(x).has(Step.AGREED, dc))
            .filter(x -> stay.stream().allMatch(o -> holders.of(x).has(Step.UNSHARED, o)))
            .toList();
    if (ready.isEmpty()) {
      return true;
    }
    if (hasCompared(keyspace, "agree" + ready)) {
      ready.forEach(x -> notes.add(note(keyspace, x, Step.AGREED)));
    }
    return false;
  }

  /** Returns whether all data is here that the other holders had when this was first asked. */
  private boolean hasCompared(KeyspaceDefinition keyspace, String what) {
    if (!what.equals(comparing.put(keyspace.name(), what))) {
      host.compareAnew();
      return false;
    }
    return host.isWhole(keyspace.name());
  }
}
