package io.osier.datacenter.control.execution;

import io.osier.adaptation.PlacementAdvice;
import io.osier.datacenter.access.UserView;
import io.osier.datacenter.control.view.CatchUp;
import io.osier.datacenter.control.view.DatacenterView;
import io.osier.datacenter.control.view.KeyspaceView;
import io.osier.datacenter.metrics.report.JsonObject;
import io.osier.datacenter.placement.PlacementView;
import java.util.List;

/** Writes the control plane's answers to operators as JSON. Pure. */
final class ControlJson {
  private ControlJson() {}

  static String datacenters(List<DatacenterView> views) {
    JsonObject root = new JsonObject();
    JsonObject.Array all = root.putArray("datacenters");
    for (DatacenterView view : views) {
      JsonObject one =
          all.addObject()
              .put("name", view.name())
              .put("address", view.address())
              .put("state", view.state())
              .put("from", view.fromFile() ? "file" : "command");
      JsonObject.Array awaited = one.putArray("awaited");
      view.awaited().forEach(awaited::add);
      view.catchUp().ifPresent(c -> put(one.putObject("catch_up"), c));
      one.put("changed_by", view.by()).put("changed_at_ms", view.atMillis());
    }
    return root.toString();
  }

  private static void put(JsonObject node, CatchUp progress) {
    node.put("complete_partitions", progress.complete())
        .put("partitions", progress.partitions())
        .put("objects", progress.objects());
    progress.objectsThere().ifPresent(n -> node.put("objects_there", n));
    node.put("bytes", progress.bytes())
        .put("objects_per_second", progress.objectsPerSecond())
        .put("bytes_per_second", progress.bytesPerSecond());
    progress.secondsLeft().ifPresent(s -> node.put("seconds_left", s));
  }

  static String users(List<UserView> views) {
    JsonObject root = new JsonObject();
    JsonObject.Array all = root.putArray("users");
    for (UserView view : views) {
      JsonObject one =
          all.addObject()
              .put("name", view.name())
              .put("password", view.hasPassword() ? "yes" : "no")
              .put("from", view.fromFile() ? "file" : "command");
      JsonObject.Array rights = one.putArray("rights");
      view.grants().forEach(g -> rights.add(g.toString()));
      one.put("made_by", view.by()).put("made_at_ms", view.atMillis());
    }
    return root.toString();
  }

  /** Writes the placements of keyspaces whose holders follow their load. */
  static String placements(List<PlacementView> views) {
    JsonObject root = new JsonObject();
    JsonObject.Array all = root.putArray("placements");
    for (PlacementView view : views) {
      JsonObject one =
          all.addObject()
              .put("keyspace", view.keyspace())
              .put("placement", view.placement())
              .put("decider", view.decider())
              .put("next", view.next())
              .put("summary", view.summary())
              .put("figures", view.figures())
              .put("paid_bytes_per_second", Math.round(view.now().paid()))
              .put("least_bytes_per_second", Math.round(view.cheapest().paid()));
      JsonObject.Array cheapest = one.putArray("cheapest");
      view.cheapest().holders().forEach(cheapest::add);
      JsonObject.Array advice = one.putArray("advice");
      view.advice().forEach(a -> put(advice.addObject(), a));
      JsonObject.Array holders = one.putArray("holders");
      view.holders().forEach((dc, state) -> holders.addObject().put("dc", dc).put("state", state));
    }
    return root.toString();
  }

  private static void put(JsonObject one, PlacementAdvice advice) {
    JsonObject.Array what = one.putArray("what");
    advice.what().forEach(what::add);
    JsonObject.Array holders = one.putArray("holders");
    advice.holders().forEach(holders::add);
    one.put("allowed", advice.isAllowed())
        .put("link_bytes_per_second", Math.round(advice.linkBytes()))
        .put("paid_bytes_per_second", Math.round(advice.paid()))
        .put("stored_bytes", Math.round(advice.storedBytes()))
        .put("p50_ms", advice.p50Millis().orElse(Double.NaN)); // null for an unknown way
    JsonObject.Array ways = one.putArray("ways");
    advice
        .ways()
        .forEach(
            (dc, way) ->
                ways.addObject()
                    .put("dc", dc)
                    .put("asks_per_second", way.asks())
                    .put("p50_ms", way.millis().orElse(Double.NaN)));
  }

  static String keyspaces(List<KeyspaceView> views) {
    JsonObject root = new JsonObject();
    JsonObject.Array all = root.putArray("keyspaces");
    for (KeyspaceView view : views) {
      JsonObject one =
          all.addObject()
              .put("name", view.name())
              .put("state", view.awaited().isEmpty() ? "active" : "creating")
              .put("from", view.fromFile() ? "file" : "command");
      view.settings().forEach(one::put);
      JsonObject.Array holders = one.putArray("holders");
      view.holders().forEach(h -> holders.addObject().put("dc", h.dc()).put("state", h.state()));
      JsonObject.Array awaited = one.putArray("awaited");
      view.awaited().forEach(awaited::add);
      one.put("changed_by", view.by()).put("changed_at_ms", view.atMillis());
    }
    return root.toString();
  }
}
