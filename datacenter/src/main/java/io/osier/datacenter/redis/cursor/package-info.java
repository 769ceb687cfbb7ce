/** The numbers that stand for places of walks, such as SCAN's. */
@NullMarked
package io.osier.datacenter.redis.cursor;

import org.jspecify.annotations.NullMarked;
