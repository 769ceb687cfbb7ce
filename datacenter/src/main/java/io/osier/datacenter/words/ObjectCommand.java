package io.osier.datacenter.words;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;

/** What is to be done with one object. */
public sealed interface ObjectCommand {
  /** The object's key. */
  Key key();

  /** Reads an object. */
  record Read(Key key, CrdtType type, Query query) implements ObjectCommand {}

  /** Updates an object. */
  record Update(Key key, CrdtType type, Operation operation) implements ObjectCommand {}

  /** Asks how long an element or field lives on. */
  record PartTimeToLive(Key key, CrdtType type, Part part) implements ObjectCommand {}
}
