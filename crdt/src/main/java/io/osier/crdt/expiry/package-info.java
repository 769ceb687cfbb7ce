/**
 * Keeps the deadlines of objects and of their parts as replicated data, and the order in which they
 * come due. It decides what is expired at a given time and reads no clock.
 */
@NullMarked
package io.osier.crdt.expiry;

import org.jspecify.annotations.NullMarked;
