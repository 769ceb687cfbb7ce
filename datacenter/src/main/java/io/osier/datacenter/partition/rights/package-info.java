/**
 * The rights of this datacenter's bounded counters: what it may use, what it asks of others and
 * gives them, and the updates that wait meanwhile. Knows neither objects nor streams: what it
 * decides is carried out by those who call it.
 */
@NullMarked
package io.osier.datacenter.partition.rights;

import org.jspecify.annotations.NullMarked;
