package io.osier.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.OsierClient;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.core.io.DefaultResourceLoader;

/** The sample services, compiled as they stand, and asked by HTTP. */
@Timeout(300)
final class SamplesTest {
  private static final Path SAMPLES = Path.of("../samples");
  private static final EmbeddedDatacenter EU = OneDatacenter.start();

  @TempDir private Path dir;
  private final HttpClient http = HttpClient.newHttpClient();

  @AfterAll
  static void stop() {
    EU.close();
  }

  private URLClassLoader compiled(String sample) throws Exception {
    Path main = SAMPLES.resolve(sample).resolve("src/main");
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (var files = compiler.getStandardFileManager(null, null, null);
        Stream<Path> sources = Files.walk(main.resolve("java"))) {
      StringWriter said = new StringWriter();
      List<Path> java = sources.filter(f -> f.toString().endsWith(".java")).toList();
      List<String> options =
          List.of(
              "-d",
              dir.toString(),
              "-parameters",
              "-proc:none",
              "-Xlint:all,-classfile,-path,-serial");
      boolean done =
          compiler
              .getTask(said, files, null, options, null, files.getJavaFileObjectsFromPaths(java))
              .call();
      assertThat(done).as(said.toString()).isTrue();
      assertThat(said.toString()).isEmpty();
    }
    URL[] places = {
      dir.toUri().toURL(), main.resolve("resources").toAbsolutePath().toUri().toURL()
    };
    return new URLClassLoader(places, getClass().getClassLoader());
  }

  private String ask(String method, int port, String path, int status) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(Duration.ofMinutes(1))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return answer.body().strip();
  }

  @Test
  void likes_areCounted() throws Exception {
    try (URLClassLoader classes = compiled("likes")) {
      OsierClient client =
          OsierClient.builder().endpoint("eu", "127.0.0.1:" + EU.clientPort()).build();
      client.awaitConnected(Duration.ofMinutes(1));
      Class<?> type = classes.loadClass("com.example.likes.LikesService");
      try (AutoCloseable service =
          (AutoCloseable)
              type.getConstructor(OsierClient.class, String.class, int.class)
                  .newInstance(client, "shop", 0)) {
        int port = (int) type.getMethod("port").invoke(service);
        assertThat(ask("POST", port, "/likes/42", 200)).isEqualTo("1");
        assertThat(ask("POST", port, "/likes/42", 200)).isEqualTo("2");
        assertThat(ask("DELETE", port, "/likes/42", 200)).isEqualTo("1");
        assertThat(ask("GET", port, "/likes/42", 200)).isEqualTo("1");
        assertThat(ask("PUT", port, "/likes/42", 405)).isEqualTo("GET, POST or DELETE");
        assertThat(EU.session().keyspace("shop").counter("likes:42").get()).isEqualTo(1);
        EU.session().keyspace("shop").set("likes:43").add("another type");
        ask("POST", port, "/likes/43", 400);
      }
      assertThat(client.isConnected()).isFalse();
    }
  }

  @Test
  void cart_addsUp_andIsPriced() throws Exception {
    try (URLClassLoader classes = compiled("cart");
        var context =
            new SpringApplicationBuilder(
                    new DefaultResourceLoader(classes),
                    classes.loadClass("com.example.cart.CartApplication"))
                .bannerMode(Banner.Mode.OFF)
                .run(
                    "--server.port=0",
                    "--osier.keyspace=shop",
                    "--osier.endpoints.local=127.0.0.1:" + EU.clientPort())) {
      int port =
          Integer.parseInt(
              Objects.requireNonNull(context.getEnvironment().getProperty("local.server.port")));
      ask("POST", port, "/carts/ada/book", 200);
      ask("POST", port, "/carts/ada/book?quantity=2", 200);
      ask("POST", port, "/carts/ada/lamp", 200);
      assertThat(ask("GET", port, "/carts/ada", 200))
          .isEqualTo("{\"items\":{\"book\":3,\"lamp\":1},\"cents\":1600}");
      assertThat(ask("DELETE", port, "/carts/ada/book", 200))
          .isEqualTo("{\"items\":{\"lamp\":1},\"cents\":400}");
      var shop = EU.session().keyspace("shop");
      assertThat(shop.timeToLive("cart:ada").orElseThrow()).isGreaterThan(Duration.ofDays(29));
      assertThat(shop.exists("cache:prices:lamp")).isTrue();
      assertThat(context.getBean(OsierClient.class).status().getFirst().dc()).isEqualTo("local");
    }
  }

  /** As README and this build have them. */
  @Test
  void projects_useThisVersion() throws Exception {
    Map<String, String> wanted =
        Map.of(
            "likes", "osier-client",
            "cart", "osier-spring-boot-starter");
    String root = Files.readString(Path.of("../../pom.xml"));
    for (Map.Entry<String, String> one : wanted.entrySet()) {
      String pom = Files.readString(SAMPLES.resolve(one.getKey()).resolve("pom.xml"));
      assertThat(pom)
          .contains("<artifactId>" + one.getValue() + "</artifactId><version>${osier.version}<")
          .contains("<osier.version>" + between(root, "<revision>") + "</osier.version>");
    }
    assertThat(Files.readString(SAMPLES.resolve("cart/pom.xml")))
        .contains("<version>" + between(root, "<spring-boot.version>") + "</version>");
  }

  private static String between(String pom, String tag) {
    int from = pom.indexOf(tag) + tag.length();
    return pom.substring(from, pom.indexOf('<', from));
  }
}
