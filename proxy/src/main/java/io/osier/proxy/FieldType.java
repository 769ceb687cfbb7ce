package io.osier.proxy;

import io.osier.crdt.CrdtType;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the type of the map field that stands for a record's component; see {@link RecordMap}. */
@Target(ElementType.RECORD_COMPONENT)
@Retention(RetentionPolicy.RUNTIME)
public @interface FieldType {
  /** Returns the type; {@link RecordMap} says which types suit which components. */
  CrdtType value();
}
