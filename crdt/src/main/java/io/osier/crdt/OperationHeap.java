package io.osier.crdt;

import io.osier.core.Utf8;
import io.osier.core.Value;
import io.osier.core.memory.HeapSize;
import java.util.List;

/** Estimates how many bytes operations take in the heap. */
final class OperationHeap {
  private static final long DECIMAL_BYTES =
      HeapSize.object(2 * HeapSize.REFERENCE + 2 * Integer.BYTES + Long.BYTES);

  private OperationHeap() {}

  static long bytes(Operation operation) {
    return switch (operation) {
      case Operation.Increment o -> HeapSize.object(Long.BYTES);
      case Operation.Assign o -> HeapSize.object(HeapSize.REFERENCE) + o.value().heapBytes();
      case Operation.Append o -> HeapSize.object(HeapSize.REFERENCE) + o.value().heapBytes();
      case Operation.SetRange o ->
          HeapSize.object(HeapSize.REFERENCE + Long.BYTES) + o.value().heapBytes();
      case Operation.SetBit o -> HeapSize.object(Long.BYTES + 1);
      case Operation.IncrementDecimal o -> HeapSize.object(HeapSize.REFERENCE) + DECIMAL_BYTES;
      case Operation.SetFlag o -> HeapSize.object(1);
      case Operation.Add o -> HeapSize.object(HeapSize.REFERENCE) + listHeapBytes(o.elements());
      case Operation.Remove o -> HeapSize.object(HeapSize.REFERENCE) + listHeapBytes(o.elements());
      case Operation.UpdateFields o -> {
        long bytes = HeapSize.object(HeapSize.REFERENCE) + HeapSize.list(o.updates().size());
        for (Operation.FieldUpdate update : o.updates()) {
          bytes +=
              HeapSize.object(2 * HeapSize.REFERENCE)
                  + update.field().heapBytes()
                  + update.operation().heapBytes();
        }
        yield bytes;
      }
      case Operation.RemoveFields o -> {
        long bytes = HeapSize.object(HeapSize.REFERENCE) + HeapSize.list(o.names().size());
        for (String name : o.names()) {
          bytes += HeapSize.text(name.length(), Utf8.length(name));
        }
        yield bytes;
      }
      case Operation.Bound o ->
          HeapSize.object(3 * Long.BYTES + HeapSize.REFERENCE) + HeapSize.list(o.sharers().size());
      case Operation.IncrementWithin o -> HeapSize.object(Long.BYTES + Integer.BYTES);
      case Operation.Transfer o ->
          HeapSize.object(Long.BYTES + HeapSize.REFERENCE + 1) + HeapSize.text(o.to());
      case Operation.Inherit o -> HeapSize.object(HeapSize.REFERENCE) + HeapSize.text(o.from());
      case Operation.Clear o -> HeapSize.object(0);
      case Operation.Delete o -> HeapSize.object(0);
      case Operation.Expire o -> HeapSize.object(Long.BYTES + 1);
      case Operation.Persist o -> HeapSize.object(0);
      case Operation.ExpireParts o ->
          HeapSize.object(2 * HeapSize.REFERENCE)
              + partsHeapBytes(o.of())
              + o.deadline().heapBytes();
      case Operation.PersistParts o -> HeapSize.object(HeapSize.REFERENCE) + partsHeapBytes(o.of());
      case Operation.WithPartDeadlines o ->
          HeapSize.object(2 * HeapSize.REFERENCE)
              + o.update().heapBytes()
              + o.deadline().heapBytes();
      case Operation.WithDeadline o ->
          HeapSize.object(2 * HeapSize.REFERENCE)
              + o.update().heapBytes()
              + o.deadline().heapBytes();
    };
  }

  private static long listHeapBytes(List<Value> values) {
    long bytes = HeapSize.list(values.size());
    for (Value value : values) {
      bytes += value.heapBytes();
    }
    return bytes;
  }

  private static long partsHeapBytes(List<Part> parts) {
    long bytes = HeapSize.list(parts.size());
    for (Part part : parts) {
      bytes += part.heapBytes();
    }
    return bytes;
  }
}
