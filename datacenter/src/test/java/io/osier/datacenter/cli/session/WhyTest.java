package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What {@code why} makes of what the datacenters said. */
class WhyTest {
  private static final String CLIENT = "eu.example:7400";

  /** What eu was told: by each that answered, and not by others. */
  static ClusterLook look(long nanos, Map<String, String> answers, List<String> peers) {
    ObjectNode root = new ObjectMapper().createObjectNode().put("dc", "eu");
    ArrayNode others = root.putArray("peers");
    peers.forEach(dc -> others.addObject().put("dc", dc).put("address", dc + ".example:7401"));
    ArrayNode all = root.putArray("answers");
    new TreeMap<>(answers)
        .forEach((dc, text) -> all.addObject().put("dc", dc).put("text", text.replace('\'', '"')));
    return ClusterLook.of(nanos, root.toString());
  }

  // ---------------------------------------------------------------- datacenters

  private static String status(String links, String problems) {
    return "{'addresses':{'us':'us.example:7401'},'keyspaces':[{'name':'shop','sla_ms':2000,'propagation':'adaptive','updates':9,"
        + "'objects':4,'state_objects':1,'late':{'origin':2,'way':0,'dependency':0,'outage':7}}],"
        + "'links':["
        + links
        + "],'problems':["
        + problems
        + "]}";
  }

  private static String link(String dc, boolean connected, String stream, long lag, long millis) {
    // One less than waits, and not as soon as the bound is over: the datacenter says what is late.
    return "{'dc':'%s','connected':%s,'stream':'%s','lag_updates':%d,'lag_ms':%d,'overdue_updates':%d}"
        .formatted(dc, connected, stream, lag, millis, millis > 2_200 ? lag - 1 : 0);
  }

  private static WhyCluster two(String link) {
    return new WhyCluster(
        look(0, Map.of("eu", status(link, "")), List.of("us")), Optional.empty(), CLIENT);
  }

  @Test
  void cutLink_isTheVerdict_withWhatWaits_andTheAddressToTry() {
    WhyCluster why = two(link("us", false, "waiting", 12_591, 39_000));
    assertThat(why.verdict())
        .isEqualTo(
            "LATE: the link eu → us is cut; up to 12,591 updates wait, the oldest for 39 s. us"
                + " could not be asked: no datacenter that answers reaches it.");
    assertThat(why.text())
        .startsWith(why.verdict() + "\n\n")
        .containsPattern("eu → us +CUT +12,591 updates wait, the oldest for 39 s")
        .containsPattern("eu +shop +2 s +9 +1 of 4 +9 +2 left too late, 7 after a cut")
        .contains(
            "\n  at eu: nc -vz us.example 7401 ",
            "\n  if us never comes back: osier cli --connect eu.example:7400 dc remove us --dead");
    assertThat(why.json())
        .contains("\"verdict\":\"LATE: the link", "\"silent\":[\"us\"]", "\"late\":true");
  }

  @Test
  void cutLinkForWhichNothingWaits_isNotLate() {
    assertThat(two(link("us", false, "waiting", 0, 0)).verdict())
        .startsWith("CUT: the link eu → us is cut; nothing waits yet.");
  }

  @Test
  void whatWaitsWithinTheBound_isNotLate_andWhatWaitsLongerIs() {
    ClusterLook fine =
        look(
            0,
            Map.of(
                "eu", status(link("us", true, "streaming", 5, 1_900), ""),
                "us", status(link("eu", true, "streaming", 0, 0), "")),
            List.of("us"));
    assertThat(new WhyCluster(fine, Optional.empty(), CLIENT).text())
        .startsWith(
            "Nothing is late: eu and us are connected, and nothing has waited longer than the"
                + " bound.")
        .contains("5 updates wait, the oldest for 1.9 s (bound 2 s)")
        .doesNotContain("what helps");
    assertThat(two(link("us", true, "streaming", 5, 2_001)).verdict()).startsWith("Nothing waits");
    assertThat(two(link("us", true, "streaming", 5, 3_000)).verdict())
        .startsWith(
            "LATE: us lacks 4 updates of eu beyond the bound, the oldest for 3 s: the link is up,");
    assertThat(two(link("us", true, "streaming", 5, 3_000)).text())
        .containsPattern("LATE +5 updates wait, the oldest for 3 s .4 overdue.");
    assertThat(two(link("us", true, "catching-up", 5, 9_000)).verdict())
        .contains("it catches up with what it missed");
  }

  /** A slow link is looked at for nothing while the receiver's disk is full. */
  @Test
  void fullDisk_isTheReason_whyOthersWait() {
    String full =
        "{'level':'error','about':'us ready','what':'us does not serve fully: the disk is full',"
            + "'help':'df -h'}";
    for (String stream : List.of("streaming", "catching-up")) {
      ClusterLook look =
          look(
              0,
              Map.of(
                  "eu", status(link("us", true, stream, 5, 9_000), ""),
                  "us", status(link("eu", true, "streaming", 0, 0), full)),
              List.of("us"));
      WhyCluster why = new WhyCluster(look, Optional.empty(), CLIENT);
      assertThat(why.verdict())
          .isEqualTo(
              "LATE: us lacks 4 updates of eu beyond the bound, the oldest for 9 s: us does not"
                  + " serve fully: the disk is full.");
      assertThat(why.hindered())
          .containsExactly("us does not serve fully: the disk is full: df -h");
    }
  }

  @Test
  void datacenter_isShownAlone_withItsProblemAndWhatHelps() {
    String problem =
        "{'level':'error','about':'us overload shop','what':'us refused 3 requests.',"
            + "'help':'more partitions'},"
            + "{'level':'error','about':'us ready','what':'us: the disk is full','help':'df -h'}";
    ClusterLook look =
        look(
            0,
            Map.of(
                "ap", status(link("eu", false, "waiting", 3, 5_000), ""),
                "us", status(link("eu", true, "streaming", 0, 0), problem)),
            List.of("ap", "us"));
    WhyCluster us = new WhyCluster(look, Optional.of("us"), CLIENT);
    assertThat(us.isKnown()).isTrue();
    assertThat(us.text())
        .startsWith("us refused 3 requests.")
        .contains("us refused 3 requests. more partitions", "\n  us: the disk is full: df -h")
        .doesNotContain("ap → eu");
    assertThat(new WhyCluster(look, Optional.of("likes"), CLIENT).isKnown()).isFalse();
  }

  // ---------------------------------------------------------------- keys

  private static String key(String sha, String objects, String more) {
    String holds =
        sha.isEmpty() ? "" : "{'type':'counter','bytes':14,'sha256':'%s'}".formatted(sha);
    return "{'addresses':{'ap':'ap.example:7401'},'sla_ms':2000,'holds':[%s],'objects':[%s]%s}"
        .formatted(holds, objects, more);
  }

  private static String object(String waits) {
    return "{'type':'counter','mode':'state','counted':'9 updates/s','rights_waiting':0%s}"
        .formatted(waits);
  }

  private static WhyKey why(Map<String, String> answers) {
    return new WhyKey(look(0, answers, List.of("ap", "us")), "likes:42", "shop", CLIENT);
  }

  @Test
  void keyThatIsHeldOnPurpose_isNotLate() {
    WhyKey why =
        why(
            Map.of(
                "ap",
                key("aa", "", ""),
                "eu",
                key(
                    "bb",
                    object(",'held':{'updates':12,'ms':1660,'leaves_in_ms':340},'missing':[]"),
                    ""),
                "us",
                key("aa", "", "")));
    assertThat(why.verdict())
        .isEqualTo(
            "Nothing is late: eu holds 12 updates of it on purpose, and sends them in 340 ms (bound"
                + " 2 s).");
    assertThat(why.text())
        .contains("12 updates leave in 340 ms", "9 updates/s", "held, and sent joined")
        .doesNotContain("what helps");
    assertThat(why.json()).contains("\"late\":false");
  }

  @Test
  void keyThatIsCopied_isSaid_whereThatIs() {
    WhyKey why =
        why(
            Map.of(
                "ap",
                "{'keyspace':'shop','holders':['eu','us'],'copied':true}",
                "eu",
                key("aa", "", ""),
                "us",
                key("aa", "", "")));
    assertThat(why.verdict())
        .isEqualTo(
            "Nothing of 'likes:42' waits: eu and us have the same. ap does not hold it, and answers"
                + " reads from a copy of it.");
  }

  @Test
  void keyOfAHome_isOneOfTheHome_whoeverAnswers() {
    WhyKey cut = why(Map.of("eu", "{'keyspace':'shop@ap','holders':['ap']}"));
    assertThat(cut.verdict())
        .isEqualTo(
            "No datacenter that was asked holds 'shop@ap', so nothing is known of the key. ap could"
                + " not be asked.");
    assertThat(cut.json()).contains("\"keyspace\":\"shop@ap\"");
    String rights = "{'keyspace':'shop@ap','holds':[],'objects':[{'rights_waiting':3}]}";
    assertThat(why(Map.of("ap", rights)).text())
        .as("commands name the keyspace")
        .contains("--keyspace shop bcounter rights likes:42");
    assertThat(why(Map.of("ap", "{'keyspace':'shop@ap','holds':[],'objects':[]}")).verdict())
        .startsWith("There is no 'likes:42' in 'shop@ap' at ap.");
  }

  @Test
  void keyWithASlowPeer_saysWhatOfOtherKeysIsOverdue_andNothingOfWhatIsOnItsWay() {
    String peer =
        ",'peers':[{'dc':'us','connected':true,'stream':'streaming','lag_updates':90,'lag_ms':9000,"
            + "'overdue_updates':%d}]";
    assertThat(why(Map.of("eu", key("aa", "", peer.formatted(3)))).verdict())
        .contains("us is slow: it has lacked 3 updates of other keys for 9 s.");
    assertThat(why(Map.of("eu", key("aa", "", peer.formatted(0)))).verdict())
        .doesNotContain("lacked");
  }

  @Test
  void keyBehindACutLink_isLate_unlessAThirdOneHasBroughtIt() {
    String missing =
        object(",'missing':[{'dc':'ap','updates':12,'ms':31000,'cut_ms':39000}],'waiting':[]");
    String cut = ",'peers':[{'dc':'ap','connected':false,'stream':'waiting','lag_updates':90}]";
    WhyKey late =
        why(
            Map.of(
                "ap", key("aa", "", ""), "eu", key("bb", missing, cut), "us", key("bb", "", "")));
    assertThat(late.verdict())
        .isEqualTo("LATE: ap lacks 12 updates of eu: the link eu → ap has been cut for 39 s.");
    assertThat(late.text())
        .contains("12 updates not confirmed by ap for 31 s: the link is CUT")
        .contains("\n  at eu: nc -vz ap.example 7401 ");
    assertThat(late.json()).contains("\"late\":true");
    WhyKey unreached = why(Map.of("eu", key("bb", missing, cut), "us", key("bb", "", "")));
    assertThat(unreached.verdict())
        .startsWith("LATE: ap lacks 12 updates of eu")
        .endsWith(" ap could not be asked.");
    WhyKey brought =
        why(
            Map.of(
                "ap", key("bb", "", ""), "eu", key("bb", missing, cut), "us", key("bb", "", "")));
    assertThat(brought.verdict())
        .startsWith("Nothing of 'likes:42' waits: ap, eu and us have the same. The link eu → ap");
    assertThat(brought.json()).contains("\"late\":false");
  }

  @Test
  void updateThatWaitsForAnother_andSlowPeers_areLate() {
    String waiting =
        object(
            ",'waiting':[{'from':'us','updates':3,'ms':5000,'needs':'update 7 of eu'}]"
                + ",'missing':[]");
    assertThat(why(Map.of("ap", key("aa", waiting, ""), "eu", key("bb", "", ""))).verdict())
        .startsWith(
            "LATE: 3 updates of us have come to ap and wait for update 7 of eu, for 5 s now.");
    String slow = object(",'missing':[{'dc':'us','updates':1,'ms':2500,'cut_ms':0}]");
    assertThat(why(Map.of("eu", key("bb", slow, ""), "us", key("aa", "", ""))).verdict())
        .startsWith("LATE: us lacks 1 update of eu for 2.5 s, longer than the bound of 2 s");
    String underWay = object(",'missing':[{'dc':'us','updates':1,'ms':80,'cut_ms':0}]");
    assertThat(why(Map.of("eu", key("bb", underWay, ""), "us", key("aa", "", ""))).verdict())
        .startsWith("Nothing is late: us lacks 1 update of eu, under way for 80 ms.");
  }

  @Test
  void causalCut_rights_andKeysThatAreNotThere_areSaid() {
    String back = ",'waiting_updates':4,'cut_held_back_by':['eu']";
    assertThat(why(Map.of("ap", key("aa", "", back))).verdict())
        .startsWith(
            "4 updates have come to ap and wait for the rest of their cut, which eu holds back.");
    String rights = object("").replace("'rights_waiting':0", "'rights_waiting':2");
    assertThat(why(Map.of("eu", key("aa", rights, ""))).text())
        .startsWith("WAITS: 2 updates at eu wait for rights")
        .contains("osier cli --connect eu.example:7400 --keyspace shop bcounter rights likes:42");
    Map<String, String> nobody =
        Map.of("ap", key("", "", ""), "eu", key("", "", ""), "us", key("", "", ""));
    assertThat(why(nobody).verdict())
        .isEqualTo("There is no 'likes:42' in 'shop' at ap, eu and us.");
  }
}
