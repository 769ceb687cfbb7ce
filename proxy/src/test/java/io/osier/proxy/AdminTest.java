package io.osier.proxy;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

final class AdminTest {
  private final List<Request> sent = new ArrayList<>();

  private void asks(
      Function<Admin, CompletableFuture<String>> call,
      String subject,
      String action,
      String name,
      Map<String, String> settings) {
    FakeInProcess eu = new FakeInProcess();
    eu.handler =
        (request, reply) -> {
          sent.add(request);
          reply.accept(new Reply.Report("{}"));
        };
    try (OsierClient client = OsierClient.inProcess(eu)) {
      assertThat(call.apply(client.admin()).join()).isEqualTo("{}");
    }
    assertThat(sent)
        .containsExactly(new Request.Administer(subject, action, name, new TreeMap<>(settings)));
    sent.clear();
  }

  @Test
  void datacenters_areListed_addedAndRemoved() {
    asks(Admin::listDatacentersAsync, "dc", "list", "", Map.of());
    asks(
        admin -> admin.addDatacenterAsync("ap", "ap.example:7401"),
        "dc",
        "add",
        "ap",
        Map.of("address", "ap.example:7401"));
    asks(admin -> admin.removeDatacenterAsync("ap", false), "dc", "remove", "ap", Map.of());
    asks(
        admin -> admin.removeDatacenterAsync("ap", true),
        "dc",
        "remove",
        "ap",
        Map.of("dead", "true"));
  }

  @Test
  @SuppressWarnings("NullAway") // what is looked at is what a caller does wrong
  void whatIsMissing_isNamed() {
    try (OsierClient client = OsierClient.inProcess(new FakeInProcess())) {
      Admin admin = client.admin();
      refused(ErrorCode.INVALID_ARGUMENT, () -> admin.addDatacenterAsync(null, "ap:1"))
          .hasMessageContaining("a datacenter's name must be given");
      assertThatThrownBy(() -> admin.addDatacenterAsync("ap", null))
          .hasMessageContaining("a datacenter's address must be given");
      assertThatThrownBy(() -> admin.removeDatacenterAsync(null, true))
          .hasMessageContaining("a datacenter's name must be given");
    }
  }
}
