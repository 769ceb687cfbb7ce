/**
 * Decides at each commit whether an object's updates are held for a round: the planner of
 * adaptation, and what a partition measures for it. Knows neither objects nor streams.
 */
@NullMarked
package io.osier.datacenter.partition.mode;

import org.jspecify.annotations.NullMarked;
