package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.proxy.Changes;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Watch;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** {@code watch}: a line for each change, until so many have come, or it is interrupted. */
public final class Watcher {
  private static final String USAGE = "watch KEY [N] or watch PREFIX* [N]";

  private final Keyspace keyspace;
  private final boolean asJson;
  private final PrintStream out;
  private final ObjectMapper json = new ObjectMapper();

  /** How many changes are left; only the watcher's thread counts. */
  private long left = Long.MAX_VALUE;

  public Watcher(Keyspace keyspace, boolean asJson, PrintStream out) {
    this.keyspace = keyspace;
    this.asJson = asJson;
    this.out = out;
  }

  /**
   * Prints changes.
   *
   * @return the exit code, once so many have come as were asked for
   * @throws OsierException if it cannot go on
   */
  public int run(List<String> words) {
    if (words.size() < 2 || words.size() > 3) {
      throw new OsierException(ErrorCode.INVALID_ARGUMENT, "usage: " + USAGE);
    }
    if (words.size() == 3) {
      left = count(words.get(2));
    }
    Word of = Word.ofArgument(words.get(1)); // in quotes a key may end with a star itself
    String what = Words.textKey(of);
    Watch watch =
        what.endsWith("*") && !of.literal()
            ? keyspace.watchPrefix(what.substring(0, what.length() - 1))
            : keyspace.watch(what);
    try (EndedWatch ended = new EndedWatch(watch)) {
      ended.await();
      return 0;
    }
  }

  private static long count(String word) {
    try {
      long count = Long.parseLong(word);
      if (count > 0) {
        return count;
      }
    } catch (NumberFormatException e) {
      // Named below.
    }
    throw new OsierException(
        ErrorCode.INVALID_ARGUMENT, "N must be a number above 0, not '" + word + "': " + USAGE);
  }

  /** The watcher, until it has printed enough. */
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
        enough.join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof OsierException cause ? cause : e;
      }
    }

    @Override
    public void close() {
      watching.close();
    }
  }

  /** Key, type and origin; a dash for what is not known. */
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
