package io.osier.protocol;

import static io.osier.core.memory.HeapSize.REFERENCE;

import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.FieldId;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Estimates how many bytes requests and replies take in the heap, in O(their parts). It is called
 * several times for each message, so it allocates nothing. Thread-safe.
 */
public final class MessageHeap {
  private static final long OPTIONAL = HeapSize.object(REFERENCE);

  private MessageHeap() {}

  public static long bytes(Request request) {
    return switch (request) {
      case Request.Read r ->
          HeapSize.object(5 * REFERENCE + Integer.BYTES + 1)
              + r.key().heapBytes()
              + r.after().heapBytes()
              + OPTIONAL
              + r.query().heapBytes();
      case Request.Write w ->
          HeapSize.object(6 * REFERENCE + Integer.BYTES)
              + w.key().heapBytes()
              + w.operation().heapBytes()
              + w.after().heapBytes()
              + (w.ask().isPresent() ? bytes(w.ask().get()) : 0)
              + (w.condition().isPresent() ? bytes(w.condition().get()) : 0);
      case Request.Transact t ->
          HeapSize.object(6 * REFERENCE + Integer.BYTES)
              + HeapSize.object(2 * Long.BYTES)
              + t.begin()
                  .map(b -> OPTIONAL + HeapSize.object(16) + b.clock().heapBytes())
                  .orElse(0L)
              + list(t.updates(), MessageHeap::bytes)
              + list(t.reads(), MessageHeap::bytes);
      case Request.Repeat r -> HeapSize.object(Long.BYTES + 2 * REFERENCE) + bytes(r.step());
      case Request.ReadAll r ->
          HeapSize.object(3 * REFERENCE + Integer.BYTES + 1)
              + list(r.reads(), MessageHeap::bytes)
              + r.after().heapBytes();
      case Request.WriteAll w ->
          HeapSize.object(3 * REFERENCE + Integer.BYTES)
              + list(w.updates(), MessageHeap::bytes)
              + w.after().heapBytes();
      case Request.Evaluate e ->
          HeapSize.object(4 * REFERENCE + Integer.BYTES)
              + list(e.calls(), MessageHeap::bytes)
              + list(
                  e.guards(),
                  guard ->
                      HeapSize.object(2 * REFERENCE)
                          + guard.key().heapBytes()
                          + guard.version().heapBytes())
              + e.after().heapBytes();
      case WatchRequest w ->
          HeapSize.object(4 * REFERENCE + Integer.BYTES + 2)
              + list(w.places(), place -> HeapSize.object(32) + place.seen().heapBytes());
      default -> HeapSize.object(16); // a few small fields, and never many of these
    };
  }

  private static long bytes(Request.Ask ask) {
    return OPTIONAL + HeapSize.object(REFERENCE + 1) + ask.query().heapBytes();
  }

  private static long bytes(Request.Condition condition) {
    return OPTIONAL
        + HeapSize.object(3 * REFERENCE)
        + list(condition.path(), FieldId::heapBytes)
        + condition.query().heapBytes()
        + condition.expected().heapBytes();
  }

  private static long bytes(Call call) {
    return HeapSize.object(4 * REFERENCE + Long.BYTES)
        + call.key().heapBytes()
        + switch (call) {
          case Call.Read c -> OPTIONAL + c.query().heapBytes();
          case Call.Version c -> 0;
          case Call.Update c ->
              c.operation().heapBytes() + (c.ask().isPresent() ? bytes(c.ask().get()) : 0);
          case Call.Replace c -> c.operation().heapBytes();
          case Call.Rename c -> c.to().heapBytes();
          case Call.Copy c -> c.to().heapBytes();
          case Call.Take c -> 0;
          case Call.ExpireIf c -> c.deadline().heapBytes();
          case Call.Test c -> OPTIONAL + bytes(c.condition());
          case Call.Script c -> list(c.keys(), Key::heapBytes) + c.bytes();
        };
  }

  private static long bytes(Request.Update update) {
    return HeapSize.object(3 * REFERENCE)
        + update.key().heapBytes()
        + update.operation().heapBytes();
  }

  private static long bytes(Request.Fetch read) {
    return HeapSize.object(3 * REFERENCE)
        + read.key().heapBytes()
        + OPTIONAL
        + read.query().heapBytes();
  }

  public static long bytes(Reply reply) {
    return switch (reply) {
      case Reply.Done d ->
          HeapSize.object(2 * REFERENCE)
              + Dot.HEAP_BYTES
              + (d.answer().isPresent() ? OPTIONAL + bytes(d.answer().get()) : 0);
      case Reply.Answer a ->
          HeapSize.object(3 * REFERENCE + 1)
              + 2 * OPTIONAL
              + a.seen().heapBytes()
              + (a.reading().isPresent() ? a.reading().get().heapBytes() : 0);
      case Reply.Transacted t ->
          HeapSize.object(3 * REFERENCE)
              + t.clock().heapBytes()
              + (t.dot().isEmpty() ? 0 : OPTIONAL + Dot.HEAP_BYTES)
              + list(t.answers(), MessageHeap::bytes);
      case Reply.All a -> HeapSize.object(REFERENCE) + list(a.parts(), MessageHeap::bytes);
      case Reply.Evaluated e ->
          HeapSize.object(2 * REFERENCE + 1)
              + (e.dot().isEmpty() ? 0 : OPTIONAL + Dot.HEAP_BYTES)
              + list(e.parts(), MessageHeap::bytes);
      case Reply.Page p ->
          HeapSize.object(3 * REFERENCE)
              + list(
                  p.rows(),
                  row ->
                      HeapSize.object(3 * REFERENCE)
                          + row.key().heapBytes()
                          + row.reading().heapBytes());
      case Reply.Changes c ->
          HeapSize.object(3 * REFERENCE)
              + list(
                  c.changes(), change -> HeapSize.object(3 * REFERENCE) + change.key().heapBytes());
      case Reply.Report r -> HeapSize.object(REFERENCE) + HeapSize.text(r.json());
      case Reply.Failure f -> HeapSize.object(2 * REFERENCE) + HeapSize.text(f.message());
      default -> HeapSize.object(16); // a few small fields, and never many of these
    };
  }

  private static <T> long list(List<T> items, ToLongFunction<T> bytes) {
    long sum = HeapSize.list(items.size());
    for (T item : items) {
      sum += bytes.applyAsLong(item);
    }
    return sum;
  }
}
