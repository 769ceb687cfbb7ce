package io.osier.bench.systems;

import com.typesafe.config.Config;
import java.util.concurrent.CompletableFuture;

/**
 * A system whose nodes run in this process and are called through its own API, which blocks or
 * bounds what is under way; so load.threads must be 1 or more, and each thread is a caller.
 */
final class PeerTarget implements Target {
  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  private final Peer peer;
  private final String notes;

  PeerTarget(Peer peer, String notes) {
    this.peer = peer;
    this.notes = notes;
  }

  @Override
  public int nodes() {
    return Peer.NODES;
  }

  @Override
  public Calls calls(int node, Config load) {
    Peer.Caller caller = peer.caller(node);
    int elements = load.getInt("elements");
    return new Calls() {
      @Override
      public Call call(String operation) {
        return switch (operation) {
          case "increment" ->
              (key, number) -> {
                caller.increment(key);
                return DONE;
              };
          case "add" ->
              (key, number) -> {
                caller.add(key, OsierCalls.elementOf(number, elements));
                return DONE;
              };
          default -> throw Calls.unsupported("the operation " + operation);
        };
      }

      @Override
      public void fill(String operation, int keys) {
        Call call = call(operation);
        for (int key = 0; key < keys; key++) {
          call.make(key, key);
        }
      }

      @Override
      public long count(int key) {
        return caller.count(key);
      }

      @Override
      public boolean has(int key, int element) {
        return caller.contains(key, element);
      }

      @Override
      public void close() {
        caller.finish();
      }
    };
  }

  @Override
  public long linkBytes() {
    return peer.bytes();
  }

  @Override
  public String notes() {
    return notes;
  }

  @Override
  public void close() {
    peer.close();
  }
}
