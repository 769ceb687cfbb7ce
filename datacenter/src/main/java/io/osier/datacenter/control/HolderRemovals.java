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
 * How a datacenter stops being a holder of a keyspace that others go on to hold, as {@link
 * Departures} has it for all that a datacenter holds. Each step follows when all who stay have
 * noted in {@code _osier} that they have taken the one before:
 *
 * <ol>
 *   <li>Who was told to go does so when the others can have heard of it: it forwards what is asked
 *       of it, and once everybody has all that it did, it notes that it is {@link Step#QUIET}.
 *   <li>Who stays gets all that any other one had then, and so all that was ever shown there and
 *       every right that was used. From then on it gives the one that goes no part of new bounded
 *       counters ({@link Step#UNSHARED}).
 *   <li>It has every counter that names the one that goes ({@link Step#AGREED}).
 *   <li>Who goes gives its rights away, notes that it has gone when those who stay have that, and
 *       drops what it has when the others can have heard of it.
 * </ol>
 *
 * <p>Who stays can never go on the word of another one that goes: whoever has agreed was staying
 * then, and is quiet later than the one that it has agreed about. So one stays of all. Who leaves
 * the cluster agrees to nothing, and leaves when another one holds the keyspace that was not told
 * to go. Used by the control plane's thread.
 */
final class HolderRemovals {
  /** So long one that was told to go serves on: the others stop asking it meanwhile. */
  static final long NOTICE_MILLIS = 1_000;

  /** After that what one had that has gone is dropped, whoever has not heard of it. */
  static final long GONE_MILLIS = 30_000;

  private final String dc;
  private final MemberPlane members;
  private final LongSupplier millis;
  private final ControlHost host;

  /** Since when this process knows of a removal of this one, or that it has gone. */
  private final Map<String, Long> since = new HashMap<>();

  /** Removals of this one of which it may have told that it is quiet. */
  private final Set<String> quiet = new HashSet<>();

  /** Removals of others, to whom this one gives no part of new counters. */
  private final Set<String> unshared = new HashSet<>();

  /** By keyspace, for which step the others are compared with. */
  private final Map<String, String> comparing = new HashMap<>();

  /** Keyspaces that the host gives up. */
  private final Set<String> ceased = new HashSet<>();

  HolderRemovals(String dc, MemberPlane members, LongSupplier millis, ControlHost host) {
    this.dc = dc;
    this.members = members;
    this.millis = millis;
    this.host = host;
  }

  /** A keyspace is not open any more. */
  void forget(String keyspace) {
    comparing.remove(keyspace);
    ceased.remove(keyspace);
    for (Set<String> keys : List.of(since.keySet(), quiet, unshared)) {
      keys.removeIf(key -> key.startsWith(keyspace + " ")); // their like may come again
    }
  }

  private static String key(String keyspace, String name, HolderState of) {
    return keyspace + " " + name + " " + of.removal().map(Removal::id).orElse("");
  }

  /** Those of its holders that get no part of the rights of new counters. */
  Set<String> unshared(String keyspace, HolderSet holders) {
    Set<String> names = new TreeSet<>(holders.those(HolderState::leaves));
    names.removeIf(
        name -> {
          HolderState of = holders.of(name);
          return !unshared.contains(key(keyspace, name, of)) && !of.has(Step.UNSHARED, dc);
        });
    return names;
  }

  /** Whether this one is asked nothing any more: it has said so, or may have. */
  boolean isQuiet(String keyspace, HolderSet holders) {
    HolderState self = holders.of(dc);
    return self.removal().isPresent()
        && (self.isQuiet(dc) || quiet.contains(key(keyspace, dc, self)));
  }

  /** Whether what this one had of a keyspace that it holds no more may be dropped. */
  boolean mayDrop(String keyspace, HolderSet holders) {
    String key = keyspace + " gone " + holders.of(dc).term();
    long heard = since.computeIfAbsent(key, k -> millis.getAsLong());
    return host.isShipped() || millis.getAsLong() - heard > GONE_MILLIS;
  }

  /**
   * Goes on.
   *
   * @param again is run when {@link #unshared} says something else than before
   * @return what is to be told
   */
  List<Operation> step(String keyspace, HolderSet holders, String creation, Runnable again) {
    HolderState self = holders.of(dc);
    if (self.isGone()) {
      return List.of();
    }
    List<Operation> notes = new ArrayList<>();
    if (self.leaves()) {
      leave(keyspace, holders, creation, notes);
      return notes;
    }
    if (self.removal().isEmpty()) {
      if (ceased.remove(keyspace)) {
        host.resume(keyspace);
      }
    } else if (mayStay(keyspace, holders)) {
      notes.add(holders.note(keyspace, dc, Step.STAYS, dc, creation));
    }
    if (members.goes()) {
      return notes; // who leaves the cluster gives no word that others go by
    }
    List<String> going =
        holders.those(HolderState::leaves).stream().filter(members.names()::contains).toList();
    if (unshare(keyspace, holders, creation, going, notes, again)
        && agree(keyspace, holders, creation, going, notes)) {
      comparing.remove(keyspace);
    }
    return notes;
  }

  /**
   * Whether this one, which must stay, may take updates again: if it was quiet, others may have
   * stopped to share with it, and must be so, too.
   */
  private boolean mayStay(String keyspace, HolderSet holders) {
    boolean isOne = members.isActive() && holders.of(dc).serves();
    return isOne
        && (!isQuiet(keyspace, holders)
            || holders.those(of -> !of.isGone()).stream()
                .allMatch(other -> isQuiet(holders.of(other), other)));
  }

  /** Whether one that goes, from the keyspace or from the cluster, takes no updates. */
  private boolean isQuiet(HolderState of, String other) {
    boolean goes = of.leaves() || members.membership().leaves(other);
    return !goes || of.isQuiet(other) || members.isQuiet(other);
  }

  /** Those that stay when one goes. */
  private List<String> staying(HolderSet holders) {
    Set<String> present = members.names();
    return holders.those(of -> !of.isGone() && !of.leaves()).stream()
        .filter(present::contains)
        .toList();
  }

  private void leave(String keyspace, HolderSet holders, String creation, List<Operation> notes) {
    HolderState self = holders.of(dc);
    String key = key(keyspace, dc, self);
    long heard = since.computeIfAbsent(key, k -> millis.getAsLong());
    boolean wasQuiet = self.isQuiet(dc);
    if (!wasQuiet && millis.getAsLong() - heard < NOTICE_MILLIS) {
      return;
    }
    ceased.add(keyspace);
    if (!host.cease(keyspace)) {
      return;
    }
    if (!wasQuiet) {
      quiet.add(key);
      notes.add(holders.note(keyspace, dc, Step.QUIET, dc, creation));
      return;
    }
    List<String> stay = staying(holders);
    List<String> heirs =
        stay.stream()
            .filter(other -> holders.of(other).serves() && members.staying().contains(other))
            .toList();
    boolean agreed = stay.stream().allMatch(other -> self.has(Step.AGREED, other));
    if (agreed && !heirs.isEmpty() && host.giveAway(keyspace, heirs)) {
      notes.add(holders.gone(keyspace, dc, creation));
    }
  }

  /** These steps: true if nothing is to be done. */
  private boolean unshare(
      String keyspace,
      HolderSet holders,
      String creation,
      List<String> going,
      List<Operation> notes,
      Runnable again) {
    List<String> ready =
        going.stream()
            .filter(x -> holders.of(x).isQuiet(x) && !holders.of(x).has(Step.UNSHARED, dc))
            .toList();
    if (ready.isEmpty()) {
      return true;
    }
    Set<String> keys =
        ready.stream().map(x -> key(keyspace, x, holders.of(x))).collect(Collectors.toSet());
    if (!unshared.containsAll(keys)) {
      if (hasCompared(keyspace, "unshare" + keys)) {
        unshared.addAll(keys);
        again.run();
      }
    } else if (host.isWhole(keyspace)) { // since the partitions were told
      ready.forEach(x -> notes.add(holders.note(keyspace, x, Step.UNSHARED, dc, creation)));
    }
    return false;
  }

  private boolean agree(
      String keyspace,
      HolderSet holders,
      String creation,
      List<String> going,
      List<Operation> notes) {
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
      ready.forEach(x -> notes.add(holders.note(keyspace, x, Step.AGREED, dc, creation)));
    }
    return false;
  }

  /** Whether all is here that the other holders had since this was asked first. */
  private boolean hasCompared(String keyspace, String what) {
    if (!what.equals(comparing.put(keyspace, what))) {
      host.compareAnew();
      return false;
    }
    return host.isWhole(keyspace);
  }
}
