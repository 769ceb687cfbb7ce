/**
 * The composition root: {@code DatacenterParts} puts the rooms together, {@code Datacenter} starts
 * them in order and stops them. It makes no decisions of its own.
 */
@NullMarked
package io.osier.datacenter.server;

import org.jspecify.annotations.NullMarked;
