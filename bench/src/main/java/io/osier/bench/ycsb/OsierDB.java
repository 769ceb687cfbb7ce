package io.osier.bench.ycsb;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Osier;
import io.osier.proxy.OsierClient;
import io.osier.proxy.OutcomeUnknownException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/**
 * Runs YCSB against Osier. A table is a keyspace; a record is a map of last-writer-wins registers,
 * one for each field, so that updates of different fields never conflict.
 *
 * <p>The property {@code osier.endpoints} (name=host:port,…) says where; the nearest serves. All
 * threads share one client, each has a session of its own.
 */
public final class OsierDB extends DB {
  private static final Object LOCK = new Object();

  /** The codes of errors of which the first was printed; YCSB itself only counts errors. */
  private static final Set<ErrorCode> TOLD = ConcurrentHashMap.newKeySet();

  private static int users;
  private static @Nullable OsierClient client;

  private @Nullable Keyspace keyspace;
  private io.osier.proxy.Session session;

  @Override
  public void init() throws DBException {
    synchronized (LOCK) {
      if (client == null) {
        try {
          client = connect(getProperties());
        } catch (OsierException e) {
          throw new DBException(e.reason(), e);
        }
      }
      users++;
      session = client.session();
    }
  }

  static OsierClient connect(Properties properties) {
    return Osier.connect(properties.getProperty("osier.endpoints", "").split(",", -1));
  }

  @Override
  public void cleanup() {
    synchronized (LOCK) {
      if (--users == 0 && client != null) {
        client.close();
        client = null;
      }
    }
  }

  private Keyspace keyspace(String table) {
    if (keyspace == null || !keyspace.name().equals(table)) {
      keyspace = session.keyspace(table);
    }
    return keyspace;
  }

  private static Status status(OsierException e) {
    if (TOLD.add(e.code())) {
      System.err.println("error " + e.code() + ": " + e.reason());
    }
    if (e instanceof OutcomeUnknownException) {
      return Status.ERROR;
    }
    return switch (e.code()) {
      case OVERLOADED, UNAVAILABLE, SHUTTING_DOWN -> Status.SERVICE_UNAVAILABLE;
      case INVALID_ARGUMENT, WRONG_TYPE, KEY_TOO_LARGE, VALUE_TOO_LARGE -> Status.BAD_REQUEST;
      case UNKNOWN_KEYSPACE -> Status.NOT_FOUND;
      default -> Status.ERROR;
    };
  }

  @Override
  public Status read(
      String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
    try {
      Keyspace.Found found =
          keyspace(table).read(Key.of(key), Optional.of(CrdtType.OR_MAP), query(fields));
      if (!found.exists()) {
        return Status.NOT_FOUND;
      }
      fill(found.reading().orElseThrow(), result);
      return Status.OK;
    } catch (OsierException e) {
      return status(e);
    }
  }

  private static Query query(@Nullable Set<String> fields) {
    return fields == null ? new Query.Whole() : new Query.Select(List.copyOf(fields));
  }

  private static void fill(Reading reading, Map<String, ByteIterator> result) {
    ((Reading.Fields) reading)
        .fields()
        .forEach(
            (field, value) -> {
              if (value instanceof Reading.Single single && single.value().isPresent()) {
                result.put(field.name(), iterator(single.value().get()));
              }
            });
  }

  private static ByteIterator iterator(Value value) {
    return value instanceof Value.Bytes bytes
        ? new ByteArrayByteIterator(bytes.content())
        : new StringByteIterator(value.toString());
  }

  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      @Nullable Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    try {
      Optional<Key> from = Optional.of(Key.of(startkey));
      while (from.isPresent() && result.size() < recordcount) {
        Keyspace.Page page =
            keyspace(table)
                .scan(
                    from,
                    Optional.of(CrdtType.OR_MAP),
                    query(fields),
                    Math.min(recordcount - result.size(), 1_000));
        for (Keyspace.Row row : page.rows()) {
          HashMap<String, ByteIterator> record = new HashMap<>();
          fill(row.value(), record);
          result.add(record);
        }
        from = page.next();
      }
      return Status.OK;
    } catch (OsierException e) {
      return status(e);
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    List<Operation.FieldUpdate> updates = new ArrayList<>(values.size());
    values.forEach(
        (field, value) ->
            updates.add(
                new Operation.FieldUpdate(
                    new FieldId(field, CrdtType.LWW_REGISTER),
                    new Operation.Assign(Value.of(value.toArray())))));
    return write(table, key, new Operation.UpdateFields(updates));
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return update(table, key, values);
  }

  @Override
  public Status delete(String table, String key) {
    return write(table, key, new Operation.Clear());
  }

  private Status write(String table, String key, Operation operation) {
    try {
      keyspace(table).update(Key.of(key), CrdtType.OR_MAP, operation);
      return Status.OK;
    } catch (OsierException e) {
      return status(e);
    }
  }
}
