package io.osier.bench.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class MembershipCommandTest {
  /** Whatever the order of the fields, and whatever other fields say. */
  @Test
  void state_isThatOfTheDatacenter() {
    String list =
        """
        {"datacenters": [
          {"state": "leaving", "name": "us", "awaited": ["\\"name\\":\\"eu\\""]},
          {"catch_up": {"name": "eu", "state": "x"}, "name": "ap"},
          {"name" : "eu", "address": "eu:1", "state": "active"}
        ]}
        """;
    assertThat(MembershipCommand.stateIn(list, "eu")).isEqualTo("active");
    assertThat(MembershipCommand.stateIn(list, "us")).isEqualTo("leaving");
    assertThat(MembershipCommand.stateIn(list, "ap")).isEmpty();
    assertThat(MembershipCommand.stateIn(list, "sa")).isEmpty();
  }
}
