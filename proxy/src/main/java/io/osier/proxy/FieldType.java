package io.osier.proxy;

import io.osier.crdt.CrdtType;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Of which type the field is that a record's component stands for; see {@link RecordMap}. */
@Target(ElementType.RECORD_COMPONENT)
@Retention(RetentionPolicy.RUNTIME)
public @interface FieldType {
  /** The type; {@link RecordMap} says which suit which components. */
  CrdtType value();
}
