/**
 * Whether an object's updates are held for a round, asked at each commit: the planner of adaptation
 * with what a partition measures for it. Knows neither objects nor streams.
 */
@NullMarked
package io.osier.datacenter.partition.mode;

import org.jspecify.annotations.NullMarked;
