package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What {@code top} makes of two looks. */
class TopViewTest {
  private static JsonNode json(String text) {
    try {
      return new ObjectMapper().readTree(text.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  private static TopView.Look look(long seconds, long incarnation, long updates) {
    return new TopView.Look(
        seconds * 1_000_000_000,
        json(
            """
            {'dc':'eu','incarnation':%d,'uptime_ms':%d,
             'not_ready_because':['the disk is full'],'warnings':[],
             'keyspaces':{'shop':{'updates':%d,'applied_remote':0,'shipped_bytes':%d,'op_bytes':%d,
              'state_mode_objects':3,'sla_ms':500,'visibility_ms':{'p99':41.5},'sla_violations':0,
              'queued':2,'overloads':0}}}
            """
                .formatted(incarnation, seconds * 1_000, updates, updates * 10, updates * 100)),
        json(
            "{'keyspaces':{'shop':{'hot':[{'key':'k','type':'counter','mode':'state',"
                + "'updates_per_s':90.5,'object_bytes':2048}]}}}"),
        json(
            """
            {'keyspaces':{'shop':{'peers':[
              {'partition':0,'dc':'us','connected':true,'stream':'streaming','lag_updates':1,
               'lag_bytes':10,'lag_ms':4,'behind_updates':0},
              {'partition':1,'dc':'us','connected':false,'stream':'waiting','lag_updates':2,
               'lag_bytes':20,'lag_ms':9,'behind_updates':7}]}}}
            """));
  }

  @Test
  void rates_areOfTheTimeBetween_andLinksOfAllPartitions() {
    TopView figures =
        TopView.between(Map.of("dc1", look(10, 1, 100)), Map.of("dc1", look(12, 1, 300)));
    TopView.Keyspace shop = figures.keyspaces().getFirst();
    assertThat(shop.updatesPerSecond()).isEqualTo(100);
    assertThat(shop.shippedPerSecond()).isEqualTo(1_000);
    assertThat(figures.links())
        .containsExactly(new TopView.Link("eu", "us", "shop", false, "waiting", 3, 30, 9, 7));
    assertThat(String.join("\n", figures.lines()))
        .contains("90%", "eu → us", "CUT", "2.0 KiB", "! eu: the disk is full");
  }

  @Test
  void datacenterThatBeganAnew_hasNoRates() {
    TopView figures =
        TopView.between(Map.of("dc1", look(10, 1, 500)), Map.of("dc1", look(12, 2, 900)));
    assertThat(figures.keyspaces().getFirst().updatesPerSecond()).isZero();
    assertThat(TopView.between(Map.of(), Map.of("dc1", look(12, 2, 3))).keyspaces())
        .as("who was not there before")
        .hasSize(1);
  }
}
