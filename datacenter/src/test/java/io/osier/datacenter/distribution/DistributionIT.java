package io.osier.datacenter.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The distribution, unpacked outside the repository: what is in it, and that it runs. */
final class DistributionIT {
  /** What production needs. Whatever comes to it is added here by somebody who thought about it. */
  private static final List<String> LIBRARIES =
      List.of(
          "HdrHistogram",
          "caffeine",
          "config",
          "error_prone_annotations",
          "jackson-annotations",
          "jackson-core",
          "jackson-databind",
          "jline",
          "jspecify",
          "kryo",
          "logback-classic",
          "logback-core",
          "micrometer-commons",
          "micrometer-core",
          "micrometer-observation",
          "micrometer-registry-prometheus",
          "minlog",
          "netty-buffer",
          "netty-codec-base",
          "netty-common",
          "netty-handler",
          "netty-resolver",
          "netty-transport",
          "netty-transport-native-unix-common",
          "objenesis",
          "opentelemetry-api",
          "opentelemetry-common",
          "opentelemetry-context",
          "opentelemetry-exporter-common",
          "opentelemetry-exporter-otlp",
          "opentelemetry-exporter-otlp-common",
          "opentelemetry-exporter-sender-jdk",
          "opentelemetry-sdk",
          "opentelemetry-sdk-common",
          "opentelemetry-sdk-extension-autoconfigure-spi",
          "opentelemetry-sdk-logs",
          "opentelemetry-sdk-metrics",
          "opentelemetry-sdk-trace",
          "osier-adaptation",
          "osier-client",
          "osier-core",
          "osier-crdt",
          "osier-datacenter",
          "osier-propagation",
          "picocli",
          "prometheus-metrics-config",
          "prometheus-metrics-core",
          "prometheus-metrics-exposition-formats",
          "prometheus-metrics-exposition-textformats",
          "prometheus-metrics-model",
          "prometheus-metrics-tracer-common",
          "reflectasm",
          "rocksdbjni",
          "saslprep",
          "scram-client",
          "scram-common",
          "slf4j-api",
          "stringprep");

  @TempDir private static Path dir;
  private static Unpacked unpacked;

  @BeforeAll
  static void unpack() throws Exception {
    unpacked = Unpacked.in(dir);
  }

  private static String artifact(String jar) {
    return jar.replaceFirst("-\\d.*", "");
  }

  @Test
  void lib_holdsWhatProductionNeedsAndNothingElse() throws Exception {
    assertThat(unpacked.libraries().stream().map(DistributionIT::artifact).sorted())
        .containsExactlyElementsOf(LIBRARIES);
  }

  @Test
  void rocksdb_isThereForTwoSystems_andSaysSoOnOthers() throws Exception {
    String jar =
        unpacked.libraries().stream().filter(l -> l.startsWith("rocksdbjni")).findFirst().get();
    Path path = unpacked.home().resolve("lib").resolve(jar);
    try (JarFile rocksdb = new JarFile(path.toFile())) {
      assertThat(rocksdb.stream().map(JarEntry::getName).filter(n -> n.startsWith("lib")))
          .containsExactlyInAnyOrder("librocksdbjni-linux64.so", "librocksdbjni-linux-aarch64.so");
      assertThat(rocksdb.getEntry("org/rocksdb/RocksDB.class")).isNotNull();
    }
    Unpacked.Ran elsewhere =
        unpacked.osier(
            Map.of("OSIER_JAVA_OPTIONS", "-Dos.arch=s390x", "OSIER_CACHE", "off"),
            "server",
            "--config",
            unpacked.home().resolve("conf/osier.conf").toString());
    assertThat(elsewhere.exit()).as(elsewhere.output()).isEqualTo(1);
    assertThat(elsewhere.output().lines().filter(l -> l.startsWith("error CONFIGURATION: ")))
        .singleElement()
        .asString()
        .contains("cannot be loaded on Linux s390x", "glibc on x86_64 and aarch64", "store.dir");
    assertThat(elsewhere.output()).doesNotContain("\tat ");
  }

  @Test
  void bomAndLicences_nameEveryLibrary() throws Exception {
    Path share = unpacked.home().resolve("share");
    JsonNode bom = new ObjectMapper().readTree(share.resolve("sbom/osier.cdx.json").toFile());
    List<String> named = new ArrayList<>();
    bom.get("components")
        .forEach(c -> named.add(c.get("name").asText() + "-" + c.get("version").asText() + ".jar"));
    String licences = Files.readString(share.resolve("licenses/THIRD-PARTY.txt"));
    for (String jar : unpacked.libraries()) {
      String name = artifact(jar);
      if (!name.equals("osier-datacenter")) { // which is what the list of components is of
        assertThat(named).contains(jar);
      }
      if (!name.startsWith("osier-")) {
        assertThat(licences).contains(":" + name + ":");
      }
    }
    assertThat(licences).doesNotContainIgnoringCase("unknown license");
    try (Stream<Path> texts = Files.walk(share.resolve("licenses"))) {
      assertThat(texts.filter(Files::isRegularFile)).hasSizeGreaterThan(10);
    }
  }

  @Test
  void partsForTheSystem_areThere() throws Exception {
    Path home = unpacked.home();
    assertThat(home.resolve("share/completion/osier.bash"))
        .content()
        .contains("server", "backup", "restore", "rebuild", "verify");
    assertThat(home.resolve("share/systemd/osier.service")).content().contains("ExecStart=");
    assertThat(home.resolve("share/osier-reference.conf")).exists();
    assertThat(home.resolve("LICENSE")).exists();
    Unpacked.Ran check =
        unpacked.osier(
            Map.of(
                "OSIER_LISTEN_CLIENT_PORT",
                "0",
                "OSIER_LISTEN_PEER_PORT",
                "0",
                "OSIER_ADMIN_PORT",
                "0"),
            "server",
            "--config",
            home.resolve("conf/osier.conf").toString(),
            "--check");
    assertThat(check.output()).contains("is correct");
    assertThat(check.exit()).isZero();
  }

  @Test
  void version_namesTheCommit() throws Exception {
    Unpacked.Ran ran = unpacked.osier(Map.of(), "--version");
    assertThat(ran.output())
        .containsPattern(
            "^osier \\Q" + System.getProperty("osier.version") + "\\E \\(commit [0-9a-z]+\\+?\\)")
        .contains("Java " + System.getProperty("java.version"));
  }

  @Test
  void wrongJava_isNamedWithWhatHelps() throws Exception {
    Unpacked.Ran none = unpacked.osier(Map.of("OSIER_JAVA_HOME", "/nowhere"), "--version");
    assertThat(none.exit()).isEqualTo(1);
    assertThat(none.output()).contains("OSIER_JAVA_HOME is /nowhere").contains("no bin/java");
    Path old = Files.createDirectories(dir.resolve("old java/bin")).getParent();
    Files.writeString(old.resolve("release"), "JAVA_VERSION=\"17.0.1\"\n");
    Path java = Files.writeString(old.resolve("bin/java"), "#!/bin/sh\nexit 9\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    Unpacked.Ran tooOld = unpacked.osier(Map.of("OSIER_JAVA_HOME", old.toString()), "--version");
    assertThat(tooOld.exit()).isEqualTo(1);
    assertThat(tooOld.output()).contains("Java 21 or newer").contains("(17)");
  }

  /** One life after the other: without a cache, with one, with one that is damaged. */
  @Test
  void server_servesAndStops_whateverItsStartCacheIsLike() throws Exception {
    Path cache = unpacked.home().resolve("cache");
    try (Unpacked.Server without = unpacked.server(Map.of("OSIER_CACHE", "off"))) {
      assertThat(firstOf(without)).contains(" INFO "); // and nothing before the log
      assertThat(without.said()).contains("osier 0.");
      assertThat(cache).doesNotExist();
      assertThat(cli(without, "counter", "incr", "likes", "3")).isEqualTo("3\n");
      without.stop();
      assertThat(without.said()).contains("is closed");
    }
    try (Unpacked.Server first = unpacked.server(Map.of())) {
      assertThat(first.said()).contains("a start cache is made").doesNotContain("no start cache");
      assertThat(cli(first, "counter", "get", "likes")).isEqualTo("3\n");
    }
    List<Path> made;
    try (Stream<Path> files = Files.list(cache)) {
      made = files.sorted().toList();
    }
    // The classes and RocksDB's library, and nothing of what it took to make them.
    assertThat(made).hasSize(2);
    assertThat(made.getFirst().getFileName().toString()).startsWith("java-");
    assertThat(made.getLast().getFileName().toString()).startsWith("librocksdb");
    String used = Runtime.version().feature() < 25 ? "-Xshare:on" : "-XX:AOTMode=on";
    try (Unpacked.Server second = unpacked.server(Map.of("OSIER_JAVA_OPTIONS", used))) {
      assertThat(second.said()).doesNotContain("a start cache is made");
      assertThat(Files.readString(Path.of("/proc", second.process().pid() + "", "maps")))
          .contains(made.getLast().toString());
      assertThat(cli(second, "counter", "get", "likes")).isEqualTo("3\n");
    }
    for (Path file : made) {
      damage(file);
    }
    try (Unpacked.Server damaged = unpacked.server(Map.of())) {
      assertThat(firstOf(damaged)).contains(" INFO "); // Java says nothing of it
      assertThat(cli(damaged, "counter", "get", "likes")).isEqualTo("3\n");
    }
    Files.write(made.getFirst(), new byte[100_000]);
    try (Unpacked.Server damaged = unpacked.server(Map.of())) {
      assertThat(firstOf(damaged)).contains(" INFO ");
      assertThat(cli(damaged, "counter", "get", "likes")).isEqualTo("3\n");
    }
  }

  /** Turns bits in the middle of it, as a disk may. */
  private static void damage(Path file) throws Exception {
    byte[] content = Files.readAllBytes(file);
    for (int i = 0; i < 4_096; i++) {
      content[content.length / 2 + i] ^= 0x55;
    }
    Path damaged = Files.write(file.resolveSibling("damaged"), content);
    Files.move(damaged, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private static String firstOf(Unpacked.Server server) {
    return server.said().lines().findFirst().orElseThrow();
  }

  private static String cli(Unpacked.Server server, String... command) throws Exception {
    List<String> all =
        new ArrayList<>(
            List.of(
                "cli", "--timeout", "300", "--connect", server.clients(), "--keyspace", "shop"));
    all.addAll(List.of(command));
    Unpacked.Ran ran = unpacked.osier(Map.of(), all.toArray(String[]::new));
    assertThat(ran.exit()).as(ran.output()).isZero();
    return ran.output();
  }
}
