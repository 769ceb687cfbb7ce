package io.osier.bench.container;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;

/** The container engine of this machine, by way of its command line, and the image under test. */
final class Engine {
  private static final int BUILD_MINUTES_MAX = 20;

  /** Either of the two is named where no registry can be reached; the Dockerfile has defaults. */
  private static final List<String> BASES = List.of("BASE_IMAGE", "JDK_IMAGE");

  private Engine() {}

  /**
   * What a command did.
   *
   * @param lines of standard output and standard error, as they came
   */
  record Done(int exitCode, List<String> lines) {
    String first() {
      return lines.isEmpty() ? "" : lines.getFirst();
    }

    String text() {
      return String.join("\n", lines);
    }
  }

  private static final class Found {
    static final Optional<String> OBSTACLE = find();
  }

  /** Why no container of the image can be started; empty if they can. Builds the image. */
  static Optional<String> obstacle() {
    return Found.OBSTACLE;
  }

  /** The image: OSIER_IMAGE if there is one already. */
  static String image() {
    return System.getenv().getOrDefault("OSIER_IMAGE", "osier:test");
  }

  private static Optional<String> find() {
    if (!DockerClientFactory.instance().isDockerAvailable()) {
      return Optional.of("no container engine can be reached (docker info says why)");
    }
    if (System.getenv("OSIER_IMAGE") != null) {
      return Optional.empty();
    }
    Path root = root();
    if (!hasDistribution(root.resolve("datacenter").resolve("target"))) {
      return Optional.of(
          "there is no distribution in datacenter/target: mvn -B verify makes it before these"
              + " tests");
    }
    return build(root);
  }

  private static boolean hasDistribution(Path target) {
    if (!Files.isDirectory(target)) {
      return false;
    }
    try (Stream<Path> files = Files.list(target)) {
      return files.anyMatch(f -> f.getFileName().toString().matches("osier-.*\\.tar\\.gz"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The repository's root: Maven's working directory is the module's. */
  static Path root() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.exists(at.resolve("Dockerfile"))) {
      at = at.getParent();
      if (at == null) {
        throw new IllegalStateException(
            "there is no Dockerfile above " + Path.of("").toAbsolutePath());
      }
    }
    return at;
  }

  private static Optional<String> build(Path root) {
    List<String> command =
        new ArrayList<>(List.of("build", "--target", "datacenter", "-t", image()));
    command.addAll(List.of("--build-arg", "PREBUILT=yes"));
    for (String base : BASES) {
      if (System.getenv(base) != null) {
        command.add("--build-arg");
        command.add(base + "=" + System.getenv(base));
      }
    }
    command.add(root.toString());
    Done done = docker(BUILD_MINUTES_MAX * 60, command.toArray(String[]::new));
    return done.exitCode() == 0
        ? Optional.empty()
        : Optional.of(
            "the image cannot be built (are its bases there? BASE_IMAGE and JDK_IMAGE name others):"
                + " "
                + done.text());
  }

  /** Runs the engine's command line. */
  static Done docker(int secondsMax, String... arguments) {
    List<String> command = new ArrayList<>(List.of("docker"));
    command.addAll(List.of(arguments));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      CompletableFuture<byte[]> output =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return process.getInputStream().readAllBytes();
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      boolean ended = process.waitFor(secondsMax, TimeUnit.SECONDS);
      if (!ended) {
        process.destroyForcibly();
        throw new IllegalStateException(command + " takes longer than " + secondsMax + " s");
      }
      String text = new String(output.join(), StandardCharsets.UTF_8);
      return new Done(process.exitValue(), text.lines().toList());
    } catch (IOException e) {
      return new Done(127, List.of("docker cannot be run: " + e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
