/**
 * The composition root: {@code Datacenter} puts the rooms together, starts them in order and stops
 * them. Nothing is decided here.
 */
@NullMarked
package io.osier.datacenter.server;

import org.jspecify.annotations.NullMarked;
