/**
 * Encodes and decodes everything: buffers from Kryo, a format version in front of every record, and
 * a bound on every length that is read. It knows small types, such as keys and dots, and no
 * message.
 */
@NullMarked
package io.osier.core.codec;

import org.jspecify.annotations.NullMarked;
