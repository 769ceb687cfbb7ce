package io.osier.datacenter.control.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.datacenter.access.UserView;
import io.osier.datacenter.control.view.CatchUp;
import io.osier.datacenter.control.view.DatacenterView;
import io.osier.datacenter.control.view.KeyspaceView;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
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
                    new KeyspaceView("b", new TreeMap<>(), List.of(), List.of(), true, "", 0))))
        .isEqualTo(
            ("{'keyspaces':[{'name':'a','state':'creating','from':'command','consistency':'causal','sla':'2s','holders':[{'dc':'ap','state':'opening'},{'dc':'us','state':'out"
                 + " of reach'}],'awaited':['us','ap'],'changed_by':'root','changed_at_ms':9},"
                 + "{'name':'b','state':'active','from':'file','holders':[],'awaited':[],"
                 + "'changed_by':'','changed_at_ms':0}]}")
                .replace('\'', '"'));
  }
}
