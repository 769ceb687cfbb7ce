package io.osier.bench.start;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.testing.Patience;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The launchers' start cache, with a program in Java's place that notes its arguments, and writes
 * the cache that it is asked for.
 */
@Timeout(4 * Patience.SECONDS)
final class LauncherTest {
  private static final Path REPOSITORY = Path.of("..").toAbsolutePath().normalize();
  private static final Instant LONG_AGO = Instant.parse("2020-01-01T00:00:00Z");

  private static final String JAVA =
      """
      #!/bin/sh
      printf '%s\\n' "$*" >>"$CALLS"
      [ ! -e "$CALLS.fails" ] || case " $* " in *' train '*) echo 'error FAKE: no'; exit 1 ;; esac
      for word in "$@"; do
        case "$word" in
          -XX:AOTCacheOutput=* | -XX:ArchiveClassesAtExit=*)
            [ ! -p "$CALLS.wait" ] || read -r line <"$CALLS.wait"
            echo made >"${word#*=}"
            ;;
        esac
      done
      """;

  /** The two programs that share jvm.sh. */
  enum Launcher {
    DISTRIBUTION("bin/osier", "cache", "lib/osier-core.jar"),
    REPOSITORY("osier", "bench/target/cache", "bench/target/lib/osier-core.jar");

    final String program;
    final String cache;
    final String jar;

    Launcher(String program, String cache, String jar) {
      this.program = program;
      this.cache = cache;
      this.jar = jar;
    }
  }

  @TempDir private Path dir;
  private Path home;
  private Path calls;
  private int version = 25;

  @BeforeEach
  void install() throws Exception {
    home = dir.resolve("a home");
    calls = dir.resolve("calls");
    for (String file :
        List.of(
            "lib/osier-core.jar",
            "lib/z.jar",
            "bench/target/lib/osier-core.jar",
            "bench/target/lib/z.jar",
            "bench/target/osier-bench-1.jar",
            "pom.xml",
            "core/pom.xml",
            "core/src/main/A.java")) {
      Files.createDirectories(home.resolve(file).getParent());
      old(home.resolve(file));
    }
    touch("bench/target/osier-bench-1.jar"); // a full build, newer than the sources
    copy(REPOSITORY.resolve("osier"), home.resolve("osier"));
    Path dist = REPOSITORY.resolve("datacenter/src/dist");
    copy(dist.resolve("bin/osier"), home.resolve("bin/osier"));
    copy(dist.resolve("libexec/jvm.sh"), home.resolve("libexec/jvm.sh"));
    copy(dist.resolve("libexec/jvm.sh"), home.resolve("datacenter/src/dist/libexec/jvm.sh"));
    for (String folder : List.of("lib", "bench/target/lib")) {
      Files.setLastModifiedTime(home.resolve(folder), FileTime.from(LONG_AGO));
    }
    Path java = Files.createDirectories(dir.resolve("java/bin")).resolve("java");
    Files.writeString(java, JAVA);
    assertThat(java.toFile().setExecutable(true)).isTrue();
  }

  private void touch(String file) throws IOException {
    Files.setLastModifiedTime(home.resolve(file), FileTime.from(Instant.now()));
  }

  private static void old(Path file) throws IOException {
    Files.writeString(file, "");
    Files.setLastModifiedTime(file, FileTime.from(LONG_AGO));
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    Files.copy(from, to);
    assertThat(to.toFile().setExecutable(true)).isTrue();
  }

  private Process begin(Launcher launcher, Map<String, String> environment, String... arguments)
      throws IOException {
    Files.writeString(dir.resolve("java/release"), "JAVA_VERSION=\"" + version + ".0.1\"\n");
    List<String> line = new ArrayList<>(List.of(home.resolve(launcher.program).toString()));
    line.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(line)
            .redirectErrorStream(true)
            .redirectOutput(new File(dir + "/said-" + arguments[0]));
    builder.environment().keySet().removeIf(name -> name.startsWith("OSIER_"));
    builder.environment().put("OSIER_JAVA_HOME", dir.resolve("java").toString());
    builder.environment().put("CALLS", calls.toString());
    builder.environment().putAll(environment);
    return builder.start();
  }

  /** Runs a launcher; what Java was called with, a line each time. */
  private List<String> run(Launcher launcher, Map<String, String> environment, String... arguments)
      throws Exception {
    Files.deleteIfExists(calls);
    ended(begin(launcher, environment, arguments), arguments[0]);
    return Files.readAllLines(calls);
  }

  private void ended(Process process, String said) throws Exception {
    try {
      assertThat(process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).as("ends").isTrue();
      assertThat(process.exitValue()).as(Files.readString(dir.resolve("said-" + said))).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  private List<String> server(Launcher launcher) throws Exception {
    return run(launcher, Map.of(), "server", "--config", "eu.conf");
  }

  private List<String> cacheFiles(Launcher launcher) throws IOException {
    Path folder = home.resolve(launcher.cache);
    if (!Files.exists(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(f -> f.getFileName().toString()).sorted().toList();
    }
  }

  private String options(Launcher launcher) {
    Path folder = home.resolve(launcher.cache);
    String file = folder + "/java-" + version + (version < 25 ? ".jsa" : ".aot");
    return (version < 25 ? "-XX:SharedArchiveFile=" : "-XX:AOTCache=")
        + file
        + " -XX:+VerifySharedSpaces -Xlog:cds=off"
        + (version < 25 ? "" : " -Xlog:aot=off") // one that is older would not start with it
        + " -Dosier.native.dir="
        + folder;
  }

  @ParameterizedTest
  @EnumSource
  void firstServer_makesTheCache_andAllThatFollowUseIt(Launcher launcher) throws Exception {
    List<String> first = server(launcher);
    assertThat(first).hasSize(2);
    assertThat(first.get(0)).contains("-XX:AOTCacheOutput=", " train ");
    assertThat(first.get(1)).contains(options(launcher)).endsWith("server --config eu.conf");
    assertThat(cacheFiles(launcher)).containsExactly("java-25.aot");
    for (String[] next : new String[][] {{"server", "--config", "f"}, {"cli", "stat"}}) {
      assertThat(run(launcher, Map.of("LC_ALL", "en_US.UTF-8"), next))
          .singleElement()
          .asString()
          .contains(options(launcher), "osier-core.jar:", "/z.jar io.osier");
    }
  }

  /** What looks for a terminal takes a third of the processor time of a short pipe. */
  @ParameterizedTest
  @EnumSource
  void lines_ofAPipe_areNotLookedForAtATerminal(Launcher launcher) throws Exception {
    assertThat(run(launcher, Map.of(), "cli"))
        .singleElement()
        .asString()
        .contains(" -Dosier.piped=true ");
  }

  @ParameterizedTest
  @EnumSource
  void java21_usesAnArchiveOfClasses(Launcher launcher) throws Exception {
    version = 21;
    List<String> first = server(launcher);
    assertThat(first.get(0)).contains("-XX:ArchiveClassesAtExit=").doesNotContain("CompactObject");
    assertThat(first.get(1)).contains(options(launcher));
  }

  @ParameterizedTest
  @EnumSource
  void otherJarsOrAnotherJava_theCacheIsMadeAgain(Launcher launcher) throws Exception {
    server(launcher);
    Files.setLastModifiedTime(
        home.resolve(launcher.cache).resolve("java-25.aot"),
        FileTime.from(LONG_AGO.minus(Duration.ofDays(1))));
    assertThat(server(launcher)).hasSize(2);
    version = 26;
    assertThat(server(launcher).getLast()).contains(options(launcher));
    assertThat(cacheFiles(launcher)).containsExactly("java-26.aot");
  }

  @ParameterizedTest
  @EnumSource
  void cacheThatCannotBeMade_leavesNothing_andTheServerStartsWithout(Launcher launcher)
      throws Exception {
    Files.writeString(dir.resolve("calls.fails"), "");
    assertThat(server(launcher).getLast()).doesNotContain("AOTCache=", "osier.native");
    assertThat(dir.resolve("said-server")).content().contains("error FAKE: no", "no start cache");
    assertThat(cacheFiles(launcher)).isEmpty();
    Files.delete(dir.resolve("calls.fails"));
    assertThat(
            run(launcher, Map.of("OSIER_CACHE", "off"), "server", "--config", "eu.conf").getFirst())
        .doesNotContain("AOTCache", "osier.native");
    Path file = Files.writeString(dir.resolve("no folder"), "");
    assertThat(run(launcher, Map.of("OSIER_CACHE", file + "/c"), "server", "--config", "e"))
        .last()
        .asString()
        .doesNotContain("AOTCache=", "osier.native");
  }

  @ParameterizedTest
  @EnumSource
  void twoStartsAtOnce_oneMakesTheCache_andTheOtherDoesNotWait(Launcher launcher) throws Exception {
    Path wait = dir.resolve("calls.wait");
    assertThat(new ProcessBuilder("mkfifo", wait.toString()).start().waitFor()).isZero();
    Process making = begin(launcher, Map.of(), "server", "--config", "eu.conf");
    try {
      while (making.isAlive() && (!Files.exists(calls) || Files.size(calls) == 0)) {
        Thread.onSpinWait();
      }
      ended(begin(launcher, Map.of(), "server", "--config", "us.conf"), "server");
      assertThat(Files.readAllLines(calls).getLast())
          .endsWith("us.conf")
          .doesNotContain("AOTCache");
      Files.writeString(wait, "go on\n");
      ended(making, "server");
    } finally {
      making.destroyForcibly();
    }
    assertThat(Files.readAllLines(calls)).hasSize(3);
    assertThat(cacheFiles(launcher)).containsExactly("java-25.aot");
  }

  @ParameterizedTest
  @EnumSource
  void oneThatWasKilledWhileItMadeTheCache_doesNotPreventTheNextOne(Launcher launcher)
      throws Exception {
    Path lock = Files.createDirectories(home.resolve(launcher.cache).resolve("making/abc"));
    Files.writeString(lock.resolve("cache"), "a part");
    Files.setLastModifiedTime(lock.getParent(), FileTime.from(LONG_AGO));
    assertThat(server(launcher)).hasSize(2);
    assertThat(cacheFiles(launcher)).containsExactly("java-25.aot");
  }

  /** A program in Maven's place that says what Maven says, and makes what it makes. */
  private Map<String, String> maven(int exitCode) throws IOException {
    Path mvn = Files.createDirectories(dir.resolve("maven")).resolve("mvn");
    Files.writeString(
        mvn,
        """
        #!/bin/sh
        echo "mvn $*" >>"$CALLS"
        echo '[INFO] Building Osier core 0.1.0-SNAPSHOT       [2/9]'
        echo '[INFO] Compiling 53 source files with javac'
        echo '[ERROR] A.java:[1,1] broken'
        [ %d = 0 ] || exit %d
        mkdir -p bench/target/quick/lib
        touch bench/target/quick/lib/osier-core.jar bench/target/quick/osier-bench-1.jar
        """
            .formatted(exitCode, exitCode));
    assertThat(mvn.toFile().setExecutable(true)).isTrue();
    return Map.of("PATH", mvn.getParent() + ":" + System.getenv("PATH"), "OSIER_CACHE", "off");
  }

  @Test
  void sourcesNewerThanEveryBuild_onlyWhatItRunsIsBuilt_once() throws Exception {
    touch("core/src/main/A.java");
    Map<String, String> environment = maven(0);
    List<String> first = run(Launcher.REPOSITORY, environment, "cli");
    assertThat(first).hasSize(2);
    assertThat(first.get(0)).startsWith("mvn -B -Dquick=jars").endsWith("-pl bench -am package");
    assertThat(first.get(1)).contains("/bench/target/quick/lib/osier-core.jar");
    assertThat(dir.resolve("said-cli"))
        .content()
        .contains("osier:   compiling core (53 files)")
        .doesNotContain("[ERROR]");
    assertThat(run(Launcher.REPOSITORY, environment, "cli")).containsExactly(first.get(1));
    touch("bench/target/osier-bench-1.jar");
    assertThat(run(Launcher.REPOSITORY, environment, "cli"))
        .singleElement()
        .asString()
        .contains("/bench/target/lib/osier-core.jar");
  }

  @Test
  void buildThatFails_saysWhyAndWhereMoreIs_andIsTriedAgain() throws Exception {
    touch("core/src/main/A.java");
    for (int i = 0; i < 2; i++) {
      Process process = begin(Launcher.REPOSITORY, maven(1), "cli");
      assertThat(process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).as("ends").isTrue();
      assertThat(process.exitValue()).isOne();
      assertThat(dir.resolve("said-cli"))
          .content()
          .contains("[ERROR] A.java:[1,1] broken", "the build failed", "quick/build.log");
    }
    assertThat(Files.readAllLines(calls)).hasSize(2).allMatch(line -> line.startsWith("mvn"));
  }

  @ParameterizedTest
  @EnumSource
  void check_makesNone(Launcher launcher) throws Exception {
    assertThat(run(launcher, Map.of(), "server", "--config", "eu.conf", "--check")).hasSize(1);
    assertThat(cacheFiles(launcher)).isEmpty();
  }
}
