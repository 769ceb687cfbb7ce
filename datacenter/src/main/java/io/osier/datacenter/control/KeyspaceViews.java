package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.config.KeyspaceSettings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Shows operators the keyspaces that are, but for {@code _osier} itself. */
record KeyspaceViews(String dc, MemberPlane members, ControlHost host) {
  /**
   * All of them, in the order of their names.
   *
   * @param configured those that the configuration file names
   */
  List<KeyspaceView> of(Collection<KeyspacePolicy> configured, ControlState state) {
    SortedMap<String, KeyspaceView> views = new TreeMap<>();
    for (KeyspacePolicy policy : configured) {
      SortedMap<String, String> texts =
          state.altered().getOrDefault(policy.name(), new TreeMap<>());
      views.put(
          policy.name(),
          new KeyspaceView(
              policy.name(),
              KeyspaceSettings.of(
                  state.holders(policy).all(state.altered(policy, members.names()))),
              holders(policy, state.holders(policy), Set.of()),
              List.of(),
              true,
              ControlState.by(texts),
              ControlState.atMillis(texts)));
    }
    for (KeyspaceDefinition d : state.created().values()) {
      List<String> awaited = members.awaited(d);
      views.put(
          d.name(),
          new KeyspaceView(
              d.name(),
              KeyspaceSettings.of(d.holders().all(d.policy())),
              holders(d.policy(), d.holders(), Set.copyOf(awaited)),
              awaited,
              false,
              d.by(),
              d.atMillis()));
    }
    return List.copyOf(views.values());
  }

  private List<KeyspaceView.Holder> holders(
      KeyspacePolicy policy, HolderSet of, Set<String> opening) {
    KeyspacePolicy all = of.all(policy);
    List<String> whole = members.awaited();
    List<KeyspaceView.Holder> holders = new ArrayList<>();
    for (String name : members.names()) {
      if (all.heldBy(name)) {
        boolean isHeard = name.equals(dc) || host.isConnected(name);
        holders.add(
            new KeyspaceView.Holder(
                name,
                !isHeard
                    ? "out of reach"
                    : !whole.contains(name)
                        ? "joining"
                        : state(of.of(name), opening.contains(name))));
      }
    }
    return holders;
  }

  private static String state(HolderState of, boolean opens) {
    if (of.leaves()) {
      return of.removal().filter(r -> !r.notes().isEmpty()).isPresent()
          ? "leaving, takes no updates"
          : "leaving";
    }
    if (of.catchesUp()) {
      return "catching up";
    }
    return opens ? "opening" : KeyspaceView.Holder.HOLDS;
  }
}
