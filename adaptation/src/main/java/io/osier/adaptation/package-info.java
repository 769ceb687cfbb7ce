/**
 * Which objects are hot, and which of them pay as states; which datacenters should hold a keyspace.
 * Pure and single-threaded: it is fed observations with their times and asked for decisions.
 */
@NullMarked
package io.osier.adaptation;

import org.jspecify.annotations.NullMarked;
