package io.osier.datacenter.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Grant;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.propagation.net.link.PortLimits;
import io.osier.testing.Patience;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who may look at a page that others than this machine reach. */
final class AdminAccessTest {
  private volatile Users users =
      new Users(
          List.of(
              user("admin", "secret", "admin *"),
              user("cart", "secret", "read *", "write *", "admin shop")));
  private final List<HttpEndpoint> open = new ArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();

  private static User user(String name, String password, String... rights) {
    return new User(
        name,
        Optional.of(
            ScramCredential.of(
                password.toCharArray(), new byte[16], ScramCredential.ITERATIONS_MIN)),
        List.of(rights).stream().map(Grant::parse).toList());
  }

  @AfterEach
  void close() {
    open.forEach(HttpEndpoint::close);
    http.close();
  }

  private HttpEndpoint start(boolean isPrivate) {
    Map<String, Supplier<CompletableFuture<HttpEndpoint.Answer>>> paths = new LinkedHashMap<>();
    for (String path : List.of("/metrics", "/livez", "/readyz", "/health", "/")) {
      paths.put(
          path, () -> CompletableFuture.completedFuture(new HttpEndpoint.Answer(200, "here\n")));
    }
    AccessControl access =
        new AccessControl(
            () -> users,
            "osier",
            new DecoyCredentials(new byte[DecoyCredentials.SECRET_BYTES]),
            new AuditLog("eu"));
    HttpEndpoint endpoint =
        new HttpEndpoint(
            new InetSocketAddress("127.0.0.1", 0),
            new PortLimits(100, Patience.MILLIS, Patience.MILLIS),
            Optional.empty(),
            new HostNames(Set.of()),
            Optional.of(new AdminAccess(access, isPrivate, Runnable::run)),
            paths);
    open.add(endpoint);
    return endpoint;
  }

  private HttpResponse<String> get(HttpEndpoint from, String path, String... field)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + from.port() + path));
    if (field.length > 0) {
      request.header("Authorization", field[0]);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String basic(String user, String password) {
    return "Basic "
        + Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void probes_areAnsweredToAnybody() throws Exception {
    HttpEndpoint endpoint = start(false);
    for (String path : List.of("/livez", "/readyz", "/health")) {
      assertThat(get(endpoint, path).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void theRest_isForWhoMayAdministerAll() throws Exception {
    HttpEndpoint endpoint = start(false);
    for (String path : List.of("/metrics", "/")) {
      HttpResponse<String> none = get(endpoint, path);
      assertThat(none.statusCode()).isEqualTo(401);
      assertThat(none.headers().firstValue("WWW-Authenticate"))
          .hasValueSatisfying(v -> assertThat(v).startsWith("Basic "));
      assertThat(none.body()).doesNotContain("here");
      assertThat(get(endpoint, path, basic("admin", "secret")).body()).isEqualTo("here\n");
      HttpResponse<String> cart = get(endpoint, path, basic("cart", "secret"));
      assertThat(cart.statusCode()).isEqualTo(403);
      assertThat(cart.body()).isEqualTo("a right is missing: admin *\n");
    }
    for (String wrong :
        List.of(
            basic("admin", "Secret"),
            basic("nobody", "secret"),
            basic("", "secret"),
            "Basic ?",
            "Bearer secret")) {
      assertThat(get(endpoint, "/metrics", wrong).statusCode()).as(wrong).isEqualTo(401);
    }
  }

  @Test
  void aPasswordThatWasRightOnce_isNotRightAfterItWasChanged() throws Exception {
    HttpEndpoint endpoint = start(false);
    assertThat(get(endpoint, "/metrics", basic("admin", "secret")).statusCode()).isEqualTo(200);
    users = new Users(List.of(user("admin", "other", "admin *")));
    assertThat(get(endpoint, "/metrics", basic("admin", "secret")).statusCode()).isEqualTo(401);
    assertThat(get(endpoint, "/metrics", basic("admin", "other")).statusCode()).isEqualTo(200);
    users = new Users(List.of(user("admin", "other", "admin shop")));
    assertThat(get(endpoint, "/metrics", basic("admin", "other")).statusCode()).isEqualTo(403);
  }

  @Test
  void guesses_areSlowedDown() throws Exception {
    HttpEndpoint endpoint = start(false);
    int delayed = 0;
    for (int i = 0; i < 20; i++) {
      int status = get(endpoint, "/metrics", basic("admin", "guess" + i)).statusCode();
      assertThat(status).isIn(401, 429);
      delayed += status == 429 ? 1 : 0;
    }
    assertThat(delayed).isPositive();
  }

  @Test
  void whereNoRightsAreInForce_orNobodyElseReachesIt_anybodyLooks() throws Exception {
    assertThat(get(start(true), "/metrics").statusCode()).isEqualTo(200);
    users = Users.OPEN;
    assertThat(get(start(false), "/metrics").statusCode()).isEqualTo(200);
  }
}
