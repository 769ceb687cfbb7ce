package io.osier.datacenter.control.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.PlacementAdvice;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.datacenter.access.UserView;
import io.osier.datacenter.control.view.CatchUp;
import io.osier.datacenter.control.view.DatacenterView;
import io.osier.datacenter.control.view.KeyspaceView;
import io.osier.datacenter.placement.PlacementView;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Scripts read these texts, and so do clients of other versions. */
final class ControlJsonTest {
  @Test
  void datacenters_areTold() {
    CatchUp progress = new CatchUp(1, 4, 30, OptionalLong.of(50), 7_000, 10.0, 2_500.5);
    CatchUp unknown = new CatchUp(0, 4, 0, OptionalLong.empty(), 0, 0, 0);
    assertThat(
            ControlJson.datacenters(
                List.of(
                    new DatacenterView(
                        "ap",
                        "h:1",
                        "joining",
                        false,
                        List.of("eu"),
                        Optional.of(progress),
                        "a",
                        5),
                    new DatacenterView(
                        "eu", "h:2", "active", true, List.of(), Optional.of(unknown), "", 0),
                    new DatacenterView(
                        "us", "h:3", "active", true, List.of(), Optional.empty(), "", 0))))
        .isEqualTo(
            ("{'datacenters':[{'name':'ap','address':'h:1','state':'joining','from':'command',"
                    + "'awaited':['eu'],'catch_up':{'complete_partitions':1,'partitions':4,"
                    + "'objects':30,'objects_there':50,'bytes':7000,'objects_per_second':10.0,"
                    + "'bytes_per_second':2500.5,'seconds_left':2},'changed_by':'a',"
                    + "'changed_at_ms':5},{'name':'eu','address':'h:2','state':'active',"
                    + "'from':'file','awaited':[],'catch_up':{'complete_partitions':0,"
                    + "'partitions':4,'objects':0,'bytes':0,'objects_per_second':0.0,"
                    + "'bytes_per_second':0.0},'changed_by':'','changed_at_ms':0},{'name':'us',"
                    + "'address':'h:3','state':'active','from':'file','awaited':[],"
                    + "'changed_by':'','changed_at_ms':0}]}")
                .replace('\'', '"'));
  }

  @Test
  void users_areTold() {
    Grant grant = new Grant(Grant.Right.WRITE, Optional.of("shop"), Optional.of(Key.of("cart:")));
    assertThat(
            ControlJson.users(
                List.of(
                    new UserView("ada", true, List.of(grant), false, "root", 7),
                    new UserView("bob", false, List.of(), true, "", 0))))
        .isEqualTo(
            ("{'users':[{'name':'ada','password':'yes','from':'command',"
                    + "'rights':['write shop cart:'],'made_by':'root','made_at_ms':7},"
                    + "{'name':'bob','password':'no','from':'file','rights':[],'made_by':'',"
                    + "'made_at_ms':0}]}")
                .replace('\'', '"'));
  }

  @Test
  void keyspaces_areTold() {
    Map<String, String> settings = Map.of("sla", "2s", "consistency", "causal");
    assertThat(
            ControlJson.keyspaces(
                List.of(
                    new KeyspaceView(
                        "a",
                        new TreeMap<>(settings),
                        List.of(
                            new KeyspaceView.Holder("ap", "opening"),
                            new KeyspaceView.Holder("us", "out of reach")),
                        List.of("us", "ap"),
                        false,
                        "root",
                        9),
                    new KeyspaceView("b", new TreeMap<>(), List.of(), List.of(), true, "", 0)),
                List.of("a is late")))
        .isEqualTo(
            ("{'keyspaces':[{'name':'a','state':'creating','from':'command','consistency':'causal','sla':'2s','holders':[{'dc':'ap','state':'opening'},{'dc':'us','state':'out"
                    + " of reach'}],'awaited':['us','ap'],'changed_by':'root','changed_at_ms':9},"
                    + "{'name':'b','state':'active','from':'file','holders':[],'awaited':[],'changed_by':'','changed_at_ms':0}],'notes':['a"
                    + " is late']}")
                .replace('\'', '"'));
  }

  @Test
  void placements_areTold() {
    PlacementAdvice now =
        new PlacementAdvice(
            List.of("now", "cheapest"),
            new TreeSet<>(Set.of("us", "eu")),
            true,
            12.4,
            100.6,
            3e9,
            new TreeMap<>(
                Map.of(
                    "ap", new PlacementAdvice.Way(2.5, OptionalDouble.empty()),
                    "eu", new PlacementAdvice.Way(7.5, OptionalDouble.of(1.25)))));
    PlacementAdvice other =
        new PlacementAdvice(
            List.of("all"), new TreeSet<>(Set.of("ap")), false, 0, 7, 0, new TreeMap<>());
    assertThat(
            ControlJson.placements(
                List.of(
                    new PlacementView(
                        "shop",
                        "adaptive",
                        new TreeMap<>(Map.of("eu", "holds", "us", "joining")),
                        "eu",
                        "nothing to do",
                        new TreeMap<>(),
                        List.of(now, other)))))
        .isEqualTo(
            ("{'placements':[{'keyspace':'shop','placement':'adaptive','decider':'eu','next':'nothing"
                    + " to do','summary':'shop, adaptive: held by eu, us (joining)\\u000a  eu decides:"
                    + " nothing to do','figures':'  all pay 101 B/s, and would pay 101 B/s if it were"
                    + " held by eu, us','paid_bytes_per_second':101,"
                    + "'least_bytes_per_second':101,'cheapest':['eu','us'],'advice':[{'what':"
                    + "['now','cheapest'],'holders':['eu','us'],'allowed':true,"
                    + "'link_bytes_per_second':12,'paid_bytes_per_second':101,"
                    + "'stored_bytes':3000000000,'p50_ms':1.25,'ways':[{'dc':'ap',"
                    + "'asks_per_second':2.5,'p50_ms':null},{'dc':'eu','asks_per_second':7.5,"
                    + "'p50_ms':1.25}]},{'what':['all'],'holders':['ap'],'allowed':false,"
                    + "'link_bytes_per_second':0,'paid_bytes_per_second':7,'stored_bytes':0,"
                    + "'p50_ms':null,'ways':[]}],'holders':[{'dc':'eu','state':'holds'},"
                    + "{'dc':'us','state':'joining'}]}]}")
                .replace('\'', '"'));
  }
}
