/**
 * The Redis protocol: its codec, its connections, and which commands there are. It decides how
 * bytes become commands and answers become bytes; it knows nothing of how a partition does what it
 * is asked for.
 */
@NullMarked
package io.osier.datacenter.redis;

import org.jspecify.annotations.NullMarked;
