package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.datacenter.server.TestCluster;
import io.osier.datacenter.words.Word;
import io.osier.proxy.OsierClient;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** {@code why} and {@code top} over real sockets: all datacenters, by way of one. */
class WhyAcrossTest {
  private static String run(OsierClient client, String... words) {
    List<Word> command = Arrays.stream(words).map(Word::ofArgument).toList();
    return new CliSession(
            client, client.session(), Optional.of("shop"), false, NewPasswords.ASKED_FOR)
        .answer((Grammar.Action) Grammar.parse(command));
  }

  @Test
  void oneAddress_tellsOfAll_andWhoIsGone() {
    try (TestCluster cluster = new TestCluster("ap", "eu", "us")) {
      cluster.awaitReady();
      try (OsierClient client = cluster.client("eu")) {
        client.session().keyspace("shop").counter("likes:42").increment(3);
        await()
            .untilAsserted(
                () ->
                    assertThat(run(client, "why", "likes:42"))
                        .startsWith("Nothing of 'likes:42' waits: ap, eu and us have the same."));
        await() // a busy one may not answer in its time
            .untilAsserted(
                () ->
                    assertThat(run(client, "why", "us"))
                        .contains("us → ap", "eu → us")
                        .doesNotContain("eu → ap"));
        await()
            .untilAsserted(
                () ->
                    assertThat(new Top(client).once(false)).contains("\nap ", "\nus ", "us → ap"));
        cluster.stop("ap");
        client.session().keyspace("shop").counter("likes:42").increment(1);
        await()
            .untilAsserted(
                () ->
                    assertThat(run(client, "why", "likes:42"))
                        .startsWith("LATE: ap lacks 1 update of eu: the link eu → ap has been cut")
                        .contains("ap could not be asked", "nc -vz 127.0.0.1 "));
        await() // us may see later than eu that ap has gone
            .untilAsserted(
                () ->
                    assertThat(run(client, "why"))
                        .startsWith(
                            "LATE: the links eu → ap, us → ap are cut; up to 1 updates wait"));
      }
    }
  }

  @Test
  void keyOfAKeyspaceThatOthersHold_isAskedOfThem() {
    String keyspaces = "shop { sla = 100ms, replicas = [eu, us] }";
    try (TestCluster cluster = new TestCluster(keyspaces, new String[] {"ap", "eu", "us"});
        OsierClient there = cluster.client("eu");
        OsierClient here = cluster.client("ap")) {
      there.session().keyspace("shop").counter("likes:42").increment(3);
      for (OsierClient any : List.of(here, there)) {
        await()
            .untilAsserted(
                () ->
                    assertThat(run(any, "why", "likes:42"))
                        .startsWith("Nothing of 'likes:42' waits: eu and us have the same.")
                        .doesNotContain("could not be asked"));
      }
      cluster.stop("us");
      await()
          .untilAsserted(
              () -> assertThat(run(here, "why", "likes:42")).contains("us could not be asked"));
      cluster.stop("eu");
      await()
          .untilAsserted(
              () ->
                  assertThat(run(here, "why", "likes:42"))
                      .startsWith("No datacenter that was asked holds 'shop', so nothing is known")
                      .contains("eu and us could not be asked"));
    }
  }
}
