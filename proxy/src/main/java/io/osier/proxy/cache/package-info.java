/**
 * Internal: the read cache of a session. It decides which kept answer still serves, and follows
 * changes of keys if the client is set to; it does not know how a read is sent. No part of the API.
 */
@NullMarked
package io.osier.proxy.cache;

import org.jspecify.annotations.NullMarked;
