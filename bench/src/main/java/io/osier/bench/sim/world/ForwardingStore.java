package io.osier.bench.sim.world;

import io.osier.core.Key;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.StoredKey;
import io.osier.propagation.host.StoredObjects.Logged;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Forwards all calls to another store; subclasses override what they add to. */
public class ForwardingStore implements ObjectStore {
  private final ObjectStore inner;

  protected ForwardingStore(ObjectStore inner) {
    this.inner = inner;
  }

  @Override
  public void put(ObjectId object, CrdtState state) {
    inner.put(object, state);
  }

  @Override
  public @Nullable CrdtState get(ObjectId object) {
    return inner.get(object);
  }

  @Override
  public boolean drop(ObjectId object) {
    return inner.drop(object);
  }

  @Override
  public Optional<StoredKey> durablyStored(Key key) {
    return inner.durablyStored(key);
  }

  @Override
  public StoredKey readDurably(Key key) {
    return inner.readDurably(key);
  }

  @Override
  public void prefetch(Key key) {
    inner.prefetch(key);
  }

  @Override
  public @Nullable CrdtState getDurable(ObjectId object) {
    return inner.getDurable(object);
  }

  @Override
  public StoredKey stored(Key key) {
    return inner.stored(key);
  }

  @Override
  public List<Entry> scan(Optional<ObjectId> after, int limit) {
    return inner.scan(after, limit);
  }

  @Override
  public void attach(Runnable wake) {
    inner.attach(wake);
  }

  @Override
  public Page pageNow(Optional<ObjectId> after, int limit, long bytesMax) {
    return inner.pageNow(after, limit, bytesMax);
  }

  @Override
  public Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
    return inner.page(after, limit, bytesMax);
  }

  @Override
  public boolean showsTogether() {
    return inner.showsTogether();
  }

  @Override
  public @Nullable Deadline deadlineAfter(Deadline before) {
    return inner.deadlineAfter(before);
  }

  @Override
  public List<Deadline> expiring(long untilMillis, int limit) {
    return inner.expiring(untilMillis, limit);
  }

  @Override
  public long nextExpiryMillis() {
    return inner.nextExpiryMillis();
  }

  @Override
  public long forgotten() {
    return inner.forgotten();
  }

  @Override
  public Page pageDurable(Optional<ObjectId> after, Optional<Key> to, int limit, long bytesMax) {
    return inner.pageDurable(after, to, limit, bytesMax);
  }

  @Override
  public Map<TransactionId, Long> transactions() {
    return inner.transactions();
  }

  @Override
  public List<ObjectId> removed(Optional<ObjectId> after, int limit) {
    return inner.removed(after, limit);
  }

  @Override
  public List<Logged> logged(long after, int limit) {
    return inner.logged(after, limit);
  }

  @Override
  public long loggedAfter() {
    return inner.loggedAfter();
  }

  @Override
  public long size() {
    return inner.size();
  }
}
