package io.osier.spring;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.values.ValueCodec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.springframework.session.MapSession;
import org.springframework.session.SessionRepository;

/**
 * Stores each session of a web application as a map, with a register for each attribute. If two
 * requests set an attribute at once, also at two datacenters, the later value counts; other
 * attributes are not affected. A save writes the attributes that were set since the session was
 * read, so an attribute whose object has changed must be set again. A deleted session does not come
 * back, whatever other requests save of it meanwhile. Thread-safe.
 */
public final class OsierSessionRepository implements SessionRepository<OsierSession> {
  /**
   * Only maps with this field are sessions: another one was saved while its session was deleted
   * elsewhere.
   */
  private static final FieldId CREATED = field("created");

  private static final FieldId ACCESSED = field("accessed");
  private static final FieldId TIMEOUT = field("timeout");
  private static final String ATTRIBUTE = "attribute:";

  private final Keyspace keyspace;
  private final String prefix;
  private final Duration timeout;
  private final ValueCodec<Object> codec;

  OsierSessionRepository(
      Keyspace keyspace, String prefix, Duration timeout, ValueCodec<Object> codec) {
    this.keyspace = keyspace;
    this.prefix = prefix;
    this.timeout = timeout;
    this.codec = codec;
  }

  private static FieldId field(String name) {
    return new FieldId(name, CrdtType.LWW_REGISTER);
  }

  @Override
  public OsierSession createSession() {
    MapSession session = new MapSession();
    session.setMaxInactiveInterval(timeout);
    return new OsierSession(session, null);
  }

  @Override
  public void save(OsierSession session) {
    String stored = session.storedId();
    boolean isNew = !session.getId().equals(stored);
    if (isNew && stored != null && !keyspace.delete(prefix + stored)) {
      return; // deleted meanwhile: a new id does not bring it back
    }
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    List<String> removed = new ArrayList<>();
    if (isNew) {
      updates.add(number(CREATED, session.getCreationTime().toEpochMilli()));
    }
    updates.add(number(ACCESSED, session.getLastAccessedTime().toEpochMilli()));
    updates.add(number(TIMEOUT, session.getMaxInactiveInterval().toMillis()));
    for (String name : isNew ? session.getAttributeNames() : session.changed()) {
      Object value = session.getAttribute(name);
      if (value == null) {
        removed.add(ATTRIBUTE + name);
      } else {
        updates.add(update(field(ATTRIBUTE + name), codec.encode(value)));
      }
    }
    String key = prefix + session.getId();
    if (!removed.isEmpty()) {
      keyspace.map(key).remove(removed);
    }
    Duration unused = session.getMaxInactiveInterval();
    ObjectSpace space = unused.isNegative() ? keyspace : keyspace.expiring(unused);
    space.map(key).update(updates);
    if (unused.isNegative() && !isNew) {
      keyspace.persist(key); // it may have had an end
    }
    session.stored();
  }

  private static Operation.FieldUpdate number(FieldId field, long value) {
    return update(field, Value.of(value));
  }

  private static Operation.FieldUpdate update(FieldId field, Value value) {
    return new Operation.FieldUpdate(field, new Operation.Assign(value));
  }

  @Override
  public @Nullable OsierSession findById(String id) {
    SortedMap<FieldId, Reading> fields = keyspace.map(prefix + id).get();
    Optional<Instant> created = instant(fields, CREATED);
    Optional<Instant> accessed = instant(fields, ACCESSED);
    if (created.isEmpty() || accessed.isEmpty()) {
      return null;
    }
    MapSession session = new MapSession(id);
    session.setCreationTime(created.get());
    session.setLastAccessedTime(accessed.get());
    session.setMaxInactiveInterval(Duration.ofMillis(number(fields, TIMEOUT).orElse(0L)));
    if (session.isExpired()) {
      return null;
    }
    for (Map.Entry<FieldId, Reading> field : fields.entrySet()) {
      if (field.getKey().name().startsWith(ATTRIBUTE)) {
        value(field.getValue())
            .ifPresent(
                v ->
                    session.setAttribute(
                        field.getKey().name().substring(ATTRIBUTE.length()), codec.decode(v)));
      }
    }
    return new OsierSession(session, id);
  }

  private static Optional<Value> value(@Nullable Reading reading) {
    return reading instanceof Reading.Single single ? single.value() : Optional.empty();
  }

  private static Optional<Long> number(SortedMap<FieldId, Reading> fields, FieldId field) {
    return value(fields.get(field)).map(v -> v instanceof Value.Int number ? number.content() : 0L);
  }

  private static Optional<Instant> instant(SortedMap<FieldId, Reading> fields, FieldId field) {
    return number(fields, field).map(Instant::ofEpochMilli);
  }

  @Override
  public void deleteById(String id) {
    keyspace.delete(prefix + id);
  }
}
