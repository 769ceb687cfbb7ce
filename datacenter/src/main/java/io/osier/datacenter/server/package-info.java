/**
 * The composition root: {@code DatacenterParts} puts the rooms together, {@code Datacenter} starts
 * them in order and stops them. Nothing is decided here.
 */
@NullMarked
package io.osier.datacenter.server;

import org.jspecify.annotations.NullMarked;
