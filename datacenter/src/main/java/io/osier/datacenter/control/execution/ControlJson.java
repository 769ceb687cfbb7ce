package io.osier.datacenter.control.execution;

import io.osier.adaptation.PlacementAdvice;
import io.osier.core.Grant;
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
    return new JsonObject().put("datacenters", views, ControlJson::put).toString();
  }

  static String users(List<UserView> views) {
    return new JsonObject().put("users", views, ControlJson::put).toString();
  }

  /** Writes the placements of keyspaces whose holders follow their load. */
  static String placements(List<PlacementView> views) {
    return new JsonObject().put("placements", views, ControlJson::put).toString();
  }

  /**
   * Writes keyspaces.
   *
   * @param notes what else an operator should know, in words
   */
  static String keyspaces(List<KeyspaceView> views, List<String> notes) {
    return new JsonObject()
        .put("keyspaces", views, ControlJson::put)
        .put("notes", notes)
        .toString();
  }

  private static void put(DatacenterView view, JsonObject one) {
    one.put("name", view.name())
        .put("address", view.address())
        .put("state", view.state())
        .put("from", from(view.fromFile()))
        .put("awaited", view.awaited());
    view.catchUp().ifPresent(progress -> put(progress, one.putObject("catch_up")));
    one.put("changed_by", view.by()).put("changed_at_ms", view.atMillis());
  }

  private static String from(boolean file) {
    return file ? "file" : "command";
  }

  private static void put(CatchUp progress, JsonObject one) {
    one.put("complete_partitions", progress.complete())
        .put("partitions", progress.partitions())
        .put("objects", progress.objects());
    progress.objectsThere().ifPresent(n -> one.put("objects_there", n));
    one.put("bytes", progress.bytes())
        .put("objects_per_second", progress.objectsPerSecond())
        .put("bytes_per_second", progress.bytesPerSecond());
    progress.secondsLeft().ifPresent(s -> one.put("seconds_left", s));
  }

  private static void put(UserView view, JsonObject one) {
    one.put("name", view.name())
        .put("password", view.hasPassword() ? "yes" : "no")
        .put("from", from(view.fromFile()))
        .put("rights", view.grants().stream().map(Grant::toString).toList())
        .put("made_by", view.by())
        .put("made_at_ms", view.atMillis());
  }

  private static void put(KeyspaceView view, JsonObject one) {
    one.put("name", view.name())
        .put("state", view.awaited().isEmpty() ? "active" : "creating")
        .put("from", from(view.fromFile()));
    view.settings().forEach(one::put);
    one.put("holders", view.holders(), (h, of) -> of.put("dc", h.dc()).put("state", h.state()))
        .put("awaited", view.awaited())
        .put("changed_by", view.by())
        .put("changed_at_ms", view.atMillis());
  }

  private static void put(PlacementView view, JsonObject one) {
    one.put("keyspace", view.keyspace())
        .put("placement", view.placement())
        .put("decider", view.decider())
        .put("next", view.next())
        .put("summary", view.summary())
        .put("figures", view.figures())
        .put("paid_bytes_per_second", Math.round(view.now().paid()))
        .put("least_bytes_per_second", Math.round(view.cheapest().paid()))
        .put("cheapest", view.cheapest().holders())
        .put("advice", view.advice(), ControlJson::put);
    JsonObject.Array holders = one.putArray("holders");
    view.holders().forEach((dc, state) -> holders.addObject().put("dc", dc).put("state", state));
  }

  private static void put(PlacementAdvice advice, JsonObject one) {
    one.put("what", advice.what())
        .put("holders", advice.holders())
        .put("allowed", advice.isAllowed())
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
}
