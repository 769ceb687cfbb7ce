package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.PlacementRules;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.control.view.MissingKeyspaces;
import io.osier.propagation.net.link.PeerVersions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates keyspaces for operators, and the keyspaces with homes that the configuration file names.
 * One datacenter creates such a keyspace for all of them. Once the keyspace exists the file's
 * settings for it count no more; the log says where they differ. Used by the control plane's
 * thread.
 */
final class KeyspaceCreation {
  private static final Logger LOG = LoggerFactory.getLogger(KeyspaceCreation.class);

  /** The most partitions of all keyspaces after a creation. */
  private static final int PARTITIONS_MAX = 512;

  /**
   * How long a datacenter waits for each datacenter before it by name to create a keyspace of the
   * files.
   */
  private static final long TURN_MILLIS = 2_000;

  private final String dc;
  private final LongSupplier millis;
  private final ControlObjects objects;
  private final MemberPlane members;
  private final KeyspacePlane keyspaces;
  private final ControlHost host;

  /**
   * The keyspaces with homes that the file names: the policy of each, followed by those of its
   * homes.
   */
  private final SortedMap<String, List<KeyspacePolicy>> withHomes = new TreeMap<>();

  /**
   * When this datacenter first found that a keyspace of the file does not exist, in milliseconds,
   * by keyspace.
   */
  private final Map<String, Long> missing = new HashMap<>();

  /** Why a keyspace of the file could not be created at the last try, by keyspace. */
  private final Map<String, String> refusals = new HashMap<>();

  /** The text that was logged last about a keyspace of the file, by keyspace. */
  private final Map<String, String> said = new HashMap<>();

  /** The creations of keyspaces whose alterable settings were compared with the file's. */
  private final Set<String> compared = new HashSet<>();

  private long lastCreatedMillis;

  /**
   * @param file the keyspaces that the configuration file names, homes included
   */
  KeyspaceCreation(
      String dc,
      LongSupplier millis,
      ControlObjects objects,
      MemberPlane members,
      KeyspacePlane keyspaces,
      ControlHost host,
      Map<String, KeyspacePolicy> file) {
    this.dc = dc;
    this.millis = millis;
    this.objects = objects;
    this.members = members;
    this.keyspaces = keyspaces;
    this.host = host;
    new TreeMap<>(file)
        .forEach(
            (name, policy) -> {
              if (!policy.partitioning().homes().isEmpty()) {
                withHomes.computeIfAbsent(Homes.base(name), k -> new ArrayList<>()).add(policy);
              }
            });
  }

  // ---------------------------------------------------------------- what the file names

  /** Returns whether this is a keyspace with homes that the file names, or one of its homes. */
  boolean isOfFile(String keyspace) {
    return withHomes.containsKey(Homes.base(keyspace));
  }

  /**
   * Returns, in words, which keyspaces with homes that the file names do not exist yet, and why.
   */
  MissingKeyspaces missing() {
    List<String> awaited = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    String waits =
        host.isSettled() ? "it is about to be created" : host.unheard(dc, members.names());
    for (String name : withHomes.keySet()) {
      if (!keyspaces.state().creations().containsKey(name)) {
        (refusals.containsKey(name) ? refused : awaited)
            .add(
                "keyspace '%s' of the configuration file does not exist yet: %s"
                    .formatted(name, refusals.getOrDefault(name, waits)));
      }
    }
    return new MissingKeyspaces(awaited, refused);
  }

  /**
   * Compares the file with the keyspaces that the store knew when this datacenter ended.
   *
   * @throws OsierException CONFIGURATION if the file gives an existing keyspace another value of a
   *     setting that is fixed at the creation
   */
  void checkRecovered() {
    ControlState state = keyspaces.state();
    withHomes.forEach(
        (name, policies) -> {
          KeyspaceDefinition there = state.created().get(name);
          if (there == null
              && !state.unreadable().containsKey(name)
              && host.hasStored(name, ControlHost.FROM_FILE)) {
            throw new OsierException(
                ErrorCode.CONFIGURATION,
                ("osier.keyspaces.%1$s.homes: the store has a keyspace '%1$s' that was"
                        + " named without homes, and homes are fixed when a keyspace begins; give"
                        + " the one with homes another name")
                    .formatted(name));
          }
          Optional.ofNullable(there)
              .flatMap(d -> fixed(d, policies.getFirst()))
              .ifPresent(
                  why -> {
                    throw new OsierException(ErrorCode.CONFIGURATION, why);
                  });
        });
  }

  /**
   * Creates the keyspaces of the file that nobody has created, and logs where the file differs from
   * existing ones.
   *
   * @param isKnown whether it is known which keyspaces there are
   */
  void follow(boolean isKnown) {
    withHomes.forEach(
        (name, policies) -> {
          KeyspaceDefinition there = keyspaces.state().created().get(name);
          if (there != null) {
            missing.remove(name);
            Optional<String> fixed = fixed(there, policies.getFirst());
            say(name, fixed.orElse(""));
            if (compared.add(there.created()) && fixed.isEmpty()) {
              altered(policies).ifPresent(LOG::warn); // later alterations are an operator's own
            }
          } else if (!isKnown) {
            if (isNews(name, "awaited")) {
              LOG.info(
                  "keyspace '{}' of the configuration file is created once that can be, if nobody"
                      + " has done so: {}",
                  name,
                  host.unheard(dc, members.names()));
            }
          } else if (!keyspaces.state().unreadable().containsKey(name) && isTurn(name)) {
            try {
              create(policies, "the file of " + dc);
              refusals.remove(name);
            } catch (OsierException e) {
              refusals.put(name, e.reason());
              say(
                  name,
                  "keyspace '%s' of the configuration file is not created yet: %s"
                      .formatted(name, e.reason()));
            }
          }
        });
  }

  private boolean isTurn(String name) {
    if (!host.isSettled() || !members.isActive()) {
      return false;
    }
    long now = millis.getAsLong();
    long since = missing.computeIfAbsent(name, k -> now);
    int before = members.staying().indexOf(dc);
    return before >= 0 && now - since >= TURN_MILLIS * before;
  }

  private void say(String name, String what) {
    if (isNews(name, what) && !what.isEmpty()) {
      LOG.warn(what);
    }
  }

  private boolean isNews(String name, String what) {
    return !what.equals(said.put(name, what));
  }

  /** Returns, in words, the first fixed setting that the file gives another value. */
  private static Optional<String> fixed(KeyspaceDefinition there, KeyspacePolicy filed) {
    SortedMap<String, String> is = KeyspaceSettings.all(there.policy());
    SortedMap<String, String> says = KeyspaceSettings.all(filed);
    return KeyspaceSettings.FIXED.stream()
        .filter(setting -> !setting.equals(KeyspaceSettings.REPLICAS))
        .filter(setting -> !says.getOrDefault(setting, "").equals(is.getOrDefault(setting, "")))
        .filter(setting -> !setting.equals(KeyspaceSettings.HOMES) || !lacksOnlyAdded(there, filed))
        .findFirst()
        .map(
            setting ->
                ("osier.keyspaces.%1$s.%2$s: keyspace '%1$s' was created with %3$s, and"
                        + " the file says %4$s: %2$s %5$s fixed when a keyspace is created; say"
                        + " what it was created with, or name another keyspace")
                    .formatted(
                        there.name(),
                        setting,
                        is.getOrDefault(setting, "none"),
                        says.getOrDefault(setting, "none"),
                        setting.endsWith("s") ? "are" : "is"));
  }

  /** Returns whether the file names all homes, perhaps without some that were added since. */
  private static boolean lacksOnlyAdded(KeyspaceDefinition there, KeyspacePolicy filed) {
    Homes is = there.policy().partitioning().homes();
    List<String> says = filed.partitioning().homes().names();
    return is.names().containsAll(says) && says.containsAll(is.first().names());
  }

  /** Returns, in words, the alterable settings that the file gives other values. */
  private Optional<String> altered(List<KeyspacePolicy> policies) {
    List<String> other = new ArrayList<>();
    for (KeyspacePolicy filed : policies) {
      KeyspaceDefinition there = keyspaces.state().created().get(filed.name());
      if (there == null) {
        continue;
      }
      SortedMap<String, String> is = KeyspaceSettings.all(there.holders().all(there.policy()));
      KeyspaceSettings.all(filed)
          .forEach(
              (setting, says) -> {
                boolean isOwn =
                    setting.equals(KeyspaceSettings.REPLICAS)
                        ? !there.policy().rules().counts()
                        : !Homes.isHome(filed.name()) || KeyspaceSettings.RULES.contains(setting);
                if (isOwn && !says.equals(is.get(setting))) {
                  other.add(
                      "%s of '%s' is '%s', not '%s'"
                          .formatted(setting, filed.name(), is.get(setting), says));
                }
              });
    }
    return other.isEmpty()
        ? Optional.empty()
        : Optional.of(
            ("keyspaces with homes are as they were created, and altered since, whatever"
                    + " the configuration file says: %s ('keyspace alter' changes that; the file"
                    + " may say the same)")
                .formatted(String.join("; ", other)));
  }

  // ---------------------------------------------------------------- creating

  /**
   * Creates a keyspace for an operator.
   *
   * @throws OsierException as {@link ControlPlane#administer}
   */
  void create(String name, SortedMap<String, String> settings, String by) {
    KeyspacePolicy policy = KeyspaceSettings.created(name, settings, members.names());
    KeyspaceDefinition there = keyspaces.state().created().get(name);
    if (there != null) {
      // Perhaps this very command, sent again because its answer got lost.
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "there is a keyspace '%s' already%s%s"
              .formatted(
                  name,
                  ControlState.changed(there.by(), there.atMillis()),
                  there.policy().equals(policy) ? ", with these very settings" : ""));
    }
    List<KeyspacePolicy> all = new ArrayList<>(List.of(policy));
    policy.partitioning().homes().names().forEach(home -> all.add(policy.home(home)));
    create(all, by);
  }

  /**
   * Creates a keyspace with its homes.
   *
   * @param policies the keyspace's own first, then those of its homes
   */
  private void create(List<KeyspacePolicy> policies, String by) {
    KeyspacePolicy policy = policies.getFirst();
    for (KeyspacePolicy each : policies) {
      String name = each.name();
      if (keyspaces.isOpen(name) || keyspaces.state().creations().containsKey(name)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT, "there is a keyspace '" + name + "' already");
      }
    }
    if (!host.isSettled() || !members.isActive()) {
      // It may have lost that there is one of this name: the new one would win, and lose the other.
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter %s may not know all keyspaces: %s; or create it at another datacenter"
              .formatted(dc, host.unheard(dc, members.names())));
    }
    checkKnown(policy);
    for (KeyspacePolicy each : policies) {
      List<String> replicas = each.replicas();
      checkRules(
          each.name(), PlacementRules.NONE, each.rules(), replicas, replicas, members.names());
    }
    checkPartitions(policy.name(), policy.partitions() * policies.size(), keyspaces.partitions());
    lastCreatedMillis = Math.max(lastCreatedMillis + 1, millis.getAsLong());
    String created = lastCreatedMillis + "-" + dc;
    // Opened before it is told: whoever learns of it may ask for it here at once.
    policies.stream()
        .filter(each -> each.heldBy(dc))
        .forEach(each -> keyspaces.open(each, created, awaited(each)));
    objects.change(
        ControlState.KEYSPACES,
        KeyspaceDefinition.create(
            policies, created, members.awaited(), dc, by, millis.getAsLong()));
  }

  /**
   * Throws if there would be too many partitions.
   *
   * @param added how many would be added
   * @param present how many there are of all keyspaces
   */
  static void checkPartitions(String keyspace, int added, int present) {
    if (present + added > PARTITIONS_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          ("with the %s partitions of '%s' there would be %s of all keyspaces; at most %s"
                  + " are created at run time, since each has a thread and its part of the memory")
              .formatted(added, keyspace, present + added, PARTITIONS_MAX));
    }
  }

  private List<String> awaited(KeyspacePolicy policy) {
    return policy.replicas().isEmpty() ? members.awaited() : policy.replicas();
  }

  /** Throws if a datacenter speaks no version that knows the keyspace's partitioning. */
  private void checkKnown(KeyspacePolicy policy) {
    int needed = HolderPlane.oldestKnowing(policy.partitioning());
    if (needed > PeerVersions.OLDEST) {
      checkSpoken(
          needed,
          "a keyspace with %s is created"
              .formatted(policy.partitioning().homes().isEmpty() ? "hash = tag" : "homes"));
    }
  }

  /** Throws if a datacenter is not known to speak this version of the peer protocol. */
  private void checkSpoken(int version, String what) {
    Optional<String> old = host.tooOld(version, members.names());
    if (old.isPresent()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "%s once all datacenters are known at %s to speak version %d of the peer protocol; %s"
              .formatted(what, dc, version, old.get()));
    }
  }

  /** Throws if a keyspace's rules are not kept, or a datacenter would not keep them. */
  void checkRules(
      String keyspace,
      PlacementRules former,
      PlacementRules rules,
      Collection<String> holders,
      Collection<String> whole,
      Set<String> known) {
    Optional<String> wrong = rules.objection(former, holders, whole, known);
    if (wrong.isPresent()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "keyspace '" + keyspace + "': " + wrong.get());
    }
    if (!rules.equals(PlacementRules.NONE)) {
      checkSpoken(PeerVersions.PLACEMENT, "laws and placement of a keyspace are altered");
    }
  }
}
