/**
 * The numbers that stand for places of walks, such as SCAN's: how many are kept, and for how long.
 * Knows neither commands nor connections.
 */
@NullMarked
package io.osier.datacenter.redis.cursor;

import org.jspecify.annotations.NullMarked;
