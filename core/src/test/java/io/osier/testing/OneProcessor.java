package io.osier.testing;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Runs actions whose threads take turns, the others spinning meanwhile, on a single processor:
 * there the spinning ones yield to the running one, where they would otherwise keep a second
 * processor busy. Needs Linux and its taskset; without them everything runs as always.
 */
final class OneProcessor {
  private OneProcessor() {}

  /** Runs an action, and the threads that it starts; throws what it throws. */
  static void run(Runnable action) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    Thread.ofPlatform()
        .name("one-processor")
        .start(
            () -> {
              try {
                pin();
                action.run();
                end.complete(null);
              } catch (Throwable e) {
                end.completeExceptionally(e);
              }
            });
    try {
      end.join();
    } catch (CompletionException e) {
      switch (requireNonNull(e.getCause())) {
        case RuntimeException unchecked -> throw unchecked;
        case Error error -> throw error;
        default -> throw e;
      }
    }
  }

  /** Keeps this thread, and those that it starts, on one of the processors that it may use. */
  private static void pin() {
    try {
      Path self = Path.of("/proc/thread-self");
      Optional<String> allowed =
          Files.readAllLines(self.resolve("status")).stream()
              .filter(line -> line.startsWith("Cpus_allowed_list:"))
              .findFirst();
      List<Integer> processors = new ArrayList<>();
      for (String range : allowed.orElseThrow().split(":")[1].trim().split(",")) {
        String[] ends = range.split("-");
        for (int i = Integer.parseInt(ends[0]); i <= Integer.parseInt(ends[ends.length - 1]); i++) {
          processors.add(i);
        }
      }
      int one = processors.get(ThreadLocalRandom.current().nextInt(processors.size()));
      String id = Files.readSymbolicLink(self).getFileName().toString();
      new ProcessBuilder("taskset", "-c", "-p", String.valueOf(one), id)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      // Not Linux, or no taskset.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
