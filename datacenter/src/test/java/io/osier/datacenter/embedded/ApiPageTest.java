package io.osier.datacenter.embedded;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The examples of docs/API.md compile, and do what they say. */
final class ApiPageTest {
  private static final String ONLY_COMPILED = "<!-- compiled only -->";

  private static final List<String> IMPORTS =
      List.of(
          "com.fasterxml.jackson.databind.ObjectMapper",
          "io.micrometer.observation.ObservationRegistry",
          "io.osier.core.*",
          "io.osier.crdt.*",
          "io.osier.crdt.types.BoundedCounter",
          "io.osier.datacenter.embedded.EmbeddedDatacenter",
          "io.osier.proxy.*",
          "io.osier.proxy.Keyspace.*",
          "io.osier.proxy.observe.*",
          "io.osier.proxy.values.*",
          "java.nio.file.*",
          "java.time.*",
          "java.util.*",
          "java.util.concurrent.*",
          "java.util.stream.*");

  /** One example: a method of a class. */
  private record Example(int line, boolean isRun, String code) {
    String method() {
      return "line" + line;
    }
  }

  @TempDir private static Path dir;

  private static TestCluster cluster;
  private static OsierClient client;

  @BeforeAll
  static void start() {
    cluster =
        new TestCluster(
            "shop { sla = 1s }, bank { sla = 1s, consistency = causal }",
            new String[] {"eu", "us"});
    client = cluster.client("eu");
  }

  @AfterAll
  static void stop() {
    client.close();
    cluster.close();
  }

  private static Path page() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.exists(at.resolve("docs/API.md"))) {
      at = requireNonNull(at.getParent(), "the repository is above");
    }
    return at.resolve("docs/API.md");
  }

  private static List<Example> examples(List<String> lines) {
    List<Example> examples = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).equals("```java")) {
        int end = i + lines.subList(i, lines.size()).indexOf("```");
        boolean isRun = !lines.get(i - 1).equals(ONLY_COMPILED);
        examples.add(new Example(i + 2, isRun, String.join("\n", lines.subList(i + 1, end))));
      }
    }
    return examples;
  }

  private static String source(List<Example> examples) {
    StringBuilder source = new StringBuilder();
    IMPORTS.forEach(name -> source.append("import ").append(name).append(";\n"));
    source.append(
        """
        public final class ApiPage {
          public static OsierClient client;
          public static Keyspace shop;
          public static Keyspace bank;
          static void check(boolean holds) {
            if (!holds) throw new AssertionError("what the example says does not hold");
          }
        """);
    for (Example example : examples) {
      source
          .append("public static void ")
          .append(example.method())
          .append("() throws Exception {\n")
          .append(example.code())
          .append("\n}\n");
    }
    return source.append("}\n").toString();
  }

  private static Class<?> compiled(String source) throws IOException, ClassNotFoundException {
    Path file = Files.writeString(dir.resolve("ApiPage.java"), source);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean isFine =
          compiler
              .getTask(
                  said,
                  files,
                  null,
                  List.of(
                      "-proc:none",
                      "-cp",
                      System.getProperty("java.class.path"),
                      "-d",
                      dir.toString()),
                  null,
                  files.getJavaFileObjects(file))
              .call();
      assertThat(isFine).as("docs/API.md: " + said).isTrue();
    }
    return loader().loadClass("ApiPage");
  }

  /** Is not closed: the examples' classes are loaded when they are run. */
  private static ClassLoader loader() throws MalformedURLException {
    URL[] at = {dir.toUri().toURL()};
    return new URLClassLoader(at, ApiPageTest.class.getClassLoader());
  }

  @TestFactory
  List<DynamicTest> examples() throws Exception {
    List<Example> examples = examples(Files.readAllLines(page()));
    assertThat(examples).hasSizeGreaterThan(10);
    Class<?> page = compiled(source(examples));
    Session session = client.session();
    set(page, "client", client);
    set(page, "shop", session.keyspace("shop"));
    set(page, "bank", session.keyspace("bank"));
    return examples.stream()
        .filter(Example::isRun)
        .map(e -> DynamicTest.dynamicTest("line " + e.line(), () -> run(page, e)))
        .toList();
  }

  private static void set(Class<?> page, String field, Object value)
      throws ReflectiveOperationException {
    page.getField(field).set(null, value);
  }

  private static void run(Class<?> page, Example example) throws Exception {
    try {
      page.getMethod(example.method()).invoke(null);
    } catch (InvocationTargetException e) {
      throw new AssertionError("docs/API.md, line " + example.line(), e.getCause());
    }
  }
}
