package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane's part for keyspaces: opens, drops and configures them as {@code _osier}
 * demands. Used by the control plane's thread.
 */
final class KeyspacePlane {
  private static final Logger LOG = LoggerFactory.getLogger(KeyspacePlane.class);

  private final String dc;
  private final Map<String, KeyspacePolicy> configured;
  private final ControlObjects objects;
  private final MemberPlane members;
  private final ControlHost host;
  private final HolderPlane holders;

  /** The policies of the open keyspaces, and the creations of those made at run time. */
  private final Map<String, KeyspacePolicy> applied = new TreeMap<>();

  private final Map<String, String> open = new TreeMap<>();

  /** The term in which this datacenter has opened a keyspace, by keyspace. */
  private final Map<String, Integer> terms = new TreeMap<>();

  /** Errors that were logged, by keyspace, so that each is logged once. */
  private final Map<String, String> troubles = new TreeMap<>();

  private final LongAdder failed = new LongAdder();

  private ControlState state = ControlState.NOTHING;

  /**
   * What {@link #state} makes of those that the configuration names, by name: it is asked for at
   * every look, and another only where something was read. Who the members are is read with it.
   */
  private final Map<String, Told> told = new HashMap<>();

  private record Told(KeyspacePolicy altered, HolderSet holders) {}

  /** The placement that the host was told last. */
  private Placement placement = Placement.NOTHING;

  /**
   * @param file the keyspaces that its configuration file names, here or elsewhere; those with
   *     homes are created, and not what the file says
   * @param members who may hold keyspaces
   */
  KeyspacePlane(
      String dc,
      Map<String, KeyspacePolicy> file,
      ControlObjects objects,
      MemberPlane members,
      HolderPlane holders,
      ControlHost host) {
    this.dc = dc;
    this.configured = new TreeMap<>(file);
    configured.values().removeIf(policy -> !policy.partitioning().homes().isEmpty());
    configured.values().stream()
        .filter(policy -> policy.heldBy(dc))
        .forEach(policy -> applied.put(policy.name(), policy));
    this.objects = objects;
    this.members = members;
    this.host = host;
    this.holders = holders;
  }

  /**
   * As {@link ControlPlane#recover}.
   *
   * @param lacksRoom as {@link #follow} takes it
   */
  void recover(Reading.Fields keyspaces, Predicate<String> lacksRoom) {
    take(keyspaces);
    if (!state.clashing().isEmpty()) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.keyspaces."
              + state.clashing().getFirst()
              + ": a keyspace of this name was created at run time, and has its data: take it out"
              + " of the file, or drop the other one first (osier cli keyspace drop)");
    }
    for (KeyspacePolicy policy : configured.values()) {
      HolderSet of = holders(policy);
      if (of.isGone(dc)) {
        applied.remove(policy.name());
      }
      terms.put(policy.name(), of.of(dc).term());
    }
    gone().forEach((name, created) -> trying(name, () -> host.drop(name, created)));
    follow(lacksRoom);
  }

  /**
   * Counts the configuration's keyspaces that are held here, as altered, as open. A keyspace that
   * the store has in a later term than is known does not count, and is followed once {@code _osier}
   * has come.
   *
   * @return the keyspaces to open
   */
  List<KeyspacePolicy> beginConfigured() {
    applied.values().removeIf(p -> configured.containsKey(p.name()) && !host.mayOpen(p));
    return configured.values().stream()
        .filter(policy -> policy.heldBy(dc))
        .flatMap(policy -> Optional.ofNullable(applied.get(policy.name())).stream())
        .toList();
  }

  /** Takes the present contents of {@code _osier}. */
  void take(Reading.Fields keyspaces) {
    state = ControlState.of(keyspaces, configured.keySet(), members.names(), members.staying());
    told.clear();
  }

  private Told told(KeyspacePolicy policy) {
    return told.computeIfAbsent(
        policy.name(),
        name -> new Told(state.altered(policy, members.names()), state.holders(policy)));
  }

  private HolderSet holders(KeyspacePolicy configured) {
    return told(configured).holders();
  }

  /**
   * Deletes the stored data of keyspaces that were dropped, or that only others hold now.
   *
   * @return whether that could be done
   */
  boolean dropOthers() {
    if (!state.clashing().isEmpty()) {
      return false;
    }
    gone().forEach(host::drop);
    host.dropOthers(state.creations());
    return true;
  }

  /** Returns the creations no longer held here and not open, whose data may be stored. */
  private SortedMap<String, String> gone() {
    SortedMap<String, String> gone = new TreeMap<>();
    holders()
        .forEach(
            (name, of) -> {
              if (of.isGone(dc) && !applied.containsKey(name)) {
                gone.put(name, state.creations().getOrDefault(name, ControlHost.FROM_FILE));
              }
            });
    return gone;
  }

  /** Returns the keyspaces as {@code _osier} has them. */
  ControlState state() {
    return state;
  }

  /** Returns the keyspaces that the configuration file names, held here or elsewhere, by name. */
  Map<String, KeyspacePolicy> configured() {
    return configured;
  }

  /** Returns whether a keyspace is open here. */
  boolean isOpen(String keyspace) {
    return applied.containsKey(keyspace);
  }

  /** Returns how many partitions the keyspaces open here have. */
  int partitions() {
    return applied.values().stream().mapToInt(KeyspacePolicy::partitions).sum();
  }

  /** Opens a keyspace that is being created here, before the creation is announced. */
  void open(KeyspacePolicy policy, String created, List<String> awaited) {
    host.open(policy, created, true, awaited);
    open.put(policy.name(), created);
    applied.put(policy.name(), policy);
  }

  /** Returns whether neither the configuration nor {@code _osier} names a keyspace. */
  boolean isEmpty() {
    return configured.isEmpty() && state.created().isEmpty();
  }

  SortedMap<String, HolderSet> holders() {
    SortedMap<String, HolderSet> all = new TreeMap<>();
    configured.values().forEach(policy -> all.put(policy.name(), holders(policy)));
    state.created().values().forEach(k -> all.put(k.name(), k.holders()));
    return all;
  }

  /** Returns the policies by name; their replicas are the first ones. */
  SortedMap<String, KeyspacePolicy> policies() {
    SortedMap<String, KeyspacePolicy> all = new TreeMap<>();
    configured.values().forEach(k -> all.put(k.name(), told(k).altered()));
    state.created().values().forEach(k -> all.put(k.name(), k.policy()));
    return all;
  }

  /** Returns the keyspaces that keep this datacenter from leaving the cluster. */
  List<String> needing() {
    return holders().entrySet().stream()
        .filter(e -> holders.needs(e.getValue()))
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * Opens, drops and configures keyspaces, so that they are as they should be.
   *
   * @param lacksRoom whether one is not to be opened here, by its name
   */
  void follow(Predicate<String> lacksRoom) {
    for (Map.Entry<String, String> e : List.copyOf(open.entrySet())) {
      if (!e.getValue().equals(state.creations().get(e.getKey()))) {
        trying(e.getKey(), () -> close(e.getKey(), e.getValue()));
      }
    }
    for (KeyspaceDefinition wanted : state.created().values()) {
      follow(wanted, lacksRoom);
    }
    configured.values().forEach(policy -> followConfigured(policy, lacksRoom));
    place();
  }

  /** Drops an open keyspace here. */
  private void close(String keyspace, String created) {
    host.drop(keyspace, created);
    open.remove(keyspace);
    applied.remove(keyspace);
    terms.remove(keyspace);
    holders.forget(keyspace);
  }

  private void follow(KeyspaceDefinition wanted, Predicate<String> lacksRoom) {
    String name = wanted.name();
    HolderSet of = wanted.holders();
    if (open.containsKey(name) && isOver(name, of)) {
      trying(name, () -> close(name, wanted.created()));
    }
    boolean isOpen = open.containsKey(name);
    if (isOpen || isHeldHere(wanted)) {
      trying(name, () -> holders.follow(wanted.policy(), of));
    }
    if (isHeldHere(wanted) && !isOpen && !lacksRoom.test(name)) {
      trying(
          name,
          () -> {
            // If this datacenter was joining, others may have data of a creation that it had not
            // heard of.
            boolean isAwaited = wanted.members().contains(dc) || !members.isActive();
            boolean isNew =
                isAwaited
                    && wanted.policy().heldBy(dc)
                    && !wanted.isOpenAt(dc)
                    && !of.of(dc).catchesUp();
            host.open(wanted.policy(), wanted.created(), isNew, members.awaited(wanted));
            open.put(name, wanted.created());
            terms.put(name, of.of(dc).term());
            applied.put(name, wanted.policy());
          });
    }
    if (open.containsKey(name)) {
      host.await(name, members.awaited(wanted));
      configure(wanted.policy());
    }
  }

  /** Returns whether an open keyspace must be dropped here although others hold it. */
  private boolean isOver(String name, HolderSet of) {
    return of.isGone(dc)
        ? holders.mayDrop(name, of)
        : terms.getOrDefault(name, 0) < of.of(dc).term();
  }

  private boolean isHeldHere(KeyspaceDefinition keyspace) {
    return keyspace.holders().all(keyspace.policy()).heldBy(dc);
  }

  private void followConfigured(KeyspacePolicy policy, Predicate<String> lacksRoom) {
    String name = policy.name();
    HolderSet of = holders(policy);
    KeyspacePolicy altered = told(policy).altered();
    if (applied.containsKey(name) && isOver(name, of)) {
      trying(name, () -> close(name, ControlHost.FROM_FILE));
    }
    boolean isHeldHere = of.all(policy).heldBy(dc);
    boolean isOpen = applied.containsKey(name);
    if (isOpen || isHeldHere) {
      trying(name, () -> holders.follow(policy, of));
    }
    if (isHeldHere && !isOpen && !lacksRoom.test(name)) {
      trying(
          name,
          () -> {
            host.openConfigured(altered);
            terms.put(name, of.of(dc).term());
            applied.put(name, altered);
          });
    }
    if (applied.containsKey(name)) {
      configure(altered);
    }
  }

  /** Tells the host the placement of keyspaces if it has changed. */
  private void place() {
    List<KeyspacePolicy> all = new ArrayList<>();
    configured
        .values()
        .forEach(policy -> all.add(told(policy).holders().whole(told(policy).altered())));
    state.created().values().forEach(k -> all.add(k.holders().whole(k.policy())));
    Placement now = Placement.of(all, state.creations(), members.awaited());
    if (!now.equals(placement)) {
      host.setPlacement(now);
      placement = now;
    }
  }

  private void configure(KeyspacePolicy wanted) {
    if (!wanted.equals(applied.get(wanted.name()))) {
      trying(
          wanted.name(),
          () -> {
            host.configure(wanted);
            applied.put(wanted.name(), wanted);
          });
    }
  }

  private void trying(String keyspace, Runnable what) {
    try {
      what.run();
      troubles.remove(keyspace);
    } catch (RuntimeException e) {
      failed.increment();
      if (!String.valueOf(e.getMessage()).equals(troubles.put(keyspace, "" + e.getMessage()))) {
        LOG.error("keyspace '{}' cannot be changed as _osier asks; it is tried again", keyspace, e);
      }
    }
  }

  /** Returns how often a keyspace could not be brought into its state. For any thread. */
  long failed() {
    return failed.sum();
  }

  /** Tells the others which keyspaces are open here, and removes records without meaning. */
  void tell() {
    List<Operation> operations = new ArrayList<>();
    for (KeyspaceDefinition wanted : state.created().values()) {
      boolean isOpen = wanted.created().equals(open.get(wanted.name()));
      // A datacenter that may have lost the news of another winning creation must not help this one
      // to serve.
      if (isOpen && !wanted.isOpenAt(dc) && host.isSettled()) {
        operations.add(ControlState.opened(wanted.name(), dc, wanted.created()));
      }
      if (isOpen) {
        operations.addAll(holders.tells(wanted.policy(), wanted.holders(), wanted.created()));
      }
    }
    for (KeyspacePolicy policy : configured.values()) {
      if (applied.containsKey(policy.name())) {
        operations.addAll(holders.tells(policy, holders(policy), ControlHost.FROM_FILE));
      }
    }
    state.remains().forEach(name -> operations.add(ControlState.drop(name)));
    objects.tell(ControlState.KEYSPACES, operations, "which keyspaces are open here");
  }

  /** Returns the keyspaces that should be open here and could not be opened. */
  List<String> missing() {
    return Stream.concat(
            state.created().values().stream()
                .filter(k -> isHeldHere(k) && !k.created().equals(open.get(k.name())))
                .map(KeyspaceDefinition::name),
            configured.values().stream()
                .filter(k -> holders(k).all(k).heldBy(dc) && !isOpen(k.name()))
                .map(KeyspacePolicy::name))
        .toList();
  }
}
