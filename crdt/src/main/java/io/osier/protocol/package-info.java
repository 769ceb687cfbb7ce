/**
 * Defines what clients and datacenters say to each other: requests, replies, transaction ids, and
 * their bytes, which docs/PROTOCOL.md shows. The package lies beside the data types, whose
 * operations, queries and readings it carries, and below the client and the partitions, which both
 * use it.
 */
@NullMarked
package io.osier.protocol;

import org.jspecify.annotations.NullMarked;
