/**
 * The words that clients and datacenters speak: requests, replies, transaction ids, and their
 * bytes, which docs/PROTOCOL.md shows. They lie beside the data types, whose operations, queries
 * and readings they carry, and below the client and the partitions, which both use them.
 */
@NullMarked
package io.osier.protocol;

import org.jspecify.annotations.NullMarked;
