package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane's part for keyspaces: opens, drops and configures them as {@code _osier}
 * demands. Used by the control plane's thread.
 */
final class KeyspacePlane {
  private static final Logger LOG = LoggerFactory.getLogger(KeyspacePlane.class);

  private final String dc;

  /** The keyspaces that the configuration file names, by name. */
  private final Map<String, KeyspacePolicy> files;

  private final ControlObjects objects;
  private final MemberPlane members;
  private final ControlHost host;
  private final HolderPlane holders;
  private final HomeAdditions additions;

  /** The open keyspaces, by name. */
  private final SortedMap<String, Open> open = new TreeMap<>();

  /**
   * An open keyspace.
   *
   * @param created its creation
   * @param policy as the host was told last
   * @param term of this datacenter as a holder, in which it was opened
   */
  private record Open(String created, KeyspacePolicy policy, int term) {
    boolean isOfFile() {
      return created.equals(ControlHost.FROM_FILE);
    }
  }

  /** Errors that were logged, by keyspace, so that each is logged once. */
  private final Map<String, String> troubles = new TreeMap<>();

  private final LongAdder failed = new LongAdder();

  private ControlState state;

  /** The placement that the host was told last. */
  private Placement placement = Placement.NOTHING;

  /**
   * Makes the control plane's part.
   *
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
      HomeAdditions additions,
      ControlHost host) {
    this.dc = dc;
    this.files = new TreeMap<>(file);
    files.values().removeIf(policy -> !policy.partitioning().homes().isEmpty());
    files.values().stream()
        .filter(policy -> policy.heldBy(dc))
        .forEach(policy -> open.put(policy.name(), new Open(ControlHost.FROM_FILE, policy, 0)));
    this.objects = objects;
    this.members = members;
    this.host = host;
    this.holders = holders;
    this.additions = additions;
    this.state = read(new Reading.Fields(new TreeMap<>()));
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
          ("osier.keyspaces.%s: a keyspace of this name was created at run time, and has"
                  + " its data: take it out of the file, or drop the other one first (osier cli"
                  + " keyspace drop)")
              .formatted(state.clashing().getFirst()));
    }
    for (KeyspaceDefinition known : state.configured().values()) {
      HolderSet of = known.holders();
      open.computeIfPresent(
          known.name(),
          (name, it) ->
              of.isGone(dc) ? null : new Open(it.created(), it.policy(), of.of(dc).term()));
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
    open.values().removeIf(it -> it.isOfFile() && !host.mayOpen(it.policy()));
    return open.values().stream()
        .filter(Open::isOfFile)
        .map(Open::policy)
        .filter(policy -> policy.heldBy(dc))
        .toList();
  }

  /** Takes the present contents of {@code _osier}. */
  void take(Reading.Fields keyspaces) {
    state = read(keyspaces);
  }

  private ControlState read(Reading.Fields keyspaces) {
    return ControlState.of(keyspaces, files, members.names(), members.staying());
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
    for (KeyspaceDefinition known : state.all()) {
      if (known.holders().isGone(dc) && !isOpen(known.name())) {
        gone.put(known.name(), known.created());
      }
    }
    return gone;
  }

  /** Returns the keyspaces as {@code _osier} has them. */
  ControlState state() {
    return state;
  }

  /** Returns whether a keyspace is open here. */
  boolean isOpen(String keyspace) {
    return open.containsKey(keyspace);
  }

  /** Returns how many partitions the keyspaces open here have. */
  int partitions() {
    return open.values().stream().mapToInt(it -> it.policy().partitions()).sum();
  }

  /** Opens a keyspace that is being created here, before the creation is announced. */
  void open(KeyspacePolicy policy, String created, List<String> awaited) {
    host.open(policy, created, true, awaited);
    open.put(policy.name(), new Open(created, policy, 0));
  }

  /** Returns whether neither the configuration nor {@code _osier} names a keyspace. */
  boolean isEmpty() {
    return state.all().isEmpty();
  }

  SortedMap<String, HolderSet> holders() {
    SortedMap<String, HolderSet> all = new TreeMap<>();
    state.all().forEach(known -> all.put(known.name(), known.holders()));
    return all;
  }

  /** Returns the policies by name; their replicas are the first ones. */
  SortedMap<String, KeyspacePolicy> policies() {
    SortedMap<String, KeyspacePolicy> all = new TreeMap<>();
    state.all().forEach(known -> all.put(known.name(), known.policy()));
    return all;
  }

  /** Returns the operations that begin to add homes; see {@link HomeAdditions#altering}. */
  List<Operation> altering(KeyspaceDefinition of, List<String> homes, String by) {
    return additions.altering(of, state, homes, partitions(), by);
  }

  /** Returns how far the addition of homes to a keyspace has come, in words; mostly empty. */
  String addition(KeyspaceDefinition of) {
    return additions.words(of);
  }

  /** Returns the keyspaces that keep this datacenter from leaving the cluster. */
  List<String> needing() {
    return state.all().stream()
        .filter(known -> holders.needs(known.holders()))
        .map(KeyspaceDefinition::name)
        .sorted()
        .toList();
  }

  /**
   * Opens, drops and configures keyspaces, so that they are as they should be.
   *
   * @param lacksRoom whether one is not to be opened here, by its name
   */
  void follow(Predicate<String> lacksRoom) {
    SortedMap<String, String> creations = state.creations();
    Map.copyOf(open)
        .forEach(
            (name, it) -> {
              if (!it.isOfFile() && !it.created().equals(creations.get(name))) {
                trying(name, () -> close(name, it.created()));
              }
            });
    state.all().forEach(wanted -> follow(wanted, lacksRoom));
    place();
  }

  /** Drops an open keyspace here. */
  private void close(String keyspace, String created) {
    host.drop(keyspace, created);
    open.remove(keyspace);
    holders.forget(keyspace);
  }

  private void follow(KeyspaceDefinition wanted, Predicate<String> lacksRoom) {
    String name = wanted.name();
    Open before = open.get(name);
    if (before != null && isOver(before, wanted)) {
      trying(name, () -> close(name, wanted.created()));
    }
    boolean isOpen = isOpen(name);
    boolean isHeldHere = isHeldHere(wanted);
    if (isOpen || isHeldHere) {
      trying(name, () -> holders.follow(wanted));
    }
    if (isHeldHere && !isOpen && !lacksRoom.test(name)) {
      trying(name, () -> open(wanted));
    }
    Open now = open.get(name);
    if (now != null) {
      if (!now.isOfFile()) {
        host.await(name, members.awaited(wanted));
      }
      configure(now, wanted.policy());
    }
  }

  /** Returns whether an open keyspace must be dropped here although others hold it. */
  private boolean isOver(Open it, KeyspaceDefinition wanted) {
    return wanted.holders().isGone(dc)
        ? holders.mayDrop(wanted)
        : it.term() < wanted.holders().of(dc).term();
  }

  private boolean isHeldHere(KeyspaceDefinition keyspace) {
    return keyspace.holders().all(keyspace.policy()).heldBy(dc);
  }

  private void open(KeyspaceDefinition wanted) {
    HolderState self = wanted.holders().of(dc);
    if (wanted.isOfFile()) {
      host.openConfigured(wanted.policy());
    } else {
      // If this datacenter was joining, others may have data of a creation that it had not heard
      // of.
      boolean isAwaited = wanted.members().contains(dc) || !members.isActive();
      boolean isNew =
          isAwaited && wanted.policy().heldBy(dc) && !wanted.isOpenAt(dc) && !self.catchesUp();
      host.open(wanted.policy(), wanted.created(), isNew, members.awaited(wanted));
    }
    open.put(wanted.name(), new Open(wanted.created(), wanted.policy(), self.term()));
  }

  /** Tells the host the placement of keyspaces if it has changed. */
  private void place() {
    List<KeyspacePolicy> all =
        state.all().stream().map(known -> known.holders().whole(known.policy())).toList();
    Placement now = Placement.of(all, state.creations(), members.awaited());
    if (!now.equals(placement)) {
      host.setPlacement(now);
      placement = now;
    }
  }

  private void configure(Open it, KeyspacePolicy wanted) {
    if (!wanted.equals(it.policy())) {
      trying(
          wanted.name(),
          () -> {
            host.configure(wanted);
            open.put(wanted.name(), new Open(it.created(), wanted, it.term()));
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
    for (KeyspaceDefinition wanted : state.all()) {
      if (wanted.homes().addition().isPresent() && isAsMeant(wanted.name())) {
        operations.addAll(additions.step(wanted, state));
      }
      // All must know a home that was added before it has keys: else they look for none there.
      boolean tellsElsewhere = wanted.isAddedHome() && !isHeldHere(wanted);
      // A datacenter that may have lost the news of another winning creation must not help this one
      // to serve.
      if ((isOpenAsMeant(wanted) || tellsElsewhere)
          && !wanted.isOfFile()
          && !wanted.isOpenAt(dc)
          && host.isSettled()
          && (!wanted.isAddedHome() || (!wanted.isBeingAdded() && isAsMeant(wanted.name())))) {
        operations.add(ControlState.opened(wanted.name(), dc, wanted.created()));
      }
      if (isOpenAsMeant(wanted)) {
        operations.addAll(holders.tells(wanted));
      }
    }
    state.remains().forEach(name -> operations.add(ControlState.drop(name)));
    objects.tell(ControlState.KEYSPACES, operations, "which keyspaces are open here");
  }

  /** Returns whether all of a keyspace's homes that are held here are open, with their policies. */
  private boolean isAsMeant(String keyspace) {
    String base = Homes.base(keyspace);
    return state.all().stream()
        .filter(known -> Homes.base(known.name()).equals(base))
        .allMatch(
            known -> {
              Open it = open.get(known.name());
              return it == null ? !isHeldHere(known) : it.policy().equals(known.policy());
            });
  }

  /** Returns the keyspaces that should be open here and could not be opened. */
  List<String> missing() {
    return state.all().stream()
        .filter(wanted -> isHeldHere(wanted) && !isOpenAsMeant(wanted))
        .map(KeyspaceDefinition::name)
        .toList();
  }

  /** Returns whether this creation of a keyspace is open here, and no other one. */
  private boolean isOpenAsMeant(KeyspaceDefinition wanted) {
    Open it = open.get(wanted.name());
    return it != null && it.created().equals(wanted.created());
  }
}
