package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.control.view.KeyspaceView;
import io.osier.datacenter.placement.PlacementSettings;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.AdminRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;

/** Four datacenters, two of which hold a keyspace; a test lets these hear of each other. */
abstract class HolderPlaneFixture {
  static final List<String> DCS = List.of("ap", "eu", "sa", "us");

  static final KeyspacePolicy PAIR =
      KeyspacePolicy.session("pair", Duration.ofSeconds(1)).withReplicas(List.of("eu", "us"));

  long clock = 100_000;
  final SortedMap<String, Node> nodes = new TreeMap<>();

  final class Node extends StillHost {
    ControlPlane plane;
    final Map<String, ControlHost.Holding> holdings = new TreeMap<>();
    final Set<String> open = new HashSet<>();
    final Set<String> whole = new HashSet<>();

    /** The keyspaces whose data it has: as one of the first holders, or from one that has them. */
    final Set<String> data = new HashSet<>();

    final Set<String> opened = new HashSet<>();
    final Set<String> ceased = new HashSet<>();
    final List<String> given = new ArrayList<>();
    final List<String> inherited = new ArrayList<>();
    final Set<String> dropped = new HashSet<>();
    boolean quiet = true;
    Placement placement = Placement.NOTHING;
    final FakeLoad load = new FakeLoad();

    /** What its file names besides the pair. */
    List<KeyspacePolicy> file = List.of();

    /** Whether its store has a keyspace of a former file. */
    boolean stored;

    /** Those that it does not reach. */
    Set<String> cut = Set.of();

    /** Those of which it knows no incarnation. */
    Set<String> unheard = Set.of();

    boolean settled = true;

    /** Whether its store is of a later term than its {@code _osier} knows. */
    boolean later;

    /** The policies of its open keyspaces, as it was told last. */
    final Map<String, KeyspacePolicy> policies = new TreeMap<>();

    /** Those that must know a keyspace before it takes updates. */
    final Map<String, List<String>> awaited = new TreeMap<>();

    /** The keys that it has, each with its keyspace. */
    final Set<String> keys = new TreeSet<>();

    /** The peer protocol that it speaks, as the others know. */
    int spoken = PeerVersions.NEWEST;

    Node(String dc) {
      super(dc, new OsierCopy(new ReplicaId(dc, 1), () -> ++clock));
      if (PAIR.heldBy(dc)) {
        data.add("pair");
      }
      this.plane = plane(PAIR);
    }

    private ControlPlane plane(KeyspacePolicy pair) {
      SortedMap<String, Optional<String>> addresses = new TreeMap<>();
      DCS.forEach(
          name ->
              addresses.put(name, name.equals(dc) ? Optional.empty() : Optional.of(name + ":1")));
      Map<String, KeyspacePolicy> all = new TreeMap<>(Map.of("pair", pair));
      file.forEach(policy -> all.put(policy.name(), policy));
      return new ControlPlane(
          dc, addresses, all, () -> clock, this, PlacementSettings.DEFAULT, load);
    }

    /** Ends, and starts with what it had, and with a file that says this of the keyspace. */
    void restart(KeyspacePolicy pair) {
      restartWithoutOsier(pair);
      plane.recoverDatacenters(
          (Reading.Fields) copy.state(ControlPlane.DATACENTERS).read(new Query.Whole()));
      plane.recover((Reading.Fields) copy.state(ControlPlane.KEYSPACES).read(new Query.Whole()));
      var unused = plane.beginConfigured();
    }

    /** As one whose {@code _osier} was lost, and comes from the others before it looks. */
    void restartWithoutOsier(KeyspacePolicy pair) {
      holdings.clear();
      open.clear();
      whole.clear();
      ceased.clear();
      plane = plane(pair);
    }

    ControlHost.Holding holding(String keyspace) {
      return requireNonNull(holdings.get(keyspace));
    }

    List<String> holders(String keyspace) {
      return placement.find(keyspace).orElseThrow().holders();
    }

    /** Is told of a keyspace by its operator. */
    void administer(String action, String keyspace, Map<String, String> settings) {
      plane.administer(
          new AdminRequest.Administer("keyspace", action, keyspace, new TreeMap<>(settings)), "op");
    }

    void alter(String keyspace, String replicas) {
      administer("alter", keyspace, Map.of("replicas", replicas));
    }

    /** Is told to remove a datacenter from the cluster. */
    void remove(String name, Map<String, String> settings) {
      plane.administerDatacenters(
          new AdminRequest.Administer("dc", "remove", name, new TreeMap<>(settings)), "op");
    }

    String state(String keyspace, String holder) {
      return plane.views(keyspace).getFirst().holders().stream()
          .filter(h -> h.dc().equals(holder))
          .findFirst()
          .map(KeyspaceView.Holder::state)
          .orElse("none");
    }

    @Override
    public void open(KeyspacePolicy policy, String created, boolean first, List<String> waits) {
      assertThat(open.add(policy.name())).isTrue();
      assertThat(first)
          .as("whether there is nothing to catch up with")
          .isEqualTo(policy.heldBy(dc) && !opened.contains(policy.name()) && !joins(policy.name()));
      opened.add(policy.name());
      policies.put(policy.name(), policy);
      awaited.put(policy.name(), waits);
      if (first) {
        data.add(policy.name());
      }
    }

    @Override
    public boolean mayOpen(KeyspacePolicy policy) {
      return !later;
    }

    @Override
    public boolean hasStored(String keyspace, String created) {
      return created.equals(ControlHost.FROM_FILE) ? stored : data.contains(keyspace);
    }

    @Override
    public void openConfigured(KeyspacePolicy policy) {
      if (later) {
        throw new OsierException(ErrorCode.CONFIGURATION, "of a later term");
      }
      assertThat(holdings).as("else it would be shown at once").containsKey(policy.name());
      assertThat(open.add(policy.name())).isTrue();
    }

    @Override
    public void setHolders(String keyspace, ControlHost.Holding now) {
      holdings.put(keyspace, now);
    }

    @Override
    public boolean isWhole(String keyspace) {
      return whole.contains(keyspace);
    }

    @Override
    public void setPlacement(Placement now) {
      placement = now;
      for (Placement.Placed placed : now.keyspaces().values()) {
        for (String holder : placed.holders()) {
          ControlHost.Holding there = at(holder).holdings.get(placed.policy().name());
          assertThat(there == null || !there.joins()).as("who is asked serves").isTrue();
        }
      }
    }

    private boolean joins(String name) {
      return holdings.containsKey(name) && holding(name).joins();
    }

    @Override
    public void drop(String name, String created) {
      dropped.add(name + "@" + created);
      opened.remove(name); // another creation of it begins anew
      open.remove(name);
      holdings.remove(name);
      whole.remove(name);
      data.remove(name);
      ceased.remove(name);
      keys.removeIf(key -> key.startsWith(name + " "));
    }

    /** Compares with another one: it has all if that one has, and both hold the keyspace. */
    void compare(String keyspace, Node with) {
      if (with.data.contains(keyspace) && (open.contains(keyspace) || data.contains(keyspace))) {
        data.add(keyspace);
        whole.add(keyspace);
      }
    }

    @Override
    public boolean cease(String keyspace) {
      ceased.add(keyspace);
      List<String> own = keys.stream().filter(key -> key.startsWith(keyspace + " ")).toList();
      return quiet
          && nodes.values().stream()
              .filter(other -> other.open.contains(keyspace))
              .allMatch(other -> other.keys.containsAll(own));
    }

    @Override
    public void resume(String keyspace) {
      ceased.remove(keyspace);
    }

    @Override
    public boolean giveAway(String keyspace, List<String> heirs) {
      given.add(keyspace + heirs);
      return true;
    }

    /** Whether it would take updates, as one that has what the others hold. */
    boolean serves(String keyspace, boolean byFile) {
      ControlHost.Holding of = holdings.get(keyspace);
      boolean isServed = of == null ? byFile : of.part() == ControlHost.Part.SERVES;
      return isServed && !ceased.contains(keyspace);
    }

    @Override
    public boolean isQuiet() {
      return true;
    }

    @Override
    public boolean leave(List<String> heirs) {
      return true;
    }

    @Override
    public void setPeers(ControlHost.Peers changed) {}

    @Override
    public long incarnation(String name) {
      return unheard.contains(name) ? 0 : 1;
    }

    @Override
    public int protocol(String name) {
      return name.equals(dc) ? spoken : at(name).spoken;
    }

    @Override
    public boolean isSettled() {
      return settled;
    }

    @Override
    public void configure(KeyspacePolicy policy) {
      policies.put(policy.name(), policy);
    }

    @Override
    public void await(String name, List<String> datacenters) {
      awaited.put(name, datacenters);
    }

    @Override
    public Optional<String> searchForKeys(String id, List<String> keyspaces) {
      return Optional.of(
          keys.stream()
              .map(key -> key.split(" ", -1))
              .filter(key -> keyspaces.contains(key[0]) && open.contains(key[0]))
              .filter(key -> !homes(key[0]).taker(Key.of(key[1])).isEmpty())
              .map(key -> "key '" + key[1] + "' in '" + key[0] + "'")
              .findFirst()
              .orElse(""));
    }

    private Homes homes(String keyspace) {
      return requireNonNull(policies.get(keyspace)).partitioning().homes();
    }

    /** Takes an update of a key, if it may; returns whether it did. */
    boolean updates(String keyspace, String key) {
      boolean isTaken =
          open.contains(keyspace)
              && serves(keyspace, true)
              && requireNonNull(awaited.get(keyspace)).isEmpty()
              && homes(keyspace).keyspace(Homes.base(keyspace), Key.of(key)).equals(keyspace)
              && homes(keyspace).taker(Key.of(key)).isEmpty();
      if (isTaken) {
        keys.add(keyspace + " " + key);
      }
      return isTaken;
    }

    @Override
    public boolean isConnected(String name) {
      return nodes.containsKey(name) && !cut.contains(name);
    }

    @Override
    public boolean inherit(ControlHost.Estate estate) {
      inherited.add(estate.from());
      return true;
    }
  }

  @BeforeEach
  void begin() {
    DCS.forEach(dc -> nodes.put(dc, new Node(dc)));
    settle();
  }

  Node at(String dc) {
    return requireNonNull(nodes.get(dc));
  }

  /** All hear of all, until nothing is left to be told. */
  void settle() {
    for (int i = 0; i < 3; i++) {
      for (Node node : nodes.values()) {
        node.plane.look();
        for (Node other : nodes.values()) {
          other.copy.hear(node.copy);
          if (other != node) {
            other.plane.look();
          }
        }
        nodes.values().forEach(other -> node.copy.hear(other.copy));
      }
      clock += 1_000;
    }
  }

  void create(String name) {
    at("eu").administer("create", name, Map.of("replicas", "eu,us"));
    settle();
  }

  /** A datacenter is dead, and the others give it up. */
  void giveUp(String name) {
    nodes.remove(name);
    at("eu").remove(name, Map.of("dead", "true"));
    for (int i = 0; i < 5; i++) {
      settle();
    }
  }

  void settleWholly(String keyspace) {
    for (int i = 0; i < 16; i++) {
      round(keyspace);
    }
  }

  /** Each has what it is to hold, if anybody has it, and takes a step, and all hear of it. */
  void round(String keyspace) {
    nodes.values().forEach(node -> nodes.values().forEach(with -> node.compare(keyspace, with)));
    for (Node node : nodes.values()) {
      node.plane.look();
      nodes.values().stream()
          .filter(o -> o != node && !o.cut.contains(node.dc) && !node.cut.contains(o.dc))
          .forEach(o -> o.copy.hear(node.copy));
    }
    clock += 500;
  }
}
