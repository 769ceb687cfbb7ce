package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.Request;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A datacenter joins, and something of it does not work. */
final class JoiningTest {
  private long clock = 1_000;
  private boolean refuses;

  private ControlPlane plane(OsierCopy copy, SortedMap<String, Optional<String>> file) {
    ControlPlane.Host host =
        (ControlPlane.Host)
            Proxy.newProxyInstance(
                ControlPlane.Host.class.getClassLoader(),
                new Class<?>[] {ControlPlane.Host.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("ask")) {
                    return copy.ask((Request) arguments[0]);
                  }
                  if (method.getName().equals("open") && refuses) {
                    throw new OsierException(ErrorCode.STORE_FULL, "the disk is full");
                  }
                  if (method.getReturnType() == int.class) {
                    return 10;
                  }
                  if (method.getReturnType() == boolean.class) {
                    return true; // all is well
                  }
                  if (method.getReturnType() == OptionalLong.class) {
                    return OptionalLong.empty();
                  }
                  return method.getReturnType() == List.class ? List.of() : null;
                });
    return new ControlPlane(copy.replica().dc(), file, Map.of(), () -> ++clock, host);
  }

  private static SortedMap<String, Optional<String>> file(String... names) {
    SortedMap<String, Optional<String>> file = new TreeMap<>();
    for (String name : names) {
      file.put(name, Optional.of(name + ":1"));
    }
    return file;
  }

  private static Request.Administer command(
      String subject, String action, String name, Map<String, String> settings) {
    return new Request.Administer(subject, action, name, new TreeMap<>(settings));
  }

  private static String state(ControlPlane of, String name) {
    return of.administerDatacenters(command("dc", "list", "", Map.of()), "ada").stream()
        .filter(v -> v.name().equals(name))
        .findFirst()
        .orElseThrow()
        .state();
  }

  /** Else it would be taken for one that has everything, and could be the only one left. */
  @Test
  void whoCannotOpenAKeyspace_isNotActive_untilItCan() {
    OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
    ControlPlane old = plane(eu, file("eu"));
    old.administerDatacenters(command("dc", "add", "za", Map.of("address", "za:1")), "ada");
    old.administer(command("keyspace", "create", "carts", Map.of()), "ada");
    OsierCopy za = new OsierCopy(new ReplicaId("za", 2_000), () -> ++clock);
    za.hear(eu);
    refuses = true;
    ControlPlane joins = plane(za, file("eu", "za"));
    for (int i = 0; i < 5; i++) {
      joins.look();
    }
    assertThat(state(joins, "za")).isEqualTo("joining");
    refuses = false;
    for (int i = 0; i < 5; i++) {
      joins.look();
    }
    assertThat(state(joins, "za")).isEqualTo("active");
  }
}
