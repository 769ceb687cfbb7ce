package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

final class CliRunTest {
  private static final Logger LOG = LoggerFactory.getLogger(CliRunTest.class);

  /** A datacenter of this process logs what was slow, and a busy machine is slow. */
  @Test
  void whatIsLoggedMeanwhile_isNotWhatTheCommandPrints() {
    CliRun run =
        CliRun.of(
            () -> {
              System.err.println("before");
              LOG.warn("something was slow");
              System.err.println("behind");
              return 3;
            });
    assertThat(run).isEqualTo(new CliRun(3, "", "before\nbehind"));
  }
}
