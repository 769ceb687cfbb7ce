package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.datacenter.server.TestCluster;
import io.osier.datacenter.words.Word;
import io.osier.proxy.OsierClient;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Transactions and bounded counters at the command line. */
final class TransactionCliTest {
  private static String run(CliSession cli, String line) {
    return cli.answer((Grammar.Action) Grammar.parse(Word.split(line)));
  }

  @Test
  void beginCommitAbort_andBoundedCounters() {
    try (TestCluster cluster =
            new TestCluster("bank { consistency = causal, sla = 200ms }", new String[] {"eu"});
        OsierClient client = cluster.client("eu")) {
      CliSession cli =
          new CliSession(
              client, client.session(), Optional.of("bank"), false, NewPasswords.ASKED_FOR);
      CliSession other =
          new CliSession(
              client, client.session(), Optional.of("bank"), false, NewPasswords.ASKED_FOR);
      assertThat(run(cli, "begin 30")).contains("at eu, on the snapshot");
      assertThatThrownBy(() -> run(cli, "begin")).hasMessageContaining("open already");
      assertThat(run(cli, "counter incr n 3")).isEqualTo("3; commit makes it visible");
      assertThat(run(cli, "counter get n")).isEqualTo("3");
      assertThat(run(other, "counter get n")).isEqualTo("0");
      assertThatThrownBy(() -> run(cli, "set add n x")).hasMessageContaining("holds a counter");
      assertThat(run(cli, "commit")).contains("committed; now");
      assertThat(run(other, "counter get n")).isEqualTo("3");
      assertThatThrownBy(() -> run(cli, "commit")).hasMessageContaining("no transaction is open");
      run(cli, "begin");
      run(cli, "counter incr n 100");
      assertThat(run(cli, "abort")).isEqualTo("aborted");
      assertThat(run(cli, "counter get n")).isEqualTo("3");
      cli.checkNothingBegun();
      run(other, "begin");
      assertThatThrownBy(other::checkNothingBegun)
          .hasMessageContaining("the transaction was not committed: nothing of it was done");

      assertThat(run(cli, "bcounter create stock 0 10")).isEqualTo("done");
      assertThat(run(cli, "bcounter incr stock 4")).isEqualTo("4");
      assertThatThrownBy(() -> run(cli, "bcounter decr stock 5"))
          .hasMessageContaining("holds the rights to subtract 4 of 4");
      assertThatThrownBy(() -> run(cli, "bcounter give stock us 1"))
          .hasMessageContaining("can be given to [eu], not to 'us'");
      assertThat(run(cli, "bcounter get stock")).isEqualTo("4");
      assertThat(run(cli, "bcounter rights stock"))
          .startsWith("4 in 0 to 10")
          .containsPattern("eu +4 +6");
      assertThatThrownBy(() -> run(cli, "bcounter create stock 5 - 9 1"))
          .hasMessageContaining("create KEY LOWER UPPER");
      CliSession json =
          new CliSession(
              client, client.session(), Optional.of("bank"), true, NewPasswords.ASKED_FOR);
      assertThat(run(json, "bcounter rights stock")).contains("\"shares\":{\"eu\":{\"down\":4");
    }
  }
}
