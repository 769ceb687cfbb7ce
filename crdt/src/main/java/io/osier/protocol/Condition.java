package io.osier.protocol;

import io.osier.core.Present;
import io.osier.crdt.FieldId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import java.util.List;

/**
 * What must hold for the object if an update is to be done, at the datacenter and in the moment of
 * the update: nothing comes in between. It says nothing about concurrent updates elsewhere. Needs
 * the right to read.
 *
 * @param path the fields of maps in maps that lead to the tested one, for which the query is {@link
 *     Query.Whole}; empty for the object
 * @param expected what the query must answer; for something that does not exist, a new one answers
 */
public record Condition(List<FieldId> path, Query query, Reading expected) {
  public Condition {
    path = Present.copyOf(path, "a field");
    Present.present(query, "a query");
    if (!path.isEmpty() && !(query instanceof Query.Whole)) {
      throw new IllegalArgumentException("of a field the whole is asked, not " + query);
    }
    Present.present(expected, "what is expected");
  }

  /** Returns the query of the object whose answer decides whether the condition holds. */
  public Query asked() {
    return path.isEmpty() ? query : new Query.Select(List.of(path.getFirst().name()));
  }

  /**
   * Whether it holds.
   *
   * @param read the answer to {@link #asked}
   */
  public boolean holds(Reading read) {
    Reading at = read;
    for (FieldId field : path) {
      Reading within = at instanceof Reading.Fields f ? f.fields().get(field) : null;
      at = within == null ? TypeRegistry.empty(field.type()).read(query) : within;
    }
    return at.equals(expected);
  }
}
