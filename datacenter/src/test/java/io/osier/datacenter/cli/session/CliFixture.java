package io.osier.datacenter.cli.session;

import io.osier.datacenter.cli.Main;
import io.osier.datacenter.cli.command.CliCommand;
import io.osier.datacenter.server.TestCluster;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.TestInstance;
import picocli.CommandLine;

/** Commands of {@code osier cli} at a cluster. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class CliFixture {
  @AutoClose final TestCluster cluster = new TestCluster("eu");

  CliRun run(String... words) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "--timeout",
                "" + Patience.SECONDS,
                "--connect",
                "127.0.0.1:" + cluster.clientPort("eu")));
    all.addAll(List.of(words));
    return raw(all.toArray(new String[0]));
  }

  static CliRun raw(String... arguments) {
    return CliRun.of(() -> Main.execute(new CommandLine(new CliCommand()), arguments));
  }
}
