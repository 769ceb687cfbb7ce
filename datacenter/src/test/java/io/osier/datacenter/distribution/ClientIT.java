package io.osier.datacenter.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The client as its users get it: projects outside the repository, with the coordinates that README
 * names, built by Maven against what this build has deployed, and run against the distribution's
 * server.
 *
 * <p>Their Maven reaches no network. This build's own local repository is to it what a remote one
 * is to users; so it has all plugins and libraries, of the versions that this build has used, also
 * on a machine that has built nothing before. What it takes goes into a local repository of its
 * own.
 */
final class ClientIT {
  /** What a user of the client gets. What comes to it is added here by who thought about it. */
  private static final List<String> LIBRARIES =
      List.of(
          "com.esotericsoftware:kryo",
          "com.esotericsoftware:minlog",
          "com.esotericsoftware:reflectasm",
          "com.fasterxml.jackson.core:jackson-core",
          "com.github.ben-manes.caffeine:caffeine",
          "com.google.errorprone:error_prone_annotations",
          "com.ongres.scram:scram-client",
          "com.ongres.scram:scram-common",
          "com.ongres.stringprep:saslprep",
          "com.ongres.stringprep:stringprep",
          "io.netty:netty-buffer",
          "io.netty:netty-codec-base",
          "io.netty:netty-common",
          "io.netty:netty-handler",
          "io.netty:netty-resolver",
          "io.netty:netty-transport",
          "io.netty:netty-transport-native-unix-common",
          "io.osier:osier-client",
          "io.osier:osier-core",
          "io.osier:osier-crdt",
          "org.jspecify:jspecify",
          "org.objenesis:objenesis",
          "org.slf4j:slf4j-api");

  private static final Pattern NODE = Pattern.compile("^[-+\\\\| ]+([^:]+:[^:]+):jar:.*$");

  private static final String MAIN =
      """
      package org.example.shop;

      import io.osier.core.Value;
      import io.osier.proxy.Keyspace;
      import io.osier.proxy.OsierClient;
      import io.osier.proxy.Session;
      import io.osier.proxy.Transaction;
      import java.time.Duration;
      import java.util.List;

      public final class Main {
        public static void main(String[] args) {
          OsierClient.Builder patient =
              OsierClient.builder()
                  .timeout(Duration.ofMinutes(5))
                  .pingInterval(Duration.ofMinutes(1));
          try (OsierClient client = patient.endpoint("eu", args[0]).build()) {
            Session ada = client.session();
            Keyspace shop = ada.keyspace("shop");
            shop.counter("likes:" + args[1]).increment(2);
            shop.set("cart:" + args[1]).add("book");
            List<Value> cart = shop.set("cart:" + args[1]).get();
            System.out.println("shop " + shop.counter("likes:" + args[1]).get() + " " + cart);

            Keyspace bank = ada.keyspace("bank");
            try (Transaction tx = bank.begin()) {
              tx.counter("deposits:" + args[1]).increment(3);
              tx.set("owners:" + args[1]).add("Ada");
              tx.commit();
            }
            long deposits = bank.counter("deposits:" + args[1]).get();
            System.out.println("bank " + deposits + " " + bank.set("owners:" + args[1]).get());
            System.out.println("module " + Main.class.getModule().getName());
            System.out.println("client " + OsierClient.class.getModule().getName());
          }
        }
      }
      """;

  @TempDir private static Path dir;
  private static Unpacked unpacked;
  private static Unpacked.Server server;

  @BeforeAll
  static void start() throws Exception {
    unpacked = Unpacked.in(dir);
    server = unpacked.server(Map.of("OSIER_CACHE", "off"));
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @Test
  void project_isBuiltAgainstTheClient_andGetsNothingOfTheServer() throws Exception {
    Path project = project("a shop", false);
    String classPath = build(project);
    List<String> nodes = new ArrayList<>();
    for (String line : Files.readAllLines(project.resolve("tree.txt"))) {
      Matcher node = NODE.matcher(line);
      if (node.matches()) {
        nodes.add(node.group(1));
      }
    }
    assertThat(nodes).containsExactlyInAnyOrderElementsOf(LIBRARIES);
    assertThat(classPath.split(File.pathSeparator)).hasSameSizeAs(LIBRARIES);
    String all = project.resolve("target/classes") + File.pathSeparator + classPath;
    assertThat(java(project, "-cp", all, "org.example.shop.Main"))
        .contains("shop 2 [book]", "bank 3 [Ada]", "module null", "client null");
  }

  @Test
  void modularProject_requiresTheClientByItsModules() throws Exception {
    Path project = project("a modular shop", true);
    String modulePath = project.resolve("target/classes") + File.pathSeparator + build(project);
    // An automatic module cannot say that it requires Netty's, which are modules proper.
    String all = "ALL-MODULE-PATH";
    assertThat(
            java(
                project,
                "-p",
                modulePath,
                "--add-modules",
                all,
                "-m",
                "org.example.shop/org.example.shop.Main"))
        .contains("shop 2 [book]", "bank 3 [Ada]")
        .contains("module org.example.shop", "client io.osier.proxy");
  }

  /** Runs the program; gives the lines that it prints. */
  private static List<String> java(Path project, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(arguments));
    command.addAll(List.of(server.clients(), project.getFileName().toString()));
    Unpacked.Ran ran = unpacked.run(project, Map.of(), command);
    assertThat(ran.exit()).as(ran.output()).isZero();
    return ran.output().lines().toList();
  }

  /** Builds a project and writes its tree of dependencies; gives their class path. */
  private static String build(Path project) throws Exception {
    Path installed = Path.of(System.getProperty("osier.installed"));
    assertThat(installed.resolve("io/osier/osier-client"))
        .as("what the execution for-tests of the root pom has deployed")
        .isDirectory();
    Path settings = Files.writeString(dir.resolve("settings.xml"), settings(installed));
    String dependency =
        "org.apache.maven.plugins:maven-dependency-plugin:"
            + System.getProperty("osier.maven.dependency");
    Unpacked.Ran ran =
        unpacked.run(
            project,
            Map.of("JAVA_HOME", System.getProperty("java.home")),
            List.of(
                Path.of(System.getProperty("osier.maven"), "bin", "mvn").toString(),
                "-B",
                "-ntp",
                "-s",
                settings.toString(),
                "-gs",
                settings.toString(),
                "compile",
                dependency + ":tree",
                "-DoutputFile=tree.txt",
                dependency + ":build-classpath",
                "-Dmdep.outputFile=class-path.txt"));
    assertThat(ran.exit()).as(ran.output()).isZero();
    return Files.readString(project.resolve("class-path.txt")).strip();
  }

  private static Path project(String name, boolean isModular) throws IOException {
    Path project = Files.createDirectories(dir.resolve(name));
    Files.writeString(project.resolve("pom.xml"), pom());
    Path sources = project.resolve("src/main/java");
    Path packageFolder = Files.createDirectories(sources.resolve("org/example/shop"));
    Files.writeString(packageFolder.resolve("Main.java"), MAIN);
    if (isModular) {
      Files.writeString(
          sources.resolve("module-info.java"),
          """
          module org.example.shop {
            requires io.osier.core;
            requires io.osier.proxy;
          }
          """);
    }
    return project;
  }

  /** A project with the coordinates as they stand in README. */
  private static String pom() throws IOException {
    String readme = Files.readString(Path.of(System.getProperty("osier.readme")));
    String start = "```xml\n<dependencyManagement>";
    assertThat(readme).containsOnlyOnce(start);
    int from = readme.indexOf(start) + "```xml\n".length();
    String coordinates = readme.substring(from, readme.indexOf("```", from));
    assertThat(coordinates).contains(System.getProperty("osier.version"));
    return """
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>org.example</groupId>
      <artifactId>shop</artifactId>
      <version>1</version>
      <properties>
        <maven.compiler.release>21</maven.compiler.release>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
      </properties>
      %s
      <build>
        <plugins>
          <plugin><artifactId>maven-resources-plugin</artifactId><version>%s</version></plugin>
          <plugin><artifactId>maven-compiler-plugin</artifactId><version>%s</version></plugin>
        </plugins>
      </build>
    </project>
    """
        .formatted(
            coordinates,
            System.getProperty("osier.maven.resources"),
            System.getProperty("osier.maven.compiler"));
  }

  private static String settings(Path installed) {
    return """
    <settings>
      <localRepository>%s</localRepository>
      <mirrors>
        <mirror><id>machine</id><mirrorOf>*,!osier</mirrorOf><url>%s</url></mirror>
      </mirrors>
      <profiles>
        <profile>
          <id>osier</id>
          <repositories>
            <repository><id>osier</id><url>%s</url></repository>
          </repositories>
        </profile>
      </profiles>
      <activeProfiles><activeProfile>osier</activeProfile></activeProfiles>
    </settings>
    """
        .formatted(
            dir.resolve("repository"),
            Path.of(System.getProperty("osier.repository")).toUri(),
            installed.toUri());
  }
}
