/**
 * The rights of this datacenter's bounded counters: which it may use, which it asks of other
 * datacenters and gives them, and the updates that wait meanwhile. Knows neither objects nor
 * streams: its callers carry out what it decides.
 */
@NullMarked
package io.osier.datacenter.partition.rights;

import org.jspecify.annotations.NullMarked;
