package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Properties;
import org.junit.jupiter.api.Test;

final class BuildTest {
  @Test
  void build_namesVersionAndCommit_andWhetherTheSourcesHadChanged() {
    assertThat(build("0.1.0", "1234567", "false")).hasToString("0.1.0 (commit 1234567)");
    assertThat(build("0.1.0", "1234567", "true")).hasToString("0.1.0 (commit 1234567+)");
  }

  @Test
  void whatTheBuildDidNotKnow_isUnknown() {
    assertThat(build("0.1.0", "${git.commit.id.abbrev}", "${git.dirty}"))
        .hasToString("0.1.0 (commit unknown)");
    assertThat(Build.of(new Properties())).hasToString("unknown (commit unknown)");
  }

  private static Build build(String version, String commit, String changed) {
    Properties properties = new Properties();
    properties.setProperty("version", version);
    properties.setProperty("commit", commit);
    properties.setProperty("changed", changed);
    return Build.of(properties);
  }
}
