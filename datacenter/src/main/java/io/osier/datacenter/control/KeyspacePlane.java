package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane's part for keyspaces: opens, drops and configures them as {@code _osier} says,
 * and changes what it says. Used by the control plane's thread.
 */
final class KeyspacePlane {
  private static final Logger LOG = LoggerFactory.getLogger(KeyspacePlane.class);

  /** So many partitions may there be of all keyspaces when another one is created. */
  private static final int PARTITIONS_MAX = 512;

  private final String dc;
  private final Map<String, KeyspacePolicy> configured;
  private final LongSupplier millis;
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

  /** What the host was told last. */
  private Placement placement = Placement.NOTHING;

  private long lastCreatedMillis;

  /**
   * Of a datacenter that starts.
   *
   * @param configured the keyspaces that its configuration file names, here or elsewhere
   * @param members who may hold keyspaces
   */
  KeyspacePlane(
      String dc,
      Map<String, KeyspacePolicy> configured,
      LongSupplier millis,
      ControlObjects objects,
      MemberPlane members,
      ControlHost host) {
    this.dc = dc;
    this.configured = new TreeMap<>(configured);
    configured.values().stream()
        .filter(policy -> policy.heldBy(dc))
        .forEach(policy -> applied.put(policy.name(), policy));
    this.millis = millis;
    this.objects = objects;
    this.members = members;
    this.host = host;
    this.holders = new HolderPlane(dc, members, millis, host);
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
      HolderSet of = state.holders(policy);
      if (of.isGone(dc)) {
        applied.remove(policy.name());
      }
      terms.put(policy.name(), of.of(dc).term());
    }
    follow();
  }

  /** Those that the configuration has here and that are to be open at the start, as altered. */
  List<KeyspacePolicy> configuredHere() {
    return configured.values().stream()
        .filter(policy -> policy.heldBy(dc))
        .flatMap(policy -> Optional.ofNullable(applied.get(policy.name())).stream())
        .toList();
  }

  /** Takes what is there now. */
  void take(Reading.Fields keyspaces) {
    state = ControlState.of(keyspaces, configured.keySet(), members.names(), members.awaited());
  }

  /**
   * Deletes what the store has of keyspaces that are none any more.
   *
   * @return whether that could be done
   */
  boolean dropOthers() {
    if (!state.clashing().isEmpty()) {
      return false;
    }
    SortedMap<String, String> kept = state.creations();
    state.created().values().stream()
        .filter(k -> k.holders().isGone(dc))
        .map(KeyspaceDefinition::name)
        .forEach(name -> kept.remove(name));
    host.dropOthers(kept);
    return true;
  }

  /** Whether neither the configuration nor {@code _osier} names one. */
  boolean isEmpty() {
    return configured.isEmpty() && state.created().isEmpty();
  }

  /**
   * All that there are, with those that have what they hold: of the configuration as it names them,
   * of run time as they are now.
   */
  List<KeyspacePolicy> policies() {
    List<KeyspacePolicy> all = new ArrayList<>();
    configured.values().forEach(policy -> all.add(state.holders(policy).whole(policy)));
    state.created().values().forEach(k -> all.add(k.holders().whole(k.policy())));
    return all;
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
            boolean isNew = wanted.policy().heldBy(dc) && !wanted.isOpenAt(dc) && !of.catchesUp(dc);
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
    HolderSet of = state.holders(policy);
    KeyspacePolicy altered = state.altered(policy, members.names());
    if (applied.containsKey(name) && isOver(name, of)) {
      trying(name, () -> close(name, HolderSet.FROM_FILE));
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
        .forEach(
            policy -> all.add(state.holders(policy).whole(state.altered(policy, members.names()))));
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
        operations.addAll(holders.tells(policy, state.holders(policy), HolderSet.FROM_FILE));
      }
    }
    state.remains().forEach(name -> operations.add(ControlState.drop(name)));
    objects.tell(ControlState.KEYSPACES, operations, "which keyspaces are open here");
  }

  /** Keyspaces that should be here, and could not be opened. */
  List<String> missing() {
    return state.created().values().stream()
        .filter(k -> isHeldHere(k) && !k.created().equals(open.get(k.name())))
        .map(KeyspaceDefinition::name)
        .toList();
  }

  // ---------------------------------------------------------------- what an operator changes

  /**
   * Does what an operator asks for; as {@link ControlPlane#administer}. Where a creation fails with
   * what the keyspace's partition answers, the keyspace is open here: {@link #follow} drops it
   * again, unless it was told all the same.
   *
   * @return what was asked for; nothing if something was changed
   */
  List<KeyspaceView> administer(Request.Administer request, String by) {
    String name = request.name();
    switch (request.subject() + " " + request.action()) {
      case "keyspace list" -> {
        checkNone(request);
        return views();
      }
      case "keyspace create" -> create(name, request.settings(), by);
      case "keyspace alter" -> alter(name, request.settings(), by);
      case "keyspace drop" -> {
        checkNone(request);
        drop(name);
      }
      default ->
          throw new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              "there is no command '"
                  + request.subject()
                  + " "
                  + request.action()
                  + "'; there are keyspace list, create, alter, drop");
    }
    return List.of();
  }

  private static void checkNone(Request.Administer request) {
    if (!request.settings().isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "keyspace "
              + request.action()
              + " takes no settings, but "
              + request.settings().keySet()
              + " were given");
    }
  }

  private void create(String name, SortedMap<String, String> settings, String by) {
    KeyspacePolicy policy = KeyspaceSettings.read(name, settings, members.names());
    KeyspaceDefinition there = state.created().get(name);
    if (there != null) {
      // Perhaps this very command, sent again because its answer got lost.
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "there is a keyspace '"
              + name
              + "' already"
              + ControlPlane.changed(there.by(), there.atMillis())
              + (there.policy().equals(policy) ? ", with these very settings" : ""));
    }
    if (applied.containsKey(name) || state.creations().containsKey(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "there is a keyspace '" + name + "' already");
    }
    if (!host.isSettled() || !members.isActive()) {
      // It may have lost that there is one of this name: the new one would win, and lose the other.
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter "
              + dc
              + " may not know all keyspaces: it has not heard from every other one since it"
              + " started; create it when it has, or at another datacenter");
    }
    int partitions = policy.partitions();
    for (KeyspacePolicy other : applied.values()) {
      partitions += other.partitions();
    }
    if (partitions > PARTITIONS_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "with the "
              + policy.partitions()
              + " partitions of '"
              + name
              + "' there would be "
              + partitions
              + " of all keyspaces; at most "
              + PARTITIONS_MAX
              + " are created at run time, since each has a thread and its part of the memory");
    }
    List<String> awaited = policy.replicas().isEmpty() ? members.awaited() : policy.replicas();
    lastCreatedMillis = Math.max(lastCreatedMillis + 1, millis.getAsLong());
    String created = lastCreatedMillis + "-" + dc;
    // Opened before it is told: whoever learns of it may ask for it here at once.
    if (policy.heldBy(dc)) {
      host.open(policy, created, true, awaited);
      open.put(name, created);
      applied.put(name, policy);
    }
    change(List.of(ControlState.create(policy, created, awaited, dc, by, millis.getAsLong())));
  }

  private void alter(String name, SortedMap<String, String> settings, String by) {
    KeyspaceDefinition definition = state.created().get(name);
    KeyspacePolicy first =
        definition != null
            ? definition.policy()
            : Optional.ofNullable(configured.get(name)).orElseThrow(() -> unknown(name));
    KeyspacePolicy now =
        definition != null ? definition.policy() : state.altered(first, members.names());
    if (settings.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "nothing is to be altered; what can be is " + KeyspaceSettings.ALTERABLE + ", replicas");
    }
    for (String setting : settings.keySet()) {
      if (KeyspaceSettings.FIXED.contains(setting) && !setting.equals(KeyspaceSettings.REPLICAS)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            setting
                + " of a keyspace that exists cannot be altered; what can be is "
                + KeyspaceSettings.ALTERABLE
                + ", replicas");
      }
    }
    SortedMap<String, String> all = KeyspaceSettings.of(now);
    all.putAll(settings);
    HolderSet of = definition != null ? definition.holders() : state.holders(first);
    Set<String> known = new TreeSet<>(members.names());
    known.addAll(of.states().keySet()); // some may have left
    KeyspacePolicy asked = KeyspaceSettings.read(name, all, known);
    SortedMap<String, String> wanted = KeyspaceSettings.of(asked);
    wanted.keySet().retainAll(settings.keySet());
    Optional<String> created = Optional.ofNullable(definition).map(KeyspaceDefinition::created);
    List<Operation> operations = new ArrayList<>();
    if (wanted.remove(KeyspaceSettings.REPLICAS) != null) {
      HolderPlane.Change change =
          holders.altering(first, of, created.orElse(HolderSet.FROM_FILE), asked.replicas());
      wanted.putAll(change.registers());
      operations.addAll(change.flags());
    }
    operations.add(ControlState.alter(name, created, wanted, by, millis.getAsLong()));
    change(operations);
  }

  private void drop(String name) {
    if (configured.containsKey(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "keyspace '"
              + name
              + "' is named by the configuration files: it goes when it is taken out of all of"
              + " them, and each datacenter is restarted");
    }
    if (!state.created().containsKey(name)) {
      throw unknown(name);
    }
    change(List.of(ControlState.drop(name)));
  }

  private OsierException unknown(String name) {
    Set<String> names = new TreeSet<>(configured.keySet());
    names.addAll(state.created().keySet());
    return new OsierException(
        ErrorCode.UNKNOWN_KEYSPACE, "there is no keyspace '" + name + "'; there are " + names);
  }

  /** A keyspace as it is known now; empty if it is not. */
  List<KeyspaceView> views(String name) {
    return views().stream().filter(v -> v.name().equals(name)).toList();
  }

  private List<KeyspaceView> views() {
    return new KeyspaceViews(dc, members, host).of(configured.values(), state);
  }

  /** Commits changes of the keyspaces, together. */
  private void change(List<Operation> operations) {
    objects.change(ControlState.KEYSPACES, operations);
  }
}
