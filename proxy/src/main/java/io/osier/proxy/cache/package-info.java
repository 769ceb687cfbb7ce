/**
 * Internal: what a session keeps of what it read. It decides which answer still serves, and follows
 * changes where that is wanted; it does not know how a read is sent. No part of the API.
 */
@NullMarked
package io.osier.proxy.cache;

import org.jspecify.annotations.NullMarked;
