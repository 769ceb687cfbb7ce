package io.osier.datacenter.control.execution;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.propagation.host.StoredObjects;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Searches keyspaces for keys of which updates are refused, since a home that is being added would
 * take them. Works in steps, in the control plane's thread; the objects are read in another one.
 */
final class HomeSearch {
  private static final int PAGE = 1_000;
  private static final long PAGE_BYTES = 4 << 20;
  private static final int ANSWER_SECONDS = 10;

  /** The most characters of a key that are shown. */
  private static final int KEY_CHARACTERS = 100;

  private final Keyspaces keyspaces;
  private final LongAdder failures = new LongAdder();

  private String id = "";
  private RepeatedWalk walk = walk();

  /** The key that the last walk has found. */
  private volatile String found = "";

  HomeSearch(Keyspaces keyspaces) {
    this.keyspaces = keyspaces;
  }

  private RepeatedWalk walk() {
    return new RepeatedWalk(
        "the search for keys that a new home would take",
        failures,
        System::currentTimeMillis,
        new Random());
  }

  /** As {@link io.osier.datacenter.control.ControlHost#searchForKeys}. */
  Optional<String> step(String search, List<String> names) {
    if (!search.equals(id)) {
      id = search;
      walk = walk();
    }
    List<KeyspaceShard> shards =
        names.stream().map(keyspaces::find).filter(Objects::nonNull).toList();
    OptionalInt result = walk.step(() -> RightsWalk.begin(() -> search(shards)));
    return result.isEmpty() ? Optional.empty() : Optional.of(result.getAsInt() == 0 ? "" : found);
  }

  private int search(List<KeyspaceShard> shards) {
    for (KeyspaceShard shard : shards) {
      for (int i = 0; i < shard.partitions().size(); i++) {
        await(shard, i);
        Key key = search(shard.policy().partitioning().homes(), shard.partitions().get(i));
        if (key != null) {
          String text = key.toString();
          found =
              "key '%s' in '%s'"
                  .formatted(
                      text.substring(0, Math.min(KEY_CHARACTERS, text.length())),
                      shard.policy().name());
          return 1;
        }
      }
    }
    return 0;
  }

  /**
   * Waits until all updates of these keys that a partition has taken are durable. It was told of
   * the homes before this, so it takes no more once it has made a report; and it answers after
   * everything that it has done before.
   */
  private static void await(KeyspaceShard shard, int partition) {
    PartitionRunner runner = shard.partitions().get(partition);
    runner.absorbAll();
    if (PeerCoverage.report(runner).isEmpty()) {
      throw new IllegalStateException("no report of a partition of " + shard.policy().name());
    }
    CompletableFuture<Reply> answer = new CompletableFuture<>();
    shard.ask(
        partition, new ProgressRequest.Through(shard.policy().name(), partition), answer::complete);
    Reply reply = answer.orTimeout(ANSWER_SECONDS, TimeUnit.SECONDS).join();
    if (!(reply instanceof Reply.Through)) {
      throw new IllegalStateException("no answer of " + shard.policy().name() + ": " + reply);
    }
  }

  private static @Nullable Key search(Homes homes, PartitionRunner partition) {
    Optional<ObjectId> after = Optional.empty();
    StoredObjects.Page page;
    do {
      page = partition.store().pageDurable(after, Optional.empty(), PAGE, PAGE_BYTES);
      for (StoredObjects.Entry entry : page.entries()) {
        after = Optional.of(entry.object());
        if (!entry.state().isBottom() && !homes.taker(entry.object().key()).isEmpty()) {
          return entry.object().key();
        }
      }
    } while (!page.end());
    return null;
  }
}
