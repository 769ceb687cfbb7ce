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
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane's part for keyspaces: opens, drops and configures them as {@code _osier} says.
 * Used by the control plane's thread.
 */
final class KeyspacePlane {
  private static final Logger LOG = LoggerFactory.getLogger(KeyspacePlane.class);

  private final String dc;
  private final Map<String, KeyspacePolicy> configured;
  private final ControlObjects objects;
  private final MemberPlane members;
  private final ControlHost host;
  private final HolderPlane holders;

  /** What the keyspaces that are open here are like, and of those of run time the creation. */
  private final Map<String, KeyspacePolicy> applied = new TreeMap<>();

  private final Map<String, String> open = new TreeMap<>();

  /** By keyspace that is open here, how often this datacenter was added to its holders again. */
  private final Map<String, Integer> terms = new TreeMap<>();

  /** What could not be done, so that it is said once. */
  private final Map<String, String> troubles = new TreeMap<>();

  private final LongAdder failed = new LongAdder();

  private ControlState state = ControlState.NOTHING;

  /**
   * What {@link #state} makes of those that the configuration names, by name: it is asked for at
   * every look, and another only where something was read. Who the members are is read with it.
   */
  private final Map<String, Told> told = new HashMap<>();

  private record Told(KeyspacePolicy altered, HolderSet holders) {}

  /** What the host was told last. */
  private Placement placement = Placement.NOTHING;

  /**
   * @param configured the keyspaces that its configuration file names, here or elsewhere
   * @param members who may hold keyspaces
   */
  KeyspacePlane(
      String dc,
      Map<String, KeyspacePolicy> configured,
      ControlObjects objects,
      MemberPlane members,
      HolderPlane holders,
      ControlHost host) {
    this.dc = dc;
    this.configured = new TreeMap<>(configured);
    configured.values().stream()
        .filter(policy -> policy.heldBy(dc))
        .forEach(policy -> applied.put(policy.name(), policy));
    this.objects = objects;
    this.members = members;
    this.host = host;
    this.holders = holders;
  }

  /** As {@link ControlPlane#recover}. */
  void recover(Reading.Fields keyspaces) {
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
    follow();
  }

  /**
   * Begins with those that the configuration has here, as altered: from now on they count as open.
   * What the store has of a later term than is known does not, and is followed once {@code _osier}
   * has come.
   *
   * @return what is to be opened
   */
  List<KeyspacePolicy> beginConfigured() {
    applied.values().removeIf(p -> configured.containsKey(p.name()) && !host.mayOpen(p));
    return configured.values().stream()
        .filter(policy -> policy.heldBy(dc))
        .flatMap(policy -> Optional.ofNullable(applied.get(policy.name())).stream())
        .toList();
  }

  /** Takes what is there now. */
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
   * Deletes what the store has of keyspaces that are none any more, or that others hold now.
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

  /** The creations that it holds no more, if not open: it may have ended before it dropped them. */
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

  /** What {@code _osier} says of them. */
  ControlState state() {
    return state;
  }

  /** Those that the configuration file names, here or elsewhere, by name. */
  Map<String, KeyspacePolicy> configured() {
    return configured;
  }

  /** Whether one is open here. */
  boolean isOpen(String keyspace) {
    return applied.containsKey(keyspace);
  }

  /** How many partitions those have that are open here. */
  int partitions() {
    return applied.values().stream().mapToInt(KeyspacePolicy::partitions).sum();
  }

  /** Opens one that is being created here, and is told afterwards. */
  void open(KeyspacePolicy policy, String created, List<String> awaited) {
    host.open(policy, created, true, awaited);
    open.put(policy.name(), created);
    applied.put(policy.name(), policy);
  }

  /** Whether neither the configuration nor {@code _osier} names one. */
  boolean isEmpty() {
    return configured.isEmpty() && state.created().isEmpty();
  }

  SortedMap<String, HolderSet> holders() {
    SortedMap<String, HolderSet> all = new TreeMap<>();
    configured.values().forEach(policy -> all.put(policy.name(), holders(policy)));
    state.created().values().forEach(k -> all.put(k.name(), k.holders()));
    return all;
  }

  /** What they are like, by name; their replicas are those that they began with. */
  SortedMap<String, KeyspacePolicy> policies() {
    SortedMap<String, KeyspacePolicy> all = new TreeMap<>();
    configured.values().forEach(k -> all.put(k.name(), told(k).altered()));
    state.created().values().forEach(k -> all.put(k.name(), k.policy()));
    return all;
  }

  /** Keyspaces for which this datacenter may not leave the cluster. */
  List<String> needing() {
    return holders().entrySet().stream()
        .filter(e -> holders.needs(e.getValue()))
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Opens, drops and configures keyspaces, so that they are as they should be. */
  void follow() {
    for (Map.Entry<String, String> e : List.copyOf(open.entrySet())) {
      if (!e.getValue().equals(state.creations().get(e.getKey()))) {
        trying(e.getKey(), () -> close(e.getKey(), e.getValue()));
      }
    }
    for (KeyspaceDefinition wanted : state.created().values()) {
      follow(wanted);
    }
    configured.values().forEach(this::followConfigured);
    place();
  }

  /** Drops what is open here of a keyspace. */
  private void close(String keyspace, String created) {
    host.drop(keyspace, created);
    open.remove(keyspace);
    applied.remove(keyspace);
    terms.remove(keyspace);
    holders.forget(keyspace);
  }

  private void follow(KeyspaceDefinition wanted) {
    String name = wanted.name();
    HolderSet of = wanted.holders();
    if (open.containsKey(name) && isOver(name, of)) {
      trying(name, () -> close(name, wanted.created()));
    }
    boolean isOpen = open.containsKey(name);
    if (isOpen || isHeldHere(wanted)) {
      trying(name, () -> holders.follow(wanted.policy(), of));
    }
    if (isHeldHere(wanted) && !isOpen) {
      trying(
          name,
          () -> {
            // Others may have data of what it could not read, or had not heard of, when it joined.
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

  /** Whether what is open here of a keyspace is to go, although others hold it. */
  private boolean isOver(String name, HolderSet of) {
    return of.isGone(dc)
        ? holders.mayDrop(name, of)
        : terms.getOrDefault(name, 0) < of.of(dc).term();
  }

  private boolean isHeldHere(KeyspaceDefinition keyspace) {
    return keyspace.holders().all(keyspace.policy()).heldBy(dc);
  }

  private void followConfigured(KeyspacePolicy policy) {
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
    if (isHeldHere && !isOpen) {
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

  /** Tells the host who holds what, if that is not what it was. */
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
        LOG.error("keyspace '{}' cannot be what it should be; it is tried again", keyspace, e);
      }
    }
  }

  /** How often a keyspace could not be made what it should be. For any thread. */
  long failed() {
    return failed.sum();
  }

  /** Tells the others what is open here, and removes what means nothing. */
  void tell() {
    List<Operation> operations = new ArrayList<>();
    for (KeyspaceDefinition wanted : state.created().values()) {
      boolean isOpen = wanted.created().equals(open.get(wanted.name()));
      // Who may have lost that another creation of the name has won must not help this one to
      // serve.
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

  /** Keyspaces that should be here, and could not be opened. */
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
