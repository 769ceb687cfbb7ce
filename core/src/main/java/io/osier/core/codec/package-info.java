/**
 * How anything becomes bytes: Kryo with registration required, one explicit serializer a type, a
 * format version in front of every record, and a bound on every length that is read.
 */
@NullMarked
package io.osier.core.codec;

import org.jspecify.annotations.NullMarked;
