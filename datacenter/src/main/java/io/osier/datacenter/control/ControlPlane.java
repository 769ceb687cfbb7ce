package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.UserRecords;
import io.osier.datacenter.access.UserView;
import io.osier.datacenter.control.view.DatacenterView;
import io.osier.datacenter.control.view.KeyspaceView;
import io.osier.datacenter.control.view.MissingKeyspaces;
import io.osier.datacenter.placement.PlacementHost;
import io.osier.datacenter.placement.PlacementSettings;
import io.osier.datacenter.placement.PlacementView;
import io.osier.protocol.AdminRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.SortedMap;
import java.util.function.LongSupplier;

/**
 * Brings a datacenter into the state that the keyspace {@code _osier} demands, and changes {@code
 * _osier} for operators. Works in steps, in one thread: {@link ControlLoop}'s, or a test's.
 */
public final class ControlPlane {
  /**
   * How many looks in a row are left out while nothing was recorded and no datacenter joins, leaves
   * or is gone: only failed work would be tried again.
   */
  private static final int SKIPPED_MAX = 3;

  /** The object of {@code _osier} with the keyspaces. */
  public static final ObjectId KEYSPACES = ControlState.KEYSPACES;

  /** The object of {@code _osier} with the datacenters. */
  public static final ObjectId DATACENTERS = Membership.OBJECT;

  private final String dc;
  private final ControlHost host;
  private final ControlObjects objects;
  private final MemberPlane members;
  private final MemberCommands memberCommands;
  private final KeyspacePlane keyspaces;
  private final KeyspaceCommands keyspaceCommands;
  private final KeyspaceCreation creation;
  private final PlacementPlane placement;
  private final UserPlane users;

  private long changes = -1;

  /**
   * The value of {@link ControlHost#recorded} before {@link #changes} was read; empty if unknown.
   */
  private OptionalLong recorded = OptionalLong.empty();

  /** How many looks were left out since the last one. */
  private int skipped;

  /** Whether {@code _osier} names the datacenters. */
  private boolean namesDatacenters;

  /**
   * Whether {@code _osier} was read after it was settled, so that the data of keyspaces that were
   * dropped while this process did not run is deleted.
   */
  private boolean cleaned;

  /** Whether this process has made sure that at least one user may change users. */
  private boolean letIn;

  /** The keyspaces of the file that are not known to exist yet. */
  private volatile MissingKeyspaces missing = MissingKeyspaces.NOTHING;

  /**
   * @param datacenters the addresses of all datacenters that the configuration file names, by name;
   *     this one's own is empty
   * @param configured the keyspaces that the configuration file names, held here or elsewhere
   * @param millis the wall clock
   */
  public ControlPlane(
      String dc,
      SortedMap<String, Optional<String>> datacenters,
      Map<String, KeyspacePolicy> configured,
      LongSupplier millis,
      ControlHost host) {
    this(dc, datacenters, configured, millis, host, PlacementSettings.DEFAULT, PlacementHost.NONE);
  }

  /**
   * The control plane of a datacenter with keyspaces whose holders may follow their load.
   *
   * @param file the keyspaces that its configuration file names, here or elsewhere, by name; of one
   *     with homes these, too
   * @param loads tells of the load
   */
  public ControlPlane(
      String dc,
      SortedMap<String, Optional<String>> datacenters,
      Map<String, KeyspacePolicy> file,
      LongSupplier millis,
      ControlHost host,
      PlacementSettings settings,
      PlacementHost loads) {
    this.dc = dc;
    this.host = host;
    this.objects = new ControlObjects(host::ask, millis, new Random(dc.hashCode()));
    this.members = new MemberPlane(dc, datacenters, objects, millis, host);
    this.memberCommands = new MemberCommands(dc, datacenters, objects, millis, host, members);
    HolderPlane holders = new HolderPlane(dc, members, millis, host);
    HomeAdditions additions = new HomeAdditions(dc, millis, members, host);
    this.keyspaces = new KeyspacePlane(dc, file, objects, members, holders, additions, host);
    this.creation = new KeyspaceCreation(dc, millis, objects, members, keyspaces, host, file);
    this.keyspaceCommands =
        new KeyspaceCommands(dc, millis, objects, members, holders, keyspaces, creation, host);
    this.placement =
        new PlacementPlane(
            members, keyspaces, keyspaceCommands, objects, millis, host, settings, loads);
    this.users = new UserPlane(dc, objects, millis, host);
  }

  /**
   * Takes the datacenters that the store has; called first.
   *
   * @param object the stored {@link #DATACENTERS}
   * @throws OsierException CONFIGURATION if this datacenter is no longer a member
   */
  public void recoverDatacenters(Reading.Fields object) {
    members.recover(object);
  }

  /**
   * Opens the keyspaces that the store has, before any request is served.
   *
   * @param object the stored {@link #KEYSPACES}
   * @throws OsierException CONFIGURATION if the configuration file names a keyspace that was
   *     created at run time: there would be two of one name
   */
  public void recover(Reading.Fields object) {
    keyspaces.recover(object, placement::lacksRoom);
  }

  /**
   * Begins with the keyspaces of the configuration that are to be open at the start; after {@link
   * #recover}.
   *
   * @throws OsierException CONFIGURATION if the file names other homes of a keyspace than it has
   */
  public List<KeyspacePolicy> beginConfigured() {
    creation.checkRecovered();
    missing = creation.missing();
    return keyspaces.beginConfigured();
  }

  /**
   * Takes the users that the store has.
   *
   * @param object the stored {@link UserRecords#OBJECT}
   */
  public void recoverUsers(Reading.Fields object) {
    users.take(object);
  }

  // ---------------------------------------------------------------- following changes

  /** Returns how often a keyspace could not be brought into its state here. For any thread. */
  public long failedKeyspaces() {
    return keyspaces.failed();
  }

  /**
   * Returns how often a change that this datacenter makes by itself in {@code _osier} was refused.
   * For any thread.
   */
  public long refused() {
    return objects.refused();
  }

  /** Returns whether {@code _osier} was read since the start. */
  public boolean isKnown() {
    return changes >= 0;
  }

  /**
   * Returns, in words, which keyspaces of the file wait for other datacenters to be created. For
   * any thread.
   */
  public List<String> awaitedKeyspaces() {
    return missing.awaited();
  }

  /**
   * Returns, in words, which keyspaces of the file cannot be created, or not yet, for another
   * reason. For any thread.
   */
  public List<String> refusedKeyspaces() {
    return missing.refused();
  }

  /** Returns whether the last look found nothing to do, so that the next one may come later. */
  public boolean isAtRest() {
    return skipped > 0;
  }

  /** Looks for changes, and carries them out. */
  public void look() {
    if (skipped < SKIPPED_MAX
        && cleaned
        && letIn
        && missing.equals(MissingKeyspaces.NOTHING)
        && members.isSteady()
        && isRead(host.recorded())) {
      skipped++;
    } else {
      skipped = 0;
      lookWholly();
    }
  }

  /** Returns whether {@code _osier} cannot have changed since it was last read. */
  private boolean isRead(OptionalLong now) {
    return now.isPresent() && now.equals(recorded) && !objects.isAwaiting();
  }

  private void lookWholly() {
    if (!isKnown() && !host.mayBegin()) {
      return;
    }
    boolean hasHeard = letIn || host.hasHeard(); // determined before anything is read
    boolean cleans = !cleaned && host.isSettled();
    OptionalLong now = host.recorded(); // before the read: later changes are seen next time
    if (!isRead(now) || cleans || !letIn) {
      OptionalLong count = objects.changes();
      if (count.isEmpty()) {
        return; // the partition catches up, or ends
      }
      boolean isRead = count.getAsLong() == changes && !cleans;
      if (!isRead && read()) {
        isRead = true;
        changes = count.getAsLong();
        if (cleans) {
          cleaned = keyspaces.dropOthers();
        }
      }
      recorded = isRead ? now : OptionalLong.empty();
    }
    if (changes < 0) {
      return;
    }
    objects.isRead();
    if (!letIn && hasHeard) { // others may have put users back meanwhile
      users.letIn();
      letIn = true;
    }
    members.follow();
    keyspaces.follow(placement::lacksRoom);
    keyspaces.tell();
    if (isIgnorant()) {
      host.hinders(
          List.of(
              "datacenter '"
                  + dc
                  + "' has not heard yet from the others which keyspaces there are: "
                  + host.unheard(dc, members.names())));
    } else {
      members.tell(keyspaces.missing(), keyspaces.needing());
    }
    users.tell();
    creation.follow(cleaned);
    missing = creation.missing();
    placement.step();
  }

  /**
   * Returns whether nobody has told yet which keyspaces there are: neither a file nor another
   * datacenter. This may be a datacenter that joins and cannot reach the others. Waiting does no
   * harm, as it has no keyspace to serve.
   */
  private boolean isIgnorant() {
    return !cleaned && !namesDatacenters && keyspaces.isEmpty();
  }

  private boolean read() {
    Optional<Reading.Fields> datacenters = objects.map(DATACENTERS);
    Optional<Reading.Fields> allKeyspaces = objects.map(KEYSPACES);
    Optional<Reading.Fields> allUsers = objects.map(UserRecords.OBJECT);
    if (datacenters.isEmpty() || allKeyspaces.isEmpty() || allUsers.isEmpty()) {
      return false;
    }
    members.take(datacenters.get());
    namesDatacenters = Membership.of(datacenters.get()).isInForce();
    keyspaces.take(allKeyspaces.get());
    users.take(allUsers.get());
    return true;
  }

  // ---------------------------------------------------------------- commands of operators

  /**
   * Executes an operator's command for keyspaces.
   *
   * @return the keyspaces that were meant, as they are now
   * @throws OsierException INVALID_ARGUMENT if the command makes no sense, otherwise the error of
   *     {@code _osier}'s partition; nothing was changed, except perhaps with TIMEOUT
   */
  public List<KeyspaceView> administer(AdminRequest.Administer request, String by) {
    lookNow();
    List<KeyspaceView> asked;
    try {
      asked = keyspaceCommands.administer(request, by);
    } catch (OsierException e) {
      if (request.action().equals("create")) {
        lookWholly(); // drops a keyspace opened in vain
      }
      throw e;
    }
    if (request.action().equals("list")) {
      return asked;
    }
    lookWholly();
    return request.action().equals("drop") ? List.of() : views(request.name());
  }

  /** Returns a keyspace as it is known now; empty if it is not known. */
  List<KeyspaceView> views(String name) {
    return keyspaceCommands.views(name);
  }

  /**
   * Returns, for keyspaces whose holders follow their load, the holders, the next change, and the
   * reasons.
   *
   * @throws OsierException UNAVAILABLE if that is not known yet
   */
  public List<PlacementView> placements() {
    lookNow();
    return placement.views();
  }

  /** Reads {@code _osier} now, so that an answer rests on its present contents. */
  private void lookNow() {
    lookWholly();
    if (changes < 0) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE, "the datacenter has just started and is catching up");
    }
  }

  /**
   * Adds a datacenter for an operator, tells one to leave, removes a dead one, or lists them.
   *
   * @return the datacenters, as they are now
   * @throws OsierException as {@link #administer}
   */
  public List<DatacenterView> administerDatacenters(AdminRequest.Administer request, String by) {
    lookNow();
    List<DatacenterView> asked = memberCommands.administer(request, keyspaces.holders(), by);
    if (request.action().equals("list")) {
      return asked;
    }
    lookWholly();
    return memberCommands.views().stream().filter(v -> v.name().equals(request.name())).toList();
  }

  /**
   * Changes users for an operator, or lists them.
   *
   * @return the users that were meant, as they are now
   * @throws OsierException as {@link #administer}
   */
  public List<UserView> administerUsers(AdminRequest.Administer request, String by) {
    lookNow();
    List<UserView> asked = users.administer(request, by);
    if (request.action().equals("list")) {
      return asked;
    }
    lookWholly();
    return users.views().stream().filter(u -> u.name().equals(request.name())).toList();
  }
}
