package io.osier.datacenter.shard;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Who takes another process for this one. */
final class ConflictingProcessesTest {
  private final AtomicReference<Map<String, String>> told = new AtomicReference<>(Map.of());

  @Test
  void whatIsHeard_isTold_untilItEnds_orDoesNotCount() {
    ConflictingProcesses seconds = new ConflictingProcesses(told::set);
    seconds.heard("us", Optional.of("start 2"), 0);
    seconds.heard("ap", Optional.of("start 3"), 0);
    assertThat(told.get()).isEqualTo(Map.of("us", "start 2", "ap", "start 3"));
    seconds.heard("us", Optional.empty(), 1);
    assertThat(told.get()).isEqualTo(Map.of("ap", "start 3")).isEqualTo(seconds.all());
    seconds.retain(Set.of("us"));
    assertThat(told.get()).isEmpty();
  }

  /** What it has said is on its way while it is removed, and it says nothing more. */
  @Test
  void wordOfOneThatWasRemoved_doesNotCount_whenItComesLate_untilItIsAddedAgain() {
    ConflictingProcesses seconds = new ConflictingProcesses(told::set);
    seconds.retain(Set.of("us"));
    seconds.heard("ap", Optional.of("start 2"), 0);
    assertThat(told.get()).isEmpty();
    seconds.retain(Set.of("ap", "us"));
    assertThat(told.get()).isEmpty();
    seconds.heard("ap", Optional.of("start 2"), 1);
    assertThat(told.get()).containsOnlyKeys("ap");
  }

  @Test
  void whoIsGivenUp_doesNotCount_onceItIsSilent() {
    ConflictingProcesses seconds = new ConflictingProcesses(told::set);
    seconds.heard("us", Optional.of("start 2"), 0);
    seconds.heard("ap", Optional.of("start 2"), 0);
    seconds.heard("us", Optional.of("start 2"), 1);
    seconds.giveUp("us", ConflictingProcesses.SILENT_NANOS);
    seconds.giveUp("eu", ConflictingProcesses.SILENT_NANOS);
    assertThat(told.get()).containsOnlyKeys("us", "ap");
    seconds.giveUp("us", 1 + ConflictingProcesses.SILENT_NANOS);
    assertThat(told.get()).containsOnlyKeys("ap");
    seconds.giveUp("ap", ConflictingProcesses.SILENT_NANOS);
    assertThat(told.get()).isEmpty();
    seconds.heard("us", Optional.of("start 2"), 2 * ConflictingProcesses.SILENT_NANOS);
    assertThat(told.get()).containsOnlyKeys("us");
  }

  /** A keyspace is opened just when somebody is heard: its gate must not open again. */
  @Test
  void whatIsHeardWhileOthersAreTold_isToldLast() {
    AtomicReference<Thread> other = new AtomicReference<>();
    AtomicBoolean first = new AtomicBoolean(true);
    AtomicReference<ConflictingProcesses> seconds = new AtomicReference<>();
    seconds.set(
        new ConflictingProcesses(
            why -> {
              if (first.getAndSet(false)) {
                other.set(
                    Thread.ofPlatform()
                        .daemon()
                        .start(
                            () ->
                                requireNonNull(seconds.get())
                                    .heard("us", Optional.of("start 2"), 0)));
                await()
                    .until(
                        () ->
                            requireNonNull(other.get()).getState() == Thread.State.BLOCKED
                                || !requireNonNull(other.get()).isAlive());
              }
              told.set(why);
            }));
    requireNonNull(seconds.get()).tell();
    await().until(() -> !requireNonNull(other.get()).isAlive());
    assertThat(told.get()).isEqualTo(Map.of("us", "start 2"));
  }
}
