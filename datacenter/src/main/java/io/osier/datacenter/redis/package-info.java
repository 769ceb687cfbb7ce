/**
 * The Redis protocol's codec. It decides how bytes become commands and answers become bytes; it
 * knows nothing of what commands do, nor of connections.
 */
@NullMarked
package io.osier.datacenter.redis;

import org.jspecify.annotations.NullMarked;
