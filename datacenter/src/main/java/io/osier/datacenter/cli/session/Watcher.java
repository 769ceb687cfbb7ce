package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.datacenter.words.WatchGrammar;
import io.osier.proxy.Changes;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Watch;
import io.osier.proxy.WatchPosition;
import java.io.PrintStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Runs {@code watch}: prints a line for each change, up to a number of changes or an interrupt. */
final class Watcher {
  private final Keyspace keyspace;
  private final boolean asJson;
  private final PrintStream out;
  private final ObjectMapper json = new ObjectMapper();

  /** How many changes are left to print; used by the watcher's thread only. */
  private long left = Long.MAX_VALUE;

  Watcher(Keyspace keyspace, boolean asJson, PrintStream out) {
    this.keyspace = keyspace;
    this.asJson = asJson;
    this.out = out;
  }

  /**
   * Prints changes until the wanted number has come, or Ctrl-C is typed.
   *
   * @throws OsierException if the watcher cannot go on
   */
  void run(Grammar.Watch command) {
    WatchGrammar.Watch how = command.how();
    left = how.changes();
    Watch watch =
        how.isPrefix() ? keyspace.watchPrefix(command.what()) : keyspace.watch(command.what());
    if (how.fromTheBeginning()) {
      watch = watch.fromTheBeginning();
    } else if (how.position().isPresent()) {
      watch = watch.from(WatchPosition.decode(how.position().get()));
    }
    try (EndedWatch ended = new EndedWatch(watch)) {
      ended.await();
    }
  }

  /** A watcher that ends when it has printed enough. */
  private final class EndedWatch implements AutoCloseable {
    private final Watch.Watching watching;
    private final CompletableFuture<Void> enough = new CompletableFuture<>();

    EndedWatch(Watch watch) {
      watching = watch.listen(this::print);
      watching
          .ended()
          .whenComplete(
              (done, error) -> {
                if (error != null) {
                  enough.completeExceptionally(error);
                } else {
                  enough.complete(null);
                }
              });
    }

    private void print(Changes told) {
      for (Changes.Change change : told.changes()) {
        if (left == 0) {
          break;
        }
        out.println(ValueText.harmless(line(change)));
        left--;
      }
      out.flush();
      if (left == 0) {
        enough.complete(null);
      }
    }

    void await() {
      try {
        enough.get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // Ctrl-C was typed
      } catch (ExecutionException e) {
        throw e.getCause() instanceof OsierException cause
            ? cause
            : new IllegalStateException(e.getCause());
      }
    }

    @Override
    public void close() {
      watching.close();
    }
  }

  /** Renders key, type and origin; a dash stands for an unknown one. */
  private String line(Changes.Change change) {
    if (!asJson) {
      return ValueText.of(change.key())
          + " "
          + change.type().map(CrdtType::label).orElse("-")
          + " "
          + change.origin().orElse("-");
    }
    ObjectNode node = json.createObjectNode();
    node.set("key", ValueText.json(change.key()));
    change.type().ifPresent(type -> node.put("type", type.label()));
    change.origin().ifPresent(dc -> node.put("origin", dc));
    return node.toString();
  }
}
