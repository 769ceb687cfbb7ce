package io.osier.datacenter.metrics.report;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.StateCodec;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.StoreService;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.host.StoredObjects;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Request;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Answers clients' requests for reports of what a datacenter is doing, as JSON, from what all
 * partitions publish. docs/MONITORING.md explains the fields. Thread-safe.
 */
public final class Inspector {
  private static final int DIGEST_BATCH = 1_000;
  private static final long DIGEST_BYTES = 4 << 20;
  private static final int LISTED_MAX = 100_000;

  private final Map<String, KeyspaceShard> keyspaces;
  private final Publisher publisher;
  private final Optional<StoreService> store;
  private final Set<PartitionRunner> silent = ConcurrentHashMap.newKeySet();

  public Inspector(
      Map<String, KeyspaceShard> keyspaces, Publisher publisher, Optional<StoreService> store) {
    this.keyspaces = keyspaces;
    this.publisher = publisher;
    this.store = store;
  }

  /** Answers an inspection request. */
  public CompletableFuture<String> inspect(AdminRequest.Inspect request) {
    request
        .keyspace()
        .filter(asked -> keyspaces.keySet().stream().noneMatch(name -> isPartOf(name, asked)))
        .ifPresent(none -> keyspace(keyspaces, none)); // which says so
    if (request.topic() == Request.Topic.DIGEST) {
      Collection<KeyspaceShard> wanted =
          keyspaces.values().stream()
              .filter(
                  shard ->
                      request.keyspace().isEmpty()
                          || isPartOf(shard.policy().name(), request.keyspace().get()))
              .toList();
      return CompletableFuture.supplyAsync(() -> digest(wanted, request.limit()).toString());
    }
    int hot = request.topic() == Request.Topic.HOT ? Math.max(1, request.limit()) : 0;
    return publisher.fresh(hot).thenApply(s -> SnapshotJson.of(s, request).toString());
  }

  /** Returns whether a keyspace is the one asked for, or one of its homes. */
  static boolean isPartOf(String keyspace, String asked) {
    return keyspace.equals(asked) || Homes.base(keyspace).equals(asked);
  }

  /** Reports what is known of one key, as JSON. */
  public CompletableFuture<String> key(String keyspace, Key key) {
    return new KeyReport(keyspace(keyspaces, keyspace), key, silent, Inspector::sha256)
        .into(SnapshotJson.root(publisher.latest()))
        .thenApply(JsonObject::toString);
  }

  /**
   * Reports, as JSON, that this datacenter knows nothing of a key, and which datacenters hold it.
   *
   * @param copied whether reads of the key are answered here from a copy
   */
  public static String heldBy(String keyspace, List<String> holders, boolean copied) {
    JsonObject root = new JsonObject().put("keyspace", keyspace).put("holders", holders);
    if (copied) {
      root.put("copied", true);
    }
    return root.toString();
  }

  /** Makes a backup. */
  public CompletableFuture<String> backup(AdminRequest.Backup request) {
    if (store.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "this datacenter keeps data in memory only (osier.store.dir is empty): there is nothing"
              + " to back up");
    }
    return store
        .get()
        .backup(request.name())
        .thenApply(
            made ->
                SnapshotJson.root(publisher.latest())
                    .put("backup", made.path().toString())
                    .put("bytes", made.bytes())
                    .toString());
  }

  public static KeyspaceShard keyspace(Map<String, KeyspaceShard> keyspaces, String name) {
    KeyspaceShard keyspace = keyspaces.get(name);
    if (keyspace == null) {
      throw new OsierException(
          ErrorCode.UNKNOWN_KEYSPACE,
          "there is no keyspace '" + name + "'; there are " + keyspaces.keySet());
    }
    return keyspace;
  }

  /**
   * Reports for each partition a hash over all objects with their states, in order, and the hash of
   * each of the first {@code listed} objects.
   */
  private JsonObject digest(Collection<KeyspaceShard> wanted, int listed) {
    JsonObject root = SnapshotJson.root(publisher.latest());
    for (KeyspaceShard k : wanted) {
      JsonObject.Array partitions =
          root.object("keyspaces").putObject(k.policy().name()).putArray("partitions");
      for (PartitionRunner p : k.partitions()) {
        digest(partitions.addObject(), p.store(), listed);
      }
    }
    return root;
  }

  private static void digest(JsonObject node, ObjectStore store, int listed) {
    MessageDigest sha = sha256();
    JsonObject.Array list = listed > 0 ? node.putArray("list") : null;
    long objects = 0;
    long bytes = 0;
    Optional<ObjectId> after = Optional.empty();
    StoredObjects.Page page;
    do {
      page = store.pageDurable(after, Optional.empty(), DIGEST_BATCH, DIGEST_BYTES);
      for (StoredObjects.Entry entry : page.entries()) {
        after = Optional.of(entry.object());
        if (entry.state().isSpent()) {
          continue; // a removed object, which others may have forgotten
        }
        WireOutput out = new WireOutput();
        out.writeKey(entry.object().key());
        out.writeByte(entry.object().type().number());
        StateCodec.writeContent(out, entry.state().trimmed());
        sha.update(out.getBuffer(), 0, out.position());
        bytes += out.position();
        if (list != null && objects < Math.min(listed, LISTED_MAX)) {
          list.addObject()
              .put("key", entry.object().key().toString())
              .put("type", entry.object().type().label())
              .put("sha256", HexFormat.of().formatHex(sha256().digest(out.toBytes())));
        }
        objects++;
      }
    } while (!page.end());
    node.put("objects", objects);
    node.put("bytes", bytes);
    node.put("sha256", HexFormat.of().formatHex(sha.digest()));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
